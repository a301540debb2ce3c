package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/change"
	"penstock/internal/event"
	"penstock/internal/schema"
	"penstock/runtime/stream"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/jackc/pgx/v5/pgconn"
)

// A made-up log of two tables: k is the key, n counts changes, d, s and
// at are set by some updates and not by others.
var streamed = []*schema.Table{streamedTable("Orders"), streamedTable("lines")}

func streamedTable(name string) *schema.Table {
	return &schema.Table{Name: schema.Name{Name: name}, Columns: []schema.Column{
		{Name: "n", Native: "bigint", Type: schema.Of(schema.Int64)},
		{Name: "k", Native: "bigint", Type: schema.Of(schema.Int64)},
		{Name: "d", Native: "numeric(38,2)", Type: schema.Type{Kind: schema.Decimal, Precision: 38, Scale: 2}, Nullable: true},
		{Name: "a text", Native: "text", Type: schema.Of(schema.Text), Nullable: true},
		{Name: "at", Native: "timestamptz", Type: schema.Type{Kind: schema.TimestampTZ, Precision: 6}, Nullable: true},
	}}
}

type streamedRow struct {
	n, d int64
	s    string // "" = NULL
	at   int64
}

type streamedKey struct {
	table int
	k     int64
}

type streamedChange struct {
	op     change.Op
	table  int
	old, k int64
	row    streamedRow
	set    change.Mask
}

// madeUpLog is transactions, and what they leave behind.
type madeUpLog struct {
	log   [][]streamedChange
	state map[streamedKey]streamedRow
	n     int64 // changes so far, and the n of the last one's row
}

func makeLog(r *rand.Rand, transactions, keys int) *madeUpLog {
	l := &madeUpLog{state: map[streamedKey]streamedRow{}}
	whole := change.Whole(5)
	for range transactions {
		var t []streamedChange
		for range 1 + r.IntN(6) {
			p := streamedKey{r.IntN(2), int64(r.IntN(keys))}
			old, there := l.state[p]
			l.n++
			now := streamedRow{n: l.n, d: r.Int64N(1e9) - 5e8, s: []string{"", "x", "a 'quoted' \\ text", strings.Repeat("long", 50)}[r.IntN(4)], at: r.Int64N(4e15)}
			switch x := r.IntN(100); {
			case !there:
				t = append(t, streamedChange{op: change.Insert, table: p.table, k: p.k, row: now, set: whole})
				l.state[p] = now
			case x < 2: // the rows from k on move up by one, each to a key that is taken
				last := p.k
				for ; ; last++ {
					if _, ok := l.state[streamedKey{p.table, last}]; !ok {
						break
					}
				}
				moved := map[streamedKey]streamedRow{}
				for k := p.k; k < last; k++ {
					m := l.state[streamedKey{p.table, k}]
					l.n++
					m.n = l.n
					t = append(t, streamedChange{op: change.Update, table: p.table, old: k, k: k + 1, row: m, set: change.MaskOf(5, 0, 1)})
					moved[streamedKey{p.table, k + 1}] = m
				}
				delete(l.state, p)
				maps.Copy(l.state, moved)
			case x == 2 && r.IntN(10) == 0:
				t = append(t, streamedChange{op: change.Truncate, table: p.table})
				maps.DeleteFunc(l.state, func(q streamedKey, _ streamedRow) bool { return q.table == p.table })
			case x < 75:
				set := whole
				if r.IntN(2) == 0 {
					set, now.s, now.at = change.MaskOf(5, 0, 1, 2), old.s, old.at
				}
				t = append(t, streamedChange{op: change.Update, table: p.table, old: p.k, k: p.k, row: now, set: set})
				l.state[p] = now
			default:
				t = append(t, streamedChange{op: change.Delete, table: p.table, old: p.k})
				delete(l.state, p)
			}
		}
		l.log = append(l.log, t)
	}
	return l
}

func (l *madeUpLog) changes() (n int64) {
	for _, t := range l.log {
		n += int64(len(t))
	}
	return n
}

func placeIn(transaction, ordinal int) change.Position {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(transaction)), uint32(ordinal))
}

// logReader reads the log.
type logReader struct {
	log  *madeUpLog
	next int
	pool change.Pool
}

func (l *madeUpLog) open(_ context.Context, at connectors.Checkpoint) (connectors.ChangeReader, error) {
	return &logReader{log: l, next: int(binary.BigEndian.Uint32(at.Resume))}, nil
}

