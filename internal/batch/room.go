package batch

// room is how many values of each kind a column has had in one batch at most: a
// new batch is made with as much, for slices that grow leave what they grew out
// of to the garbage collector, and have a quarter too much at the end.
type room struct{ ints, floats, bools, decimals, offsets, data, nanos int }

func (r *room) learn(c *Column) {
	r.ints, r.floats, r.bools = max(r.ints, len(c.Ints)), max(r.floats, len(c.Floats)), max(r.bools, len(c.Bools))
	r.decimals, r.offsets, r.data = max(r.decimals, len(c.Decimals)), max(r.offsets, len(c.Offsets)), max(r.data, len(c.Data))
	r.nanos = max(r.nanos, len(c.Nanos))
}

// make gives an empty column the room, of text no more than a batch should have:
// one with a huge value is no measure for the others.
func (r *room) make(c *Column, limits Limits) {
	c.Ints, c.Floats, c.Bools = roomFor(c.Ints, r.ints), roomFor(c.Floats, r.floats), roomFor(c.Bools, r.bools)
	c.Decimals, c.Offsets, c.Nanos = roomFor(c.Decimals, r.decimals), roomFor(c.Offsets, r.offsets), roomFor(c.Nanos, r.nanos)
	// Texts of as many rows differ in length.
	c.Data = roomFor(c.Data, min(r.data+r.data/16, limits.Bytes+limits.Bytes/16))
}

func roomFor[S ~[]E, E any](s S, n int) S {
	if n <= cap(s) {
		return s
	}
	return append(make(S, 0, n), s...)
}

// fitting lets go of memory that a huge value has left behind: kept, every
// batch of the pool would come to hold as much.
func (c *Column) fitting(limits Limits) {
	if cap(c.Data) > 2*limits.Bytes {
		c.Data = nil
	}
}
