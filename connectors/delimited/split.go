package delimited

import (
	"context"
	"fmt"
	"strconv"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// place is where a record begins: an edge between chunks. The line is carried
// along so that a bad row of any chunk can be named without reading what lies
// before it.
type place struct {
	file int   // of the table, from 0
	off  int64 // bytes
	line int64 // from 1
}

// edge is a place as it is stored: file (from 1), byte, line.
func (p place) edge() ranges.Edge {
	e := ranges.Edge{}
	for _, v := range []int64{int64(p.file) + 1, p.off, p.line} {
		e = append(e, ranges.Bound{Kind: schema.Int64, Value: strconv.FormatInt(v, 10)})
	}
	return e
}

func placeOf(e ranges.Edge, files []file) (place, error) {
	var v [3]int64
	bad := len(e) != len(v)
	for i := 0; i < len(v) && !bad; i++ {
		var err error
		v[i], err = strconv.ParseInt(e[i].Value, 10, 64)
		bad = err != nil
	}
	if bad || v[0] < 1 || v[0] > int64(len(files)) || v[1] < 0 || v[1] > files[v[0]-1].size || v[2] < 1 {
		return place{}, &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("edge %s is no place in the files", e), Hint: "The stored chunks are not this source's: load the table anew with --reload."}
	}
	return place{file: int(v[0]) - 1, off: v[1], line: v[2]}, nil
}

// split cuts a table's files at the ends of records. Whether a line ends a
// record or stands in a quoted value only what lies before it can tell, so the
// files are looked through from the beginning, at several times the speed of
// reading their values.
func (l *layout) split(ctx context.Context, f *filed, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	var total int64
	for _, f := range f.files {
		total += f.size
	}
	switch {
	case s.Kind == connectors.SplitNone:
		c := ranges.Chunk{ID: 1, Range: 1}
		if t.Stats != nil {
			c.Rows = t.Stats.Rows
		}
		return []ranges.Chunk{c}, nil
	case s.Kind != connectors.SplitBlocks || t.Storage == storageStream:
		return nil, &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("files are split by blocks or none, compressed ones and those in utf-16 by none; not %q", s.Kind), Hint: "Plan the spec again."}
	}
	c := cutter{bytes: max(total/(int64(max(s.Count, 1))*piecesOf), 1), rows: max(s.ChunkRows/piecesOf, 1)}
	w := &window{}
	for i := range f.files {
		if err := l.walk(ctx, f.files[i], i, w, &c); err != nil {
			return nil, err
		}
	}
	return c.chunks(max(s.Count, 1), max(s.ChunkRows, 1)), nil
}

// piecesOf is how many pieces a range, and a chunk, is put together from: how
// rows lie in the files is known only at the end, and pieces make them even to
// a few hundredths.
const piecesOf = 32

// piece is a stretch of records.
type piece struct {
	at          place
	rows, bytes int64
}

// cutter collects the pieces of a table: each of so many rows, or so many bytes
// and what its last record has more.
type cutter struct {
	rows, bytes int64 // of a piece
	pieces      []piece
}

// record is told of each record before it is passed.
func (c *cutter) record(at place, size int64, blank bool) {
	n := len(c.pieces)
	if n == 0 || c.pieces[n-1].rows >= c.rows || c.pieces[n-1].bytes >= c.bytes {
		c.pieces = append(c.pieces, piece{at: at})
		n++
	}
	c.pieces[n-1].bytes += size
	if !blank {
		c.pieces[n-1].rows++
	}
}

// chunks deals the pieces to ranges of about the same bytes, and each range's
// to chunks of about the same rows.
func (c *cutter) chunks(count int, rows int64) []ranges.Chunk {
	var total, before int64
	for _, p := range c.pieces {
		total += p.bytes
	}
	share := func() int { return int(float64(before) / float64(total) * float64(count)) }
	var out []ranges.Chunk
	for i, number := 0, 1; i < len(c.pieces); number++ {
		// The range's pieces begin where its share of the bytes lies.
		k, sum, its := i, int64(0), share()
		for k < len(c.pieces) && share() == its {
			sum += c.pieces[k].rows
			before += c.pieces[k].bytes
			k++
		}
		each := (sum + rows - 1) / rows
		each = (sum + max(each, 1) - 1) / max(each, 1) // rows of a chunk
		for first := true; i < k; i++ {
			p := c.pieces[i]
			if last := len(out) - 1; first || out[last].Rows+p.rows > each {
				k := ranges.Chunk{ID: len(out) + 1, Range: number}
				if last >= 0 {
					k.Lo = p.at.edge()
					out[last].Hi = k.Lo
				}
				out = append(out, k)
			}
			first = false
			out[len(out)-1].Rows += p.rows
		}
	}
	if out == nil {
		out = []ranges.Chunk{{ID: 1, Range: 1}}
	}
	return out
}

// walk looks a file through.
func (l *layout) walk(ctx context.Context, f file, index int, w *window, c *cutter) error {
	in, err := l.open(f, 0, -1, w)
	if err != nil {
		return err
	}
	defer in.close()
	// A byte order mark is left out of the window and counts all the same.
	p := place{file: index, off: int64(w.from), line: 1}
	head, first := l.Header, true
	for n := 0; ; n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		data := w.data()
		end, lines, ok := 0, 0, false
		if len(data) > 0 {
			end, lines, ok = l.skip(data, w.eof)
		}
		if !ok {
			if w.eof {
				return in.unchanged()
			}
			if err := w.more(); err != nil {
				return fmt.Errorf("%s:%d: %w", f.name, p.line, err)
			}
			continue
		}
		if head {
			head = false
		} else {
			at := p
			if first { // a chunk that begins with the file reads its header too
				at = place{file: index, line: 1}
			}
			first = false
			c.record(at, int64(end), end == 1 || end == 2 && data[0] == '\r')
		}
		p.off += int64(end)
		p.line += int64(lines)
		w.from += end
	}
}
