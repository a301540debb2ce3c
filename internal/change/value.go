package change

import (
	"bytes"
	"cmp"
	"math"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// compare orders two values of one type, NULL first: the order in which rows lie
// in an index, or one near it.
func compare(a *batch.Column, i int, b *batch.Column, j int) int {
	if x, y := a.IsNull(i), b.IsNull(j); x || y {
		switch {
		case x && y:
			return 0
		case x:
			return -1
		}
		return 1
	}
	switch a.Storage() {
	case schema.StoreInt:
		n := cmp.Compare(a.Ints[i], b.Ints[j])
		if n == 0 && a.Nanos != nil && b.Nanos != nil {
			n = cmp.Compare(a.Nanos[i], b.Nanos[j])
		}
		return n
	case schema.StoreFloat:
		x, y := a.Floats[i], b.Floats[j]
		if math.IsNaN(x) && math.IsNaN(y) {
			return 0 // as databases have it
		}
		return cmp.Compare(x, y)
	case schema.StoreBool:
		x, y := a.Bools.Get(i), b.Bools.Get(j)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case schema.StoreDecimal:
		return a.Decimals[i].Cmp(b.Decimals[j])
	}
	return bytes.Compare(a.Bytes(i), b.Bytes(j))
}

// equal reports whether two values of one type are the same.
func equal(a *batch.Column, i int, b *batch.Column, j int) bool { return compare(a, i, b, j) == 0 }

// Equal reports whether row i of a and row j of b, of one type, are the same.
func Equal(a *batch.Column, i int, b *batch.Column, j int) bool { return equal(a, i, b, j) }
