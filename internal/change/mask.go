package change

// Mask names columns of a table: column c is bit c%8 of byte c/8. Masks of one
// table compare with ==.
type Mask string

// MaskOf is the mask of some of n columns.
func MaskOf(n int, columns ...int) Mask {
	b := make([]byte, (n+7)/8)
	for _, c := range columns {
		b[c/8] |= 1 << (c % 8)
	}
	return Mask(b)
}

// Whole is the mask of all of n columns.
func Whole(n int) Mask {
	b := make([]byte, (n+7)/8)
	for c := range n {
		b[c/8] |= 1 << (c % 8)
	}
	return Mask(b)
}

// Has reports whether the mask names column c.
func (m Mask) Has(c int) bool { return m[c/8]&(1<<(c%8)) != 0 }

// HasAll reports whether the mask names all of the columns.
func (m Mask) HasAll(columns []int) bool {
	for _, c := range columns {
		if !m.Has(c) {
			return false
		}
	}
	return true
}

// Holds reports whether the mask names every column that other names.
func (m Mask) Holds(other Mask) bool {
	for i := range len(m) {
		if other[i]&^m[i] != 0 {
			return false
		}
	}
	return true
}

// Union names the columns of both.
func (m Mask) Union(other Mask) Mask {
	if m.Holds(other) {
		return m
	}
	b := []byte(m)
	for i := range b {
		b[i] |= other[i]
	}
	return Mask(b)
}

// Columns lists the columns that the mask names, ascending.
func (m Mask) Columns() (out []int) {
	for c := range len(m) * 8 {
		if m.Has(c) {
			out = append(out, c)
		}
	}
	return out
}
