package schema

// Unlimited is the type of t's kind without its limits: what holds a value that
// a database took although the column's declaration says otherwise. Values equal
// in t are equal in it. A float of 32 bits stays one: its text, 0.1, is another
// value in 64.
func (t Type) Unlimited() Type {
	switch t.Kind {
	case Int16, Int32:
		return Of(Int64)
	case Time, Timestamp, TimestampTZ:
		return Type{Kind: t.Kind, Precision: 9}
	}
	return Type{Kind: t.Kind}
}
