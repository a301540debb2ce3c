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
// number; a text takes sixteen letters of each word from 0 and its length from
// lengthWord.
const (
	wordsPerRow = 8
	lengthWord  = wordsPerRow - 1
	maxText     = 16 * lengthWord

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

const eachByte = 0x0101010101010101

// fives takes sixteen numbers below 32 of a word, eight at once: the lower five
// bits of each byte, then the upper five. The two bits that they share don't
// show in a text, and a word for sixteen letters halves what a text costs.
func fives(word uint64) (lower, upper uint64) {
	return word & (31 * eachByte), word >> 3 & (31 * eachByte)
}

// letters maps each byte of s, a number below 32, to a letter: 'a' + s mod 26.
func letters(s uint64) uint64 {
	wrapped := (s + (128-26)*eachByte) >> 7 & eachByte // 1 in each byte that is 26 or more
	return s + 'a'*eachByte - 26*wrapped
}

// digits maps each byte of s, a number below 32, to a digit of base 32: 0-9, a-v.
func digits(s uint64) uint64 {
	letter := (s + (128-10)*eachByte) >> 7 & eachByte // 1 in each byte that is 10 or more
	return s + '0'*eachByte + ('a'-'0'-10)*letter
}
