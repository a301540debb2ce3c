package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// laneSettings are of the sessions that apply changes. A plan that knows how
// many values it is given reads the whole table once there are many.
var laneSettings = map[string]string{
	"plan_cache_mode": "force_generic_plan", "synchronous_commit": "off", "idle_in_transaction_session_timeout": "10s",
}

const roleLanes = "lanes"

// lane applies its share of a stream's changes by statements whose parameters
// are arrays: one a table and kind of change.
type lane struct {
	t        *target
	id       int
	role     string
	epoch    int64
	loose    bool
	tables   map[string]*laneTable
	rank     map[string]int
	ranked   bool // a table refers to another
	session  *pgconn.PgConn
	prepared map[string]string // names by statement
	params   [][]byte
	copying  []byte // rows for COPY
}

// laneTable is a table as a lane writes it.
type laneTable struct {
	connectors.StreamTable
	fields []field
}

// OpenApply returns a lane with a session of its own.
func (t *target) OpenApply(ctx context.Context, o connectors.Lane) (connectors.ChangeApplier, error) {
	if o.Mode != "array" {
		return nil, fmt.Errorf("changes = %q is not built yet; changes = \"array\" is", o.Mode)
	}
	l := &lane{t: t, id: o.At.Lane, role: fmt.Sprintf("lane%d", o.At.Lane), epoch: o.At.Epoch, loose: o.Loose, tables: map[string]*laneTable{}, rank: map[string]int{}}
	for _, s := range o.Tables {
		if len(s.Key) == 0 {
			return nil, &connectors.Error{Op: "stream", Table: s.Target.String(), Class: connectors.Schema, Err: fmt.Errorf("it has no key to find a changed row by")}
		}
		l.tables[s.Source.Name.String()] = newLaneTable(s)
		l.rank[s.Source.Name.String()] = s.Rank
		l.ranked = l.ranked || s.Rank != o.Tables[0].Rank
	}
	if err := l.connect(ctx); err != nil {
		return nil, at("open a lane of", t.env.Pipeline, err)
	}
	return l, nil
}

func newLaneTable(s connectors.StreamTable) *laneTable {
	t := &laneTable{StreamTable: s}
	for _, c := range s.Columns {
		t.fields = append(t.fields, field{TargetColumn: c, wire: wireOf(c.Native)})
	}
	return t
}

func (l *lane) connect(ctx context.Context) (err error) {
	l.prepared = map[string]string{}
	l.session, err = l.t.server.connect(ctx, l.role, laneSettings)
	return err
}

func (l *lane) Close() error {
	closeNow(l.session)
	return nil
}

// Reclaim ends the lane's former session at the server, which may still be in
// the midst of a transaction, and raises the row's epoch behind it.
func (l *lane) Reclaim(ctx context.Context) (now connectors.Checkpoint, err error) {
	closeNow(l.session)
	if err := l.connect(ctx); err != nil {
		return now, at("open a lane of", l.t.env.Pipeline, err)
	}
	if _, err := exec(ctx, l.session, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid() AND application_name = $1", l.t.server.name+l.role); err != nil {
		return now, at("claim a lane of", l.t.env.Pipeline, err)
	}
	found := false
	if _, err := query(ctx, l.session, reclaimCheckpoint, func(r [][]byte) (err error) {
		found = true
		now, err = readCheckpoint(r)
		return err
	}, l.t.env.Pipeline, l.id, l.epoch, l.t.epoch.Load()); err != nil {
		return now, at("claim a lane of", l.t.env.Pipeline, err)
	}
	if !found {
		return now, l.t.fenced(fmt.Sprintf("lane %d has another owner", l.id))
	}
	l.epoch = now.Epoch
	return now, nil
}

// Apply does the lane's row and all net changes in one transaction, compares
// the counts, and commits in a round trip of its own: nothing is committed
// before every count is known.
func (l *lane) Apply(ctx context.Context, n *change.Net, from, to connectors.Checkpoint) (done connectors.Applied, err error) {
	began := time.Now()
	groups := l.groups(n)
	for _, s := range []string{"BEGIN", "COMMIT", moveCheckpoint} {
		if err := l.prepare(ctx, s); err != nil {
			return done, at("apply to", l.t.env.Pipeline, err)
		}
	}
	for i := range groups {
		t := l.tables[groups[i].Table.Name.String()]
		if t.copies(n, &groups[i]) {
			continue
		}
		if err := l.prepare(ctx, t.statement(groups[i].Kind, groups[i].Set)); err != nil {
			return done, at("apply to", t.Target.String(), err)
		}
	}
	w := &work{lane: l, net: n, from: from}
	w.send(ctx, "BEGIN", nil, nil, sent{want: -1})
	var move [][]byte
	for _, a := range l.t.moveArgs(from, to) {
		move = append(move, text(a))
	}
	w.send(ctx, moveCheckpoint, move, nil, sent{want: -1})
	for i := range groups {
		if err := w.group(ctx, &groups[i]); err != nil {
			return done, err
		}
	}
	if err := w.settle(ctx); err != nil {
		return done, err
	}
	if err := commit(ctx, l.session); err != nil {
		return done, at("apply to", l.t.env.Pipeline, err)
	}
	w.done.Took = time.Since(began)
	return w.done, nil
}

