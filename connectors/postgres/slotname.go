package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"

	"penstock/internal/change"

	"github.com/zeebo/xxh3"
)

// slotOf is the name of the pipeline's slot.
func (c *SourceConfig) slotOf(pipeline string) string {
	if c.Slot != "" {
		return c.Slot
	}
	return ownName(pipeline)
}

// publicationOf is the name of the pipeline's publication.
func (c *SourceConfig) publicationOf(pipeline string) string {
	if c.Publication != "" {
		return c.Publication
	}
	return ownName(pipeline)
}

// ownName makes a slot's name of a pipeline's. A slot's name takes fewer
// characters; where some had to be replaced or cut, a hash keeps two pipelines
// apart.
func ownName(pipeline string) string {
	const prefix = "penstock_"
	name := prefix + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, pipeline)
	if name == prefix+pipeline && len(name) <= maxName {
		return name
	}
	hash := fmt.Sprintf("_%08x", uint32(xxh3.HashString(pipeline)))
	return name[:min(len(name), maxName-len(hash))] + hash
}

// lsnPosition is the position before every commit record that begins at lsn or
// later, and behind every other one.
func lsnPosition(lsn uint64) change.Position { return binary.BigEndian.AppendUint64(nil, lsn) }

// lsnResume is where START_REPLICATION begins to see every transaction whose
// commit record begins at lsn or later.
func lsnResume(lsn uint64) change.Resume { return binary.BigEndian.AppendUint64(nil, lsn) }

// resumeLSN reads a resume of this connector.
func resumeLSN(r change.Resume) (uint64, error) {
	if len(r) != 8 {
		return 0, fmt.Errorf("resume %x is not of PostgreSQL", []byte(r))
	}
	return binary.BigEndian.Uint64(r), nil
}

// positionLSN is the commit record of a position, or the place that it is.
func positionLSN(p change.Position) (uint64, error) {
	if len(p) != 8 && len(p) != positionBytes {
		return 0, fmt.Errorf("position %s is not of PostgreSQL", p)
	}
	return binary.BigEndian.Uint64(p), nil
}

// formatLSN writes 16/B374D848.
func formatLSN(lsn uint64) string { return fmt.Sprintf("%X/%X", lsn>>32, uint32(lsn)) }
