// Package ranges puts keys into ranges and cuts ranges into chunks, so that
// every row of a table belongs to exactly one chunk.
package ranges

import (
	"fmt"
	"strconv"

	"penstock/internal/schema"
)

// Chunk is a piece of a range: the unit of commit, restart and retry. It holds
// the rows r with Lo <= r < Hi in the split's order (row numbers, blocks, bytes
// or key values); nil is an open end. Where Parts is not 0, only the rows whose
// key hashes to range Part of Parts belong to it.
type Chunk struct {
	ID    int   `json:"id"`    // from 1, ascending in the split's order
	Range int   `json:"range"` // i of N, from 1
	Lo    Edge  `json:"lo,omitempty"`
	Hi    Edge  `json:"hi,omitempty"`
	Part  int   `json:"part,omitempty"`
	Parts int   `json:"parts,omitempty"`
	Rows  int64 `json:"rows,omitempty"` // estimate, 0 = unknown
}

func (c Chunk) String() string {
	s := fmt.Sprintf("chunk %d of range %d", c.ID, c.Range)
	if c.Lo != nil || c.Hi != nil {
		s += fmt.Sprintf(" [%s, %s)", c.Lo, c.Hi)
	}
	return s
}

// Edge is one end of a chunk: the values of the split's columns, typed, so
// that it can be stored as JSON and bound again after a restart.
type Edge []Bound

// Bound is one value of an edge, as its canonical text.
type Bound struct {
	Kind  schema.Kind `json:"kind"`
	Value string      `json:"value"`
}

// IntEdge is an edge of one integer: a row number, a block, a byte offset.
func IntEdge(v int64) Edge { return Edge{{Kind: schema.Int64, Value: strconv.FormatInt(v, 10)}} }

// Int is the integer of an edge made by IntEdge.
func (e Edge) Int() (int64, error) {
	if len(e) != 1 || e[0].Kind != schema.Int64 {
		return 0, fmt.Errorf("edge %v is not one integer", e)
	}
	return strconv.ParseInt(e[0].Value, 10, 64)
}

func (e Edge) String() string {
	switch len(e) {
	case 0:
		return "open"
	case 1:
		return e[0].Value
	}
	s := "("
	for i, b := range e {
		if i > 0 {
			s += ", "
		}
		s += b.Value
	}
	return s + ")"
}