// groups are the net changes' groups in an order in which they can be done.
// Where no table refers to another, inserts come last: those that go by COPY end
// the round trip of what is before them.
func (l *lane) groups(n *change.Net) []change.Group {
	groups := n.Groups(func(t *schema.Table) int { return l.rank[t.Name.String()] })
	if !l.ranked {
		last := func(g change.Group) int {
			if g.Kind == change.NetInsert {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(groups, func(a, b change.Group) int { return last(a) - last(b) })
	}
	return groups
}

// prepare makes a statement known to the session.
func (l *lane) prepare(ctx context.Context, sql string) error {
	if l.prepared[sql] != "" {
		return nil
	}
	name := fmt.Sprintf("s%d", len(l.prepared)+1)
	if _, err := l.session.Prepare(ctx, name, sql, nil); err != nil {
		return orCancelled(ctx, failure(err, sql))
	}
	l.prepared[sql] = name
	return nil
}

// answers reads a count for each of n statements. Where one failed there are
// fewer.
func (l *lane) answers(ctx context.Context, p *pgconn.Pipeline, n int) (counts []int64, err error) {
	if err = p.Sync(); err == nil {
		for {
			var r any
			if r, err = p.GetResults(); err != nil || r == nil {
				break
			}
			if rr, ok := r.(*pgconn.ResultReader); ok {
				for rr.NextRow() {
				}
				var tag pgconn.CommandTag
				if tag, err = rr.Close(); err != nil {
					break
				}
				counts = append(counts, tag.RowsAffected())
				continue
			}
			break // the end of the round trip
		}
	}
	if cerr := p.Close(); err == nil {
		err = cerr
	}
	if err == nil && len(counts) != n {
		err = fmt.Errorf("the server answered %d statements of %d", len(counts), n)
	}
	if err != nil {
		return counts, orCancelled(ctx, failure(err, ""))
	}
	return counts, nil
}

// encode writes a group's parameters: a column each, of which the first ones are
// the key.
func (l *lane) encode(n *change.Net, t *laneTable, g *change.Group) error {
	columns := t.parameters(g.Kind, g.Set)
	for len(l.params) < len(columns) {
		l.params = append(l.params, nil)
	}
	l.params = l.params[:len(columns)]
	for i, c := range columns {
		value := func(row int32) (*batch.Column, int) { return n.Value(row, c) }
		if slices.Contains(t.Key, c) { // also where no image sets it
			value = func(row int32) (*batch.Column, int) {
				cols, at := n.Key(row)
				return cols[c], at
			}
		}
		p, err := t.fields[c].appendValues(l.params[i][:0], g.Rows, value)
		if err != nil {
			return err
		}
		l.params[i] = p
	}
	return nil
}

// appendValues is appendArray for values that lie in many columns.
func (f *field) appendValues(dst []byte, rows []int32, value func(row int32) (*batch.Column, int)) ([]byte, error) {
	dst = binary.BigEndian.AppendUint32(dst, 1)
	dst = binary.BigEndian.AppendUint32(dst, 1) // there may be NULLs
	dst = binary.BigEndian.AppendUint32(dst, f.wire.element().oid)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(rows)))
	dst = binary.BigEndian.AppendUint32(dst, 1)
	for _, row := range rows {
		c, i := value(row)
		if c == nil {
			return dst, fmt.Errorf("column %s: the change does not hold it", f.Name)
		}
		var err error
		if dst, err = f.appendValue(dst, c, i); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendValue writes one value with its length before it.
func (f *field) appendValue(dst []byte, c *batch.Column, i int) ([]byte, error) {
	f.col = c
	f.one[0] = int32(i)
	if err := f.check(c.Len(), f.one[:]); err != nil {
		return dst, err
	}
	room := widths[f.wire.form]
	if c.Storage() == schema.StoreBytes {
		room += 2 * len(c.Bytes(i))
	}
	dst = slices.Grow(dst, room)
	m, err := f.put(dst[len(dst):cap(dst)], i)
	return dst[:len(dst)+m], err
}

// mismatch finds the key that a count tells of: the first one, in the order of
// the source's commits, that was not there.
func (l *lane) mismatch(ctx context.Context, n *change.Net, s sent, have int64) error {
	t := l.tables[s.group.Table.Name.String()]
	e := &connectors.Error{Op: "apply to", Table: t.Target.String(), Class: connectors.Mismatch,
		Err:  fmt.Errorf("%d rows were to %s, %d did", s.want, s.group.Kind, have),
		Hint: `The target is not what the source's log says: verify the table. collisions = "repair" goes on.`}
	keys := change.Group{Table: s.group.Table, Key: s.group.Key, Kind: change.NetDelete, Rows: s.group.Rows}
	if err := l.encode(n, t, &keys); err != nil {
		return e
	}
	first := int32(-1)
	r := l.session.ExecParams(ctx, t.missing(), l.params, nil, binaryFormat, nil)
	for r.NextRow() {
		row := s.group.Rows[number(r.Values()[0])-1]
		if first < 0 || n.Last(row).Compare(n.Last(first)) < 0 {
			first = row
		}
	}
	if _, err := r.Close(); err != nil || first < 0 {
		return e
	}
	cols, i := n.Key(first)
	var key []string
	for _, k := range t.Key {
		key = append(key, fmt.Sprintf("%s = %s", t.Columns[k].Name, batch.AppendText(nil, cols[k], i)))
	}
	e.Position = n.Last(first)
	e.Err = fmt.Errorf("%s of a row that is not there: %s", s.group.Kind, strings.Join(key, ", "))
	return e
}
