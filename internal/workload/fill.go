package workload

import (
	"encoding/binary"
	"slices"

	"penstock/internal/batch"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// fill appends the values of rows from .. from+n-1 to the slices of c. It makes
// no allocation once a recycled column has its size.
type fill func(c *batch.Column, key uint64, from int64, n int)

// grow lengthens s by n values and returns it with its new tail.
func grow[T any](s []T, n int) (all, tail []T) {
	old := len(s)
	s = slices.Grow(s, n)[:old+n]
	return s, s[old:]
}

// rowNumber is the row's own number.
func rowNumber(c *batch.Column, _ uint64, from int64, n int) {
	var tail []int64
	c.Ints, tail = grow(c.Ints, n)
	for i := range tail {
		tail[i] = from + int64(i)
	}
}

// rowNumeric is the row's own number as a decimal of scale 0.
func rowNumeric(c *batch.Column, _ uint64, from int64, n int) {
	var tail []decimal128.Num
	c.Decimals, tail = grow(c.Decimals, n)
	for i := range tail {
		tail[i] = decimal128.FromI64(from + int64(i))
	}
}

// steps is first + step*k, k below count.
func steps(first, step int64, count uint64) fill {
	return func(c *batch.Column, key uint64, from int64, n int) {
		var tail []int64
		c.Ints, tail = grow(c.Ints, n)
		at := counter(key, from)
		for i := range tail {
			tail[i] = first + step*int64(below(mix(at), count))
			at += rowStep
		}
	}
}

// between is lo .. hi, both included.
func between(lo, hi int64) fill { return steps(lo, 1, uint64(hi-lo)+1) }

// numerics is first + k as a decimal of scale 0, k below count.
func numerics(first, count uint64) fill {
	return func(c *batch.Column, key uint64, from int64, n int) {
		var tail []decimal128.Num
		c.Decimals, tail = grow(c.Decimals, n)
		at := counter(key, from)
		for i := range tail {
			tail[i] = decimal128.FromU64(first + below(mix(at), count))
			at += rowStep
		}
	}
}

// millionths is k/1000000, k below a million: the double nearest to it.
func millionths(c *batch.Column, key uint64, from int64, n int) {
	var tail []float64
	c.Floats, tail = grow(c.Floats, n)
	at := counter(key, from)
	for i := range tail {
		tail[i] = float64(below(mix(at), 1_000_000)) / 1_000_000
		at += rowStep
	}
}

// words is lo .. hi lower-case letters.
func words(lo, hi int) fill {
	span := uint64(hi - lo + 1)
	return func(c *batch.Column, key uint64, from int64, n int) {
		var ends []int32
		c.Offsets, ends = grow(c.Offsets, n)
		data := c.Data
		at := counter(key, from)
		for i := range ends {
			length := lo + int(below(mix(at+lengthGap), span))
			start := len(data)
			// Whole words are written and what is too much is cut off, so
			// there must be room for the longest text and a word.
			data = slices.Grow(data, hi+8)
			buf := data[start : start+hi+8]
			for j, w := 0, at; j < length; j, w = j+8, w+golden {
				binary.LittleEndian.PutUint64(buf[j:], letters(mix(w)))
			}
			data = data[:start+length]
			ends[i] = int32(len(data))
			at += rowStep
		}
		c.Data = data
	}
}

// codes is exactly 32 letters and digits.
func codes(c *batch.Column, key uint64, from int64, n int) {
	const length = 32
	end := int32(len(c.Data))
	var ends []int32
	var tail []byte
	c.Offsets, ends = grow(c.Offsets, n)
	c.Data, tail = grow(c.Data, n*length)
	at := counter(key, from)
	for i := range ends {
		buf := tail[i*length : i*length+length]
		w0 := at
		w1 := w0 + golden
		w2 := w1 + golden
		w3 := w2 + golden
		binary.LittleEndian.PutUint64(buf[0:], lettersAndDigits(mix(w0)))
		binary.LittleEndian.PutUint64(buf[8:], lettersAndDigits(mix(w1)))
		binary.LittleEndian.PutUint64(buf[16:], lettersAndDigits(mix(w2)))
		binary.LittleEndian.PutUint64(buf[24:], lettersAndDigits(mix(w3)))
		end += length
		ends[i] = end
		at += rowStep
	}
}
