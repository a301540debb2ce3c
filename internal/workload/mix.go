// Package workload makes up tables: every value is a short formula of a seed,
// a table's number, a column and a row number, so that any row can be made
// alone, on any machine, by any program that knows the formula
// (docs/synthetic.md).
package workload

import "math/bits"

// golden is 2^64 divided by the golden ratio, made odd: the step that spreads
// successive counters farthest apart.
const golden = 0x9e3779b97f4a7c15

// wordsPerRow is how many words a column has for each row. Word 0 makes a
// number; a text takes eight letters of each word from 0 and its length from
// lengthWord.
const (
	wordsPerRow = 16
	lengthWord  = wordsPerRow - 1

	wrap             = 1<<64 - 1
	rowStep   uint64 = golden * wordsPerRow & wrap // from a row's word 0 to the next row's
	lengthGap uint64 = golden * lengthWord & wrap  // from a row's word 0 to its lengthWord
)

// mix is the finalizer of splitmix64: a bijection in which every input bit
// flips each output bit about half of the time.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// columnKey is where the words of a column start. A table has at most 256
// columns, so no two columns of a seed share a key.
func columnKey(seed uint64, table, column int) uint64 {
	return mix(mix(seed) + 256*uint64(table) + uint64(column))
}

// counter is the argument of mix for word 0 of a row; word j lies j*golden on.
func counter(key uint64, row int64) uint64 {
	return key + rowStep*uint64(row)
}

// below maps a word to 0 .. n-1: the high half of their product.
func below(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}

// Every second byte of a word, so that a byte times a small number has 16 bits
// of room.
const evenBytes = 0x00ff00ff00ff00ff

// scale maps each byte b of a word to b*n/256: eight numbers below n at once.
func scale(word, n uint64) uint64 {
	even := (word & evenBytes) * n >> 8 & evenBytes
	odd := (word >> 8 & evenBytes) * n &^ evenBytes
	return even | odd
}

const eachByte = 0x0101010101010101

// letters maps a word to eight letters a-z, the first in its lowest byte.
func letters(word uint64) uint64 { return scale(word, 26) + 'a'*eachByte }

// lettersAndDigits maps a word to eight of 0-9 and a-z, the first in its
// lowest byte.
func lettersAndDigits(word uint64) uint64 {
	s := scale(word, 36)
	// Adding 118 carries into the top bit of the bytes that are 10 or more:
	// those go on from '9' to 'a'.
	letter := (s + 118*eachByte) >> 7 & eachByte
	return s + '0'*eachByte + letter*('a'-'0'-10)
}
