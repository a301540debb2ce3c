// Package change holds changes in commit order, the positions they stand at
// and the transactions they came in.
package change

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// Position is a change's place in the source's total order: commit position,
// transaction, ordinal within the transaction, encoded by the connector so
// that bytes.Compare orders positions. It is never a bare LSN or SCN: several
// changes share one of those. nil stands before every change.
type Position []byte

// Compare orders positions.
func (p Position) Compare(q Position) int { return bytes.Compare(p, q) }

func (p Position) String() string { return hex.EncodeToString(p) }

// MarshalText gives hexadecimal, the form in plans, markers and reports.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (p *Position) UnmarshalText(b []byte) error {
	q := make([]byte, hex.DecodedLen(len(b)))
	if _, err := hex.Decode(q, b); err != nil {
		return fmt.Errorf("position %q is not hexadecimal: %w", b, err)
	}
	*p = q
	return nil
}

// Resume is where reading must begin to see every change after a position:
// opaque to all but the connector that made it.
type Resume []byte
