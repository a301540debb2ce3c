package workload

import (
	"encoding/binary"
	"slices"

	"penstock/internal/batch"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// fill appends the values of rows from .. from+n-1 to the slices of c. It makes
// no allocation once a recycled column has its size.
//
// Formulas with parameters are closures over a plain function that holds the
// loop: within a closure the compiler leaves mix and its like as calls, which
// makes a text three times slower.
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
		fillSteps(c, key, from, n, first, step, count)
	}
}

func fillSteps(c *batch.Column, key uint64, from int64, n int, first, step int64, count uint64) {
	var tail []int64
	c.Ints, tail = grow(c.Ints, n)
	at := counter(key, from)
	for i := range tail {
		tail[i] = first + step*int64(below(mix(at), count))
		at += rowStep
	}
}

// between is lo .. hi, both included.
func between(lo, hi int64) fill { return steps(lo, 1, uint64(hi-lo)+1) }

// numerics is first + k as a decimal of scale 0, k below count.
func numerics(first, count uint64) fill {
	return func(c *batch.Column, key uint64, from int64, n int) {
		fillNumerics(c, key, from, n, first, count)
	}
}

func fillNumerics(c *batch.Column, key uint64, from int64, n int, first, count uint64) {
	var tail []decimal128.Num
	c.Decimals, tail = grow(c.Decimals, n)
	at := counter(key, from)
	for i := range tail {
		tail[i] = decimal128.FromU64(first + below(mix(at), count))
		at += rowStep
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

// texts is lo .. hi lower-case letters, hi at most maxText.
func texts(lo, hi int) fill {
	return func(c *batch.Column, key uint64, from int64, n int) {
		fillTexts(c, key, from, n, lo, hi)
	}
}

func fillTexts(c *batch.Column, key uint64, from int64, n int, lo, hi int) {
	span := uint64(hi - lo + 1)
	var ends []int32
	c.Offsets, ends = grow(c.Offsets, n)
	// Whole words are written, and the next row writes over what is too much:
	// behind the last row there must be room for one.
	end := len(c.Data)
	data := slices.Grow(c.Data, n*hi+16)
	data = data[:cap(data)]
	at := counter(key, from)
	for i := range ends {
		length := lo + int(below(mix(at+lengthGap), span))
		for j, w := end, at; j < end+length; j, w = j+16, w+golden {
			to := data[j : j+16]
			lower, upper := fives(mix(w))
			binary.LittleEndian.PutUint64(to, letters(lower))
			binary.LittleEndian.PutUint64(to[8:], letters(upper))
		}
		end += length
		ends[i] = int32(end)
		at += rowStep
	}
	c.Data = data[:end]
}

// codes is 32 digits of base 32.
func codes(c *batch.Column, key uint64, from int64, n int) {
	const length = 32
	end := int32(len(c.Data))
	var ends []int32
	var tail []byte
	c.Offsets, ends = grow(c.Offsets, n)
	c.Data, tail = grow(c.Data, n*length)
	at := counter(key, from)
	for i := range ends {
		to := tail[i*length : i*length+length]
		a, b := fives(mix(at))
		w1 := at + golden
		x, y := fives(mix(w1))
		binary.LittleEndian.PutUint64(to[0:], digits(a))
		binary.LittleEndian.PutUint64(to[8:], digits(b))
		binary.LittleEndian.PutUint64(to[16:], digits(x))
		binary.LittleEndian.PutUint64(to[24:], digits(y))
		end += length
		ends[i] = end
		at += rowStep
	}
}