func (*logReader) Source() string                               { return "made up" }
func (*logReader) Confirm(context.Context, change.Resume) error { return nil }
func (*logReader) Close() error                                 { return nil }

func (r *logReader) Read(ctx context.Context) (*change.Batch, error) {
	if r.next == len(r.log.log) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond): // nothing new comes; whoever asks again waits a little
		}
	}
	b := r.pool.Batch()
	for n := 0; n < 40 && r.next < len(r.log.log); n++ {
		t := r.log.log[r.next]
		for i, e := range t {
			s := b.SetOf(streamed[e.table], nil)
			c := change.Change{Op: e.op, Set: s, Before: -1, After: -1, Position: placeIn(r.next+1, i+1), End: i == len(t)-1, Commit: int64(r.next)}
			if e.op == change.Delete || e.op == change.Update && e.old != e.k {
				c.Before = appendImage(&b.Sets[s].Before, e.old, streamedRow{}, change.MaskOf(5, 1))
			}
			if e.op == change.Insert || e.op == change.Update {
				c.After = appendImage(&b.Sets[s].After, e.k, e.row, e.set)
			}
			b.Changes = append(b.Changes, c)
		}
		r.next++
	}
	b.Resume = change.Resume(placeIn(r.next, 0))
	if r.next == len(r.log.log) {
		b.Through = placeIn(r.next+1, 0)
	}
	return b, nil
}

func appendImage(m *change.Image, k int64, r streamedRow, set change.Mask) int32 {
	m.Columns[0].AppendInt(r.n)
	m.Columns[1].AppendInt(k)
	m.Columns[2].AppendDecimal(decimal128.FromI64(r.d))
	if r.s == "" {
		m.Columns[3].AppendNull()
	} else {
		m.Columns[3].AppendString(r.s)
	}
	m.Columns[4].AppendInt(r.at)
	return m.Add(set)
}

