package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/batch"
	"penstock/internal/change"
	"penstock/internal/event"
	"penstock/internal/schema"
	"penstock/runtime/stream"
)

const everyLogged = `CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN cents AS numeric(20,4);
CREATE TABLE every (id bigint PRIMARY KEY, b boolean, i2 smallint, i4 integer, i8 bigint, o oid, f4 real, f8 double precision, n numeric, n38 numeric(38,10), neg numeric(5,-2), c cents,
  t text, vc varchar(10), ch char(5), nm name, by bytea, d date, tm time, ts timestamp, ts0 timestamp(0), tz timestamptz, u uuid, j json, jb jsonb, m mood);
INSERT INTO every VALUES
  (1, true, 1, 2, 3, 4, 1.5, -2.25, 12345678901234567890.123, 12345.6789012345, 12300, 1.5, 'text', 'vc', 'ch', 'name', '\x00ff', '2026-02-28', '23:59:59.999999', '2026-02-28 12:34:56.789', '2026-02-28 12:34:56', '2026-02-28 12:34:56+05', '01234567-89ab-cdef-0123-456789abcdef', '{"a": 1}', '{"b": [1, 2]}', 'ok'),
  (2, false, -32768, -2147483648, -9223372036854775808, 4294967295, 'NaN', 'Infinity', 'NaN', -0.0000000001, -99900, -0.0001, E'multi\nline\t\\ ''', '', '', '', '', '0001-01-01', '00:00', '0001-01-01 00:00:00', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '"x"', 'null', 'sad'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, true, 0, 0, 0, 0, '-0', 1e-300, 0.000, 0, 0, 0, 'Ünï', 'ü', 'x    ', 'y', '\x', '1970-01-01', '12:00', '1969-12-31 23:59:59.999999', '1970-01-01', '1970-01-01', '00000000-0000-0000-0000-000000000000', '[]', '{}', 'ok');
CREATE TABLE spoken (id integer PRIMARY KEY, i interval, tz timetz, a integer[], x xml, r int4range, bits bit(3), inet inet, q "char"); 
INSERT INTO spoken VALUES (1, '1 day 02:03:04', '12:00+05', '{1,NULL,3}', '<a/>', '[1,5)', '101', '10.0.0.1/24', 'c'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

// The rows of a change are those that a snapshot reads, value by value, in the
// binary form and as text.
func TestEveryTypeComesAsASnapshotReadsIt(t *testing.T) {
	for form, names := range map[string][]string{"binary": {"every"}, "text": {"every", "spoken"}} {
		t.Run(form, func(t *testing.T) {
			s := openFollowed(t, postgrestest.Logical(t).Database(t), everyLogged, names...)
			want := map[string][]string{}
			for _, f := range s.stream.Tables {
				want[f.Table.Name.Name] = sortedRows(conformance.ReadAll(t, s.source, f.Table.Name, namesOf(f.Table)))
			}
			var err error
			if s.start, err = s.PrepareChanges(t.Context(), s.stream); err != nil {
				t.Fatal(err)
			}
			for _, n := range names { // each row once more, by an insert
				s.Exec(t, fmt.Sprintf("CREATE TEMP TABLE kept AS SELECT * FROM %s; DELETE FROM %[1]s; INSERT INTO %[1]s SELECT * FROM kept ORDER BY id", n))
			}
			got := map[string][]string{}
			if err := s.read(t, s.start, func(b *change.Batch) {
				for i := range b.Changes {
					if c := &b.Changes[i]; c.Op == change.Insert {
						set := b.Sets[c.Set]
						got[set.Table.Name.Name] = append(got[set.Table.Name.Name], rowText(set.After.Columns, int(c.After)))
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if !slices.Equal(got[n], want[n]) {
					t.Errorf("%s: the log gives\n%s\na snapshot\n%s", n, strings.Join(got[n], "\n"), strings.Join(want[n], "\n"))
				}
			}
		})
	}
}

func rowText(columns []*batch.Column, row int) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		if out[i] = "NULL"; !c.IsNull(row) {
			out[i] = string(batch.AppendText(nil, c, row))
		}
	}
	return strings.Join(out, "|")
}

func namesOf(t *schema.Table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func sortedRows(rows [][]string) (out []string) {
	for _, r := range rows {
		out = append(out, strings.ReplaceAll(strings.Join(r, "|"), conformance.Null, "NULL"))
	}
	slices.Sort(out)
	return out
}

// into makes a target of the stream's tables in a database of its own, claimed,
// with an audit of every update of n.
func (s *followedSource) into(t *testing.T, lanes int, ddl string) (*postgrestest.Database, stream.Options) {
	t.Helper()
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, ddl+"; CREATE TABLE audit (was bigint, became bigint); CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (old.n, new.n); RETURN new; END $$")
	opened, err := openTarget(t.Context(), configOf(d), connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	tg := opened.(*target)
	if _, err := tg.Claim(t.Context(), connectors.Owner{Run: "test"}); err != nil {
		t.Fatal(err)
	}
	o := stream.Options{
		Pipeline: "p", Target: tg, Mode: "array", Rows: 50, Linger: 5 * time.Millisecond, Memory: 8 << 20, Idle: 50 * time.Millisecond, Events: event.Discard,
		Route: stream.Route{Order: stream.ByKey, Lanes: lanes},
		Retry: func(ctx context.Context, n int, err error) error {
			if n > 300 {
				return err
			}
			select {
			case <-time.After(10 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Open: func(ctx context.Context, at connectors.Checkpoint) (connectors.ChangeReader, error) {
			return s.OpenChanges(ctx, s.stream, at)
		},
	}
	for _, f := range s.stream.Tables {
		st := connectors.StreamTable{Source: f.Table, Target: f.Table.Name}
		for i, c := range f.Table.Columns {
			st.Columns = append(st.Columns, connectors.TargetColumn{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
			if slices.Contains(f.Key, c.Name) {
				st.Key = append(st.Key, i)
			}
		}
		d.Exec(t, "CREATE TRIGGER tell AFTER UPDATE ON "+quoteName(st.Target)+" FOR EACH ROW EXECUTE FUNCTION tell()")
		o.Tables = append(o.Tables, st)
	}
	if o.At, err = tg.Checkpoints(t.Context(), lanes, s.start); err != nil {
		t.Fatal(err)
	}
	return d, o
}

// A transaction of five changes, two of which move a key, between two others.
// The stream ends behind each change in turn, wherever in the transaction that
// is, and another one goes on: each change is applied once.
func TestAStreamGoesOnBehindEachChangeOfATransaction(t *testing.T) {
	const ddl = "CREATE TABLE t (id integer PRIMARY KEY, n bigint NOT NULL, v text); CREATE TABLE u (id integer PRIMARY KEY, n bigint NOT NULL)"
	s := followTables(t, ddl)
	s.Exec(t, "INSERT INTO t SELECT i, 1, 'v' FROM generate_series(1, 4) i")
	s.Exec(t, "BEGIN; INSERT INTO u VALUES (5, 1); UPDATE t SET id = 6, n = n + 1 WHERE id = 1; UPDATE t SET n = n + 1, v = NULL WHERE id = 2; DELETE FROM t WHERE id = 3; UPDATE t SET id = 1, n = n + 1 WHERE id = 6; COMMIT")
	s.Exec(t, "UPDATE t SET n = n + 1; INSERT INTO t VALUES (3, 1, 'again')")
	var stops []change.Position
	if err := s.read(t, s.start, func(b *change.Batch) {
		for i := range b.Changes {
			stops = append(stops, b.Changes[i].Position)
		}
	}); err != nil || len(stops) != 4+5+4 {
		t.Fatalf("%d changes, %v", len(stops), err)
	}
	end, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const contents = "SELECT string_agg(x, ' ' ORDER BY x) FROM (SELECT 't ' || t::text FROM t UNION ALL SELECT 'u ' || u::text FROM u) a(x)"
	want := s.Ask(t, contents)
	d, o := s.into(t, 3, ddl)
	for i, stop := range stops[4:10] {
		// Each on a copy of the slot: the source discards what it was told to.
		s.source.config.Slot = fmt.Sprintf("%s_%d", ownName(s.stream.Pipeline), i)
		s.source.config.Publication = ownName(s.stream.Pipeline)
		s.Exec(t, fmt.Sprintf("SELECT pg_copy_logical_replication_slot(%s, %s)", literal(ownName(s.stream.Pipeline)), literal(s.source.config.Slot)))
		d.Exec(t, "TRUNCATE t, u, audit; DELETE FROM penstock_checkpoint")
		for _, until := range []change.Position{stop, end} {
			if o.At, err = o.Target.Checkpoints(t.Context(), 3, s.start); err != nil {
				t.Fatal(err)
			}
			o.Until = until
			if _, err := stream.Run(t.Context(), o); err != nil {
				t.Fatalf("until change %d: %v", 5+i, err)
			}
			if until.Compare(stop) == 0 {
				// Keys that move are moved as a set: not before all of the set is there.
				if n := number(d.Query(t, "SELECT sum(changes) FROM penstock_checkpoint")[0][0]); n > int64(5+i) || n < int64(5+i-1) {
					t.Errorf("until change %d: %d were applied", 5+i, n)
				}
			}
		}
		if got := d.Ask(t, contents); got != want {
			t.Errorf("stopped behind change %d: the target has %s, want %s", 5+i, got, want)
		}
		if got := d.Ask(t, "SELECT (SELECT sum(changes) FROM penstock_checkpoint), (SELECT count(*) FROM audit WHERE became <> was + 1)"); got != fmt.Sprintf("%d|0", len(stops)) {
			t.Errorf("stopped behind change %d: changes and updates out of order: %s, want %d|0", 5+i, got, len(stops))
		}
		s.Exec(t, dropSlot(s.source.config.Slot))
	}
}

// While changes are made and followed the session that reads is ended at the
// server, again and again.
func TestAStreamWhoseReaderIsEndedAppliesEachChangeOnce(t *testing.T) {
	const ddl = "CREATE TABLE t (id integer PRIMARY KEY, n bigint NOT NULL, v text)"
	s := followTables(t, ddl)
	d, o := s.into(t, 4, ddl)
	s.Exec(t, "INSERT INTO t SELECT i, 1, repeat('v', 50) FROM generate_series(1, 400) i")
	changes := int64(400)
	c := s.Conn(t)
	defer closeNow(c)
	for i := range 60 {
		sql := fmt.Sprintf("UPDATE t SET n = n + 1 WHERE id %% 10 = %d", i%10)
		if i%10 == 3 {
			sql = fmt.Sprintf("UPDATE t SET n = n + 1, id = id + 10000 WHERE id %% 10 = 3 AND id BETWEEN %d AND %d", 1+i/10*1000, 10000)
		}
		n, err := exec(t.Context(), c, sql)
		if err != nil {
			t.Fatal(err)
		}
		changes += n
	}
	var err error
	if o.Until, err = s.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened := 0
	open := o.Open
	o.Open = func(ctx context.Context, at connectors.Checkpoint) (connectors.ChangeReader, error) {
		r, err := open(ctx, at)
		if opened++; err == nil && opened < 12 {
			r.(*changeReader).rows = 150 // so that the log is many batches
			return &cutReader{ChangeReader: r, left: 2, cut: func() {
				s.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = "+literal(ownName(s.stream.Pipeline))+" AND active_pid IS NOT NULL")
			}}, nil
		}
		return r, err
	}
	if _, err := stream.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if opened < 4 {
		t.Errorf("the log was opened %d times: the test shows little", opened)
	}
	const contents = "SELECT count(*), sum(n), md5(string_agg(t::text, ' ' ORDER BY id)) FROM t"
	if got, want := d.Ask(t, contents), s.Ask(t, contents); got != want {
		t.Errorf("the target has %s, want %s", got, want)
	}
	if got := d.Ask(t, "SELECT (SELECT sum(changes) FROM penstock_checkpoint), (SELECT count(*) FROM audit WHERE became <= was)"); got != fmt.Sprintf("%d|0", changes) {
		t.Errorf("changes, and updates that went back: %s, want %d|0", got, changes)
	}
}

// cutReader ends its session after some batches.
type cutReader struct {
	connectors.ChangeReader
	left int
	cut  func()
}

func (r *cutReader) Read(ctx context.Context) (*change.Batch, error) {
	if r.left--; r.left == 0 {
		r.cut()
	}
	return r.ChangeReader.Read(ctx)
}

// atPoint is a source whose snapshots a stream follows.
type atPoint struct {
	*source
	stream connectors.ChangeStream
	point  change.Position
}

func (s *atPoint) Snapshot(ctx context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	o.Follow = &s.stream
	n, err := s.source.Snapshot(ctx, o)
	if err == nil {
		s.point, err = n.Position(nil)
	}
	return n, err
}

// Rows move, go and come while the snapshot is taken: each change is either in
// its rows or comes behind it, and none is both.
func TestAStreamBeginsExactlyAtItsSnapshot(t *testing.T) {
	d := postgrestest.Logical(t).Database(t)
	s := openFollowed(t, d, "CREATE TABLE t (id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO t SELECT i, 1 FROM generate_series(1, 2000) i")
	ctx, stop := context.WithCancel(t.Context())
	writes := make(chan error)
	go func() {
		c, err := s.Connect(ctx, s.Name)
		for i := 0; ctx.Err() == nil && err == nil; i++ {
			_, err = c.Exec(ctx, fmt.Sprintf("BEGIN; UPDATE t SET id = id + 5000 WHERE id = %d; DELETE FROM t WHERE id = %d; INSERT INTO t VALUES (%d, 1); UPDATE t SET n = n + 1 WHERE id %% 100 = %d; COMMIT", 1+i, 5001+i-50, 100000+i, i%100)).ReadAll()
		}
		if c != nil {
			_ = c.Close(context.Background())
		}
		if ctx.Err() != nil {
			err = nil
		}
		writes <- err
	}()
	a := &atPoint{source: s.source, stream: s.stream}
	rows := map[string]string{}
	for _, r := range conformance.ReadAll(t, a, schema.Name{Name: "t"}, []string{"id", "n"}) {
		rows[r[0]] = r[1]
	}
	stop()
	if err := <-writes; err != nil {
		t.Fatal(err)
	}
	start, err := s.StartAt(t.Context(), a.point)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := s.read(t, start, func(b *change.Batch) {
		for i := range b.Changes {
			c := &b.Changes[i]
			n++
			if c.Position.Compare(a.point) <= 0 {
				t.Errorf("a change at %s, the snapshot is at %s", c.Position, a.point)
			}
			key := func(m *change.Image, row int32) string { return string(batch.AppendText(nil, m.Columns[0], int(row))) }
			set := b.Sets[c.Set]
			if c.Op != change.Insert {
				m, row := b.KeyRow(i)
				k := key(m, row)
				if _, ok := rows[k]; !ok {
					t.Errorf("%s: there is no row %s", show(b, i), k)
				}
				delete(rows, k)
			}
			if c.Op != change.Delete {
				k := key(&set.After, c.After)
				if _, ok := rows[k]; ok {
					t.Errorf("%s: row %s is there", show(b, i), k)
				}
				rows[k] = string(batch.AppendText(nil, set.After.Columns[1], int(c.After)))
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, r := range s.Query(t, "SELECT id, n FROM t") {
		want[string(r[0])] = string(r[1])
	}
	if !maps.Equal(rows, want) {
		t.Errorf("with %d changes there are %d rows, want %d, or others", n, len(rows), len(want))
	}
	// A load that goes on after a crash: what was loaded already keeps the slot.
	confirmed := func() string {
		return s.Ask(t, "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = "+literal(ownName(s.stream.Pipeline)))
	}
	was, first := confirmed(), a.point
	a.stream.Keep = true
	conformance.ReadAll(t, a, schema.Name{Name: "t"}, []string{"id", "n"})
	if confirmed() != was || a.point.Compare(first) <= 0 {
		t.Errorf("kept: the slot went from %s to %s, the point from %s to %s", was, confirmed(), first, a.point)
	}
	a.stream.Keep = false
	conformance.ReadAll(t, a, schema.Name{Name: "t"}, []string{"id", "n"})
	if lsn, _ := positionLSN(a.point); confirmed() != formatLSN(lsn) {
		t.Errorf("made anew: the slot begins at %s, the snapshot is at %s", confirmed(), formatLSN(lsn))
	}
	if n := s.Ask(t, "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"); n != "1" {
		t.Errorf("%s slots are left", n)
	}
}
