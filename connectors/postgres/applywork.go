package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/change"

	"github.com/jackc/pgx/v5/pgconn"
)

// work is one transaction of a lane on its way. Statements gather in a round
// trip until settle; a COPY has one of its own. A method that fails has rolled
// the transaction back.
type work struct {
	*lane
	net  *change.Net
	from connectors.Checkpoint
	p    *pgconn.Pipeline // nil: nothing is on its way
	sent []sent           // in p
	done connectors.Applied
}

// sent is a statement on its way.
type sent struct {
	group *change.Group // nil: of the transaction itself
	want  int64         // rows, -1 = any
}

// copyRows is from how many rows on inserts go by COPY: below, its round trip
// costs more than it saves.
const copyRows = 100

// copies reports whether a group goes by COPY: inserts that find no row of
// their key, of a table whose types have a binary form.
func (t *laneTable) copies(n *change.Net, g *change.Group) bool {
	return g.Kind == change.NetInsert && !n.Loose && len(g.Rows) >= copyRows &&
		!slices.ContainsFunc(t.fields, func(f field) bool { return f.wire.form == formNone })
}

// send adds a prepared statement to the round trip.
func (w *work) send(ctx context.Context, sql string, params [][]byte, formats []int16, s sent) {
	if w.p == nil {
		w.p = w.session.StartPipeline(ctx)
	}
	w.p.SendQueryPrepared(w.prepared[sql], params, formats, nil)
	w.sent = append(w.sent, s)
}

// group sends a group of net changes.
func (w *work) group(ctx context.Context, g *change.Group) error {
	t := w.tables[g.Table.Name.String()]
	w.done.Net += int64(len(g.Rows))
	if t.copies(w.net, g) {
		return w.copy(ctx, t, g)
	}
	if err := w.encode(w.net, t, g); err != nil {
		closeNow(w.session) // half a round trip is on its way
		return at("apply to", t.Target.String(), err)
	}
	s := sent{group: g, want: int64(len(g.Rows))}
	if w.net.Loose || g.Kind == change.NetDeleteIf {
		s.want = -1
	}
	w.send(ctx, t.statement(g.Kind, g.Set), w.params, binaryFormat, s)
	return nil
}

// settle waits for what is on its way and compares its counts.
func (w *work) settle(ctx context.Context) error {
	if w.p == nil {
		return nil
	}
	counts, err := w.answers(ctx, w.p, len(w.sent))
	all := w.sent
	w.p, w.sent = nil, nil
	if err != nil {
		rollback(w.session)
		return w.failed(ctx, all, counts, err)
	}
	for i, s := range all {
		if s.group == nil {
			continue
		}
		w.done.Rows += counts[i]
		if s.want >= 0 && counts[i] != s.want {
			rollback(w.session) // what was there before this lane's changes is what counts
			return w.mismatch(ctx, w.net, s, counts[i])
		}
		if s.want < 0 {
			w.done.Repaired += int64(len(s.group.Rows)) - counts[i]
		}
	}
	return nil
}

// failed names what failed: the lane's row, or a table.
func (w *work) failed(ctx context.Context, all []sent, counts []int64, err error) error {
	if len(counts) >= len(all) {
		return at("apply to", w.t.env.Pipeline, err)
	}
	switch g := all[len(counts)].group; {
	case g != nil:
		return at("apply to", w.tables[g.Table.Name.String()].Target.String(), err)
	case isState(err, divisionByZero):
		return w.t.notMoved(ctx, w.from)
	}
	return at("apply to", w.t.env.Pipeline, err)
}

// copy inserts a group's rows by COPY, behind all that was sent before it.
func (w *work) copy(ctx context.Context, t *laneTable, g *change.Group) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	columns := t.parameters(g.Kind, g.Set)
	rows, err := w.appendRows(append(w.copying[:0], copyHeader...), t, g, columns)
	w.copying = rows
	if err == nil {
		var tag pgconn.CommandTag
		tag, err = w.session.CopyFrom(ctx, bytes.NewReader(rows), t.copyStatement(columns))
		if err == nil {
			w.done.Rows += tag.RowsAffected()
			err = counted(tag.RowsAffected(), int64(len(g.Rows)))
		} else {
			err = orCancelled(ctx, failure(err, ""))
		}
	}
	if err == nil {
		return nil
	}
	if w.session.IsClosed() {
		w.copying = nil // pgconn's goroutine may go on reading it for a moment
	}
	rollback(w.session)
	return at("apply to", t.Target.String(), err)
}

// appendRows writes a group's rows as COPY takes them.
func (w *work) appendRows(dst []byte, t *laneTable, g *change.Group, columns []int) ([]byte, error) {
	for _, row := range g.Rows {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(columns)))
		for _, k := range columns {
			c, i := w.net.Value(row, k)
			if c == nil {
				return dst, fmt.Errorf("column %s: the change does not hold it", t.fields[k].Name)
			}
			var err error
			if dst, err = t.fields[k].appendValue(dst, c, i); err != nil {
				return dst, err
			}
		}
	}
	return binary.BigEndian.AppendUint16(dst, 0xffff), nil // no more rows
}

// copyStatement is what takes rows of these columns.
func (t *laneTable) copyStatement(columns []int) string {
	var names []string
	for _, c := range columns {
		names = append(names, quote(t.Columns[c].Name))
	}
	return fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", quoteName(t.Target), strings.Join(names, ", "))
}