// streamTarget is a claimed target with its tables, each of which tells an audit
// of every update: old and new n.
func streamTarget(t *testing.T, lanes int) (*postgrestest.Database, *target, stream.Options) {
	t.Helper()
	d := postgrestest.Shared(t).Database(t)
	opened, err := openTarget(t.Context(), configOf(d), connectors.Env{Pipeline: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	tg := opened.(*target)
	if _, err := tg.Claim(t.Context(), connectors.Owner{Run: "test"}); err != nil {
		t.Fatal(err)
	}
	c := d.Conn(t)
	defer closeNow(c)
	sql := "CREATE TABLE audit (was bigint, became bigint); CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (old.n, new.n); RETURN new; END $$;"
	o := stream.Options{
		Pipeline: "s", Target: tg, Mode: "array", Rows: 50, Linger: 5 * time.Millisecond, Memory: 1 << 20, Idle: 50 * time.Millisecond, Events: event.Discard,
		Route: stream.Route{Order: stream.ByKey, Lanes: lanes},
		Retry: func(ctx context.Context, n int, err error) error {
			if n > 200 {
				return err
			}
			select {
			case <-time.After(5 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
	for _, s := range streamed {
		var columns []string
		st := connectors.StreamTable{Source: s, Target: s.Name, Key: []int{1}}
		for _, col := range s.Columns {
			null := " NOT NULL"
			if col.Nullable {
				null = ""
			}
			columns = append(columns, quote(col.Name)+" "+col.Native+null)
			st.Columns = append(st.Columns, connectors.TargetColumn{Name: col.Name, Native: col.Native, Type: col.Type, Nullable: col.Nullable})
		}
		o.Tables = append(o.Tables, st)
		sql += fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (k)); CREATE TRIGGER tell AFTER UPDATE ON %[1]s FOR EACH ROW EXECUTE FUNCTION tell();", quoteName(s.Name), strings.Join(columns, ", "))
	}
	if _, err := run(t.Context(), c, sql); err != nil {
		t.Fatal(err)
	}
	if o.At, err = tg.Checkpoints(t.Context(), lanes, connectors.Checkpoint{Position: placeIn(0, 0), Resume: change.Resume(placeIn(0, 0))}); err != nil {
		t.Fatal(err)
	}
	return d, tg, o
}

// compareStreamed compares the tables with what the log leaves, and the counts.
func compareStreamed(t *testing.T, d *postgrestest.Database, l *madeUpLog) {
	t.Helper()
	c := d.Conn(t)
	defer closeNow(c)
	got, want := []string{}, []string{}
	for i, s := range streamed {
		if _, err := query(t.Context(), c, `SELECT k, n, (d * 100)::bigint, coalesce("a text", ''), (extract(epoch FROM at) * 1000000)::bigint FROM `+quoteName(s.Name), func(r [][]byte) error {
			got = append(got, fmt.Sprintf("%d|%s", i, strings.Join(asStrings(r), "|")))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for k, r := range l.state {
		want = append(want, fmt.Sprintf("%d|%d|%d|%d|%s|%d", k.table, k.k, r.n, r.d, r.s, r.at))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the target has %d rows\n%.600s\nwant %d\n%.600s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	var back, changes int64
	for sql, into := range map[string]*int64{"SELECT count(*) FROM audit WHERE became <= was": &back, "SELECT sum(changes) FROM penstock_checkpoint": &changes} {
		if _, err := query(t.Context(), c, sql, func(r [][]byte) error { *into = number(r[0]); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if back != 0 {
		t.Errorf("%d updates went back", back)
	}
	if want := l.changes(); changes != want {
		t.Errorf("%d changes are counted, the log has %d", changes, want)
	}
}

func asStrings(r [][]byte) (out []string) {
	for _, b := range r {
		out = append(out, string(b))
	}
	return out
}

func TestAStreamLeavesWhatItsSourceHas(t *testing.T) {
	for _, order := range []stream.Order{stream.ByKey, stream.ByTable, stream.ByCommit} {
		t.Run(string(order), func(t *testing.T) {
			l := makeLog(rand.New(rand.NewPCG(1, uint64(len(order)))), 250, 60)
			d, _, o := streamTarget(t, 3)
			o.Open, o.Route.Order, o.Until = l.open, order, placeIn(len(l.log)+1, 0)
			if _, err := stream.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			compareStreamed(t, d, l)
		})
	}
}

// Batches that are large enough for COPY, with all other kinds of change in them.
func TestLargeBatchesLeaveWhatTheirSourceHas(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(3, 3)), 1500, 3000)
	d, _, o := streamTarget(t, 2)
	o.Open, o.Until, o.Rows, o.Linger = l.open, placeIn(len(l.log)+1, 0), 20*copyRows, time.Second
	if _, err := stream.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	compareStreamed(t, d, l)
}

// Sessions are ended at the server, whatever they are doing, all the time.
func TestAStreamWhoseSessionsEndAppliesEachChangeOnce(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(7, 7)), 500, 80)
	d, _, o := streamTarget(t, 4)
	o.Open, o.Until = l.open, placeIn(len(l.log)+1, 0)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		n := 0
		defer func() { ended <- n }()
		c := d.Conn(t)
		defer closeNow(c)
		for ctx.Err() == nil {
			_, _ = query(ctx, c, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^penstock/s/lane' AND random() < 0.3`, func([][]byte) error { n++; return nil })
			select {
			case <-ctx.Done():
			case <-time.After(15 * time.Millisecond): // the pace of what breaks, not a wait for something
			}
		}
	}()
	_, err := stream.Run(t.Context(), o)
	stop()
	if n := <-ended; n < 5 {
		t.Errorf("only %d sessions were ended: the test shows little", n)
	}
	if err != nil {
		t.Fatal(err)
	}
	compareStreamed(t, d, l)
}

func TestARowThatIsGoneStopsTheStreamAndIsNamed(t *testing.T) {
	l := &madeUpLog{log: [][]streamedChange{
		{{op: change.Insert, k: 1, row: streamedRow{n: 1}, set: change.Whole(5)}, {op: change.Insert, k: 2, row: streamedRow{n: 1}, set: change.Whole(5)}},
	}}
	d, tg, o := streamTarget(t, 1)
	o.Open, o.Until = l.open, placeIn(2, 0)
	if _, err := stream.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	c := d.Conn(t)
	defer closeNow(c)
	if _, err := run(t.Context(), c, `DELETE FROM "Orders" WHERE k = 2`); err != nil {
		t.Fatal(err)
	}
	l.log = append(l.log, []streamedChange{
		{op: change.Update, old: 1, k: 1, row: streamedRow{n: 2}, set: change.Whole(5)},
		{op: change.Update, old: 2, k: 2, row: streamedRow{n: 2}, set: change.Whole(5)},
	})
	o.Until = placeIn(3, 0)
	for range 2 { // the same when it is run again
		var err error
		if o.At, err = tg.Checkpoints(t.Context(), 1, connectors.Checkpoint{}); err != nil {
			t.Fatal(err)
		}
		_, err = stream.Run(t.Context(), o)
		var e *connectors.Error
		if !errors.As(err, &e) || e.Class != connectors.Mismatch || !strings.Contains(err.Error(), "k = 2") {
			t.Fatalf("%v, want a count mismatch that names k = 2", err)
		}
	}
	if _, err := query(t.Context(), c, `SELECT n FROM "Orders" WHERE k = 1`, func(r [][]byte) error {
		if number(r[0]) != 1 {
			t.Errorf("row 1 is at change %s: the batch was applied in part", r[0])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Many inserts go by COPY, in a round trip of their own inside the transaction:
// what one of them finds in its way takes the others back, and is named.
func TestInsertsByCopyStandOrFallWithTheirTransaction(t *testing.T) {
	l := &madeUpLog{state: map[streamedKey]streamedRow{}}
	for k := range int64(3 * copyRows) {
		p, row := streamedKey{int(k % 2), k}, streamedRow{n: 1, d: k, at: k, s: []string{"", "x", "a 'quoted' \\ text"}[k%3]}
		l.log = append(l.log, []streamedChange{{op: change.Insert, table: p.table, k: k, row: row, set: change.Whole(5)}})
		l.state[p] = row
	}
	// One of the second table is there already.
	d, _, o := streamTarget(t, 1)
	o.Open, o.Until, o.Rows, o.Linger = l.open, placeIn(len(l.log)+1, 0), 3*copyRows, time.Minute // one transaction
	c := d.Conn(t)
	defer closeNow(c)
	if _, err := run(t.Context(), c, `INSERT INTO lines (k, n) VALUES (101, 7)`); err != nil {
		t.Fatal(err)
	}
	_, err := stream.Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "lines") || !strings.Contains(err.Error(), "101") {
		t.Fatalf("the stream ended with %v, want an error that names lines and 101", err)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !strings.HasPrefix(pg.Where, "COPY lines, line ") {
		t.Errorf("%v is not of a COPY: the test shows nothing", err)
	}
	rows, changes := -1, -1
	if _, err := query(t.Context(), c, `SELECT (SELECT count(*) FROM "Orders"), (SELECT sum(changes) FROM penstock_checkpoint)`, func(r [][]byte) error {
		rows, changes = int(number(r[0])), int(number(r[1]))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if rows != 0 || changes != 0 {
		t.Errorf("%d rows and %d changes are there of a transaction that failed", rows, changes)
	}
	if _, err := run(t.Context(), c, `DELETE FROM lines`); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	compareStreamed(t, d, l)
}

func TestAStreamThatWasTakenOverIsFenced(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(3, 3)), 50, 20)
	_, tg, o := streamTarget(t, 2)
	o.Open, o.Until = l.open, placeIn(len(l.log)+1, 0)
	if _, err := tg.Checkpoints(t.Context(), 2, connectors.Checkpoint{}); err != nil { // another claim of the lanes
		t.Fatal(err)
	}
	if _, err := stream.Run(t.Context(), o); connectors.ClassOf(err) != connectors.Fenced {
		t.Errorf("%v, want fenced", err)
	}
}

func TestOtherLanesNeedACommonPosition(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(4, 4)), 50, 20)
	d, tg, o := streamTarget(t, 3)
	o.Open, o.Until = l.open, placeIn(len(l.log)+1, 0)
	if _, err := stream.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// Drained: all lanes stand at the end.
	at, err := tg.Checkpoints(t.Context(), 5, connectors.Checkpoint{})
	if err != nil || len(at) != 5 {
		t.Fatalf("%d lanes, %v; want 5", len(at), err)
	}
	c := d.Conn(t)
	defer closeNow(c)
	if _, err := run(t.Context(), c, `UPDATE penstock_checkpoint SET position = '\x00' WHERE lane = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.Checkpoints(t.Context(), 3, connectors.Checkpoint{}); connectors.ClassOf(err) != connectors.Schema {
		t.Errorf("%v, want a refusal", err)
	}
}
