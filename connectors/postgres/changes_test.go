package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/batch"
	"penstock/internal/change"
)

// followedSource is a source of which tables are followed.
type followedSource struct {
	*postgrestest.Database
	*source
	stream connectors.ChangeStream
	start  connectors.Checkpoint
}

// followTables makes a database by sql and prepares a stream of the named tables
// there. None: of all.
func followTables(t testing.TB, sql string, names ...string) *followedSource {
	t.Helper()
	s := openFollowed(t, postgrestest.Logical(t).Database(t), sql, names...)
	start, err := s.PrepareChanges(t.Context(), s.stream)
	if err != nil {
		t.Fatal(err)
	}
	s.start = start
	return s
}

// pipelines counts those of all tests: each has a slot of its own.
var pipelines atomic.Int64

// openFollowed is followTables but for preparing.
func openFollowed(t testing.TB, d *postgrestest.Database, sql string, names ...string) *followedSource {
	t.Helper()
	d.Exec(t, sql)
	opened, err := openSource(t.Context(), sourceOf(d), connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	s := &followedSource{Database: d, source: opened.(*source)}
	s.stream.Pipeline = fmt.Sprintf("p%d", pipelines.Add(1))
	s.plan(t, names...)
	return s
}

// plan reads the catalog and follows the named tables as they are now.
func (s *followedSource) plan(t testing.TB, names ...string) {
	t.Helper()
	cat, err := s.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.stream.Tables = nil
	for i := range cat.Tables {
		table := &cat.Tables[i]
		if len(names) == 0 || slices.Contains(names, table.Name.String()) {
			s.stream.Tables = append(s.stream.Tables, connectors.ChangeTable{Table: table, Key: table.DefaultKey()})
		}
	}
}

// read opens the stream and reads until it has come as far as the source is now,
// or failed.
func (s *followedSource) read(t testing.TB, at connectors.Checkpoint, each func(*change.Batch)) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	end, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.OpenChanges(ctx, s.stream, at)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Read(ctx)
		if err != nil {
			return err
		}
		each(b)
		done := b.Through.Compare(end) >= 0
		b.Release()
		if done {
			return nil
		}
	}
}

// changes reads all there is, a line a change, with " end" behind the last one of
// a transaction.
func (s *followedSource) changes(t testing.TB) (lines []string, err error) {
	t.Helper()
	err = s.read(t, s.start, func(b *change.Batch) {
		for i := range b.Changes {
			lines = append(lines, show(b, i))
		}
	})
	return lines, err
}

// show writes a change: values of the row as it was, an arrow, those of the row
// as it is; - for what is absent.
func show(b *change.Batch, i int) string {
	c := &b.Changes[i]
	set := b.Sets[c.Set]
	line := fmt.Sprintf("%s %s", c.Op, set.Table.Name)
	if c.Before >= 0 {
		line += " " + showRow(&set.Before, c.Before) + " ->"
	}
	if c.After >= 0 {
		line += " " + showRow(&set.After, c.After)
	}
	if c.End {
		line += " end"
	}
	return line
}

func showRow(m *change.Image, row int32) string {
	var out []string
	for i, c := range m.Columns {
		switch {
		case !m.Mask(row).Has(i):
			out = append(out, "-")
		case c.IsNull(int(row)):
			out = append(out, "NULL")
		default:
			v := string(batch.AppendText(nil, c, int(row)))
			if len(v) > 40 {
				v = fmt.Sprintf("%.4s..%d", v, len(v))
			}
			out = append(out, v)
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

const followedTables = `
CREATE TABLE t (id integer PRIMARY KEY, v text, big text); ALTER TABLE t ALTER big SET STORAGE EXTERNAL;
CREATE TABLE whole (id integer, v text, big text); ALTER TABLE whole ALTER big SET STORAGE EXTERNAL, REPLICA IDENTITY FULL;
CREATE TABLE indexed (a integer NOT NULL, id integer PRIMARY KEY, code text NOT NULL); CREATE UNIQUE INDEX by_code ON indexed (code); ALTER TABLE indexed REPLICA IDENTITY USING INDEX by_code;
CREATE TABLE parted (id integer PRIMARY KEY, v text) PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100); CREATE TABLE high (v text, id integer NOT NULL); ALTER TABLE high ADD PRIMARY KEY (id);
ALTER TABLE parted ATTACH PARTITION high FOR VALUES FROM (100) TO (200);
CREATE SCHEMA "Other"; CREATE TABLE "Other"."T "" x" ("a b" integer PRIMARY KEY, gone text, c boolean); ALTER TABLE "Other"."T "" x" DROP gone;
CREATE TABLE beside (id integer PRIMARY KEY);`

func TestChangesComeAsTheyWereCommitted(t *testing.T) {
	for _, form := range []string{"binary", "text"} {
		t.Run(form, func(t *testing.T) {
			sql, names := followedTables, []string{"t", "whole", "indexed", "parted", `Other.T " x`}
			if form == "text" { // an interval has no form that is read but its text, and one form is asked for
				sql, names = sql+"CREATE TABLE spans (i interval PRIMARY KEY)", append(names, "spans")
			}
			s := openFollowed(t, postgrestest.Logical(t).Database(t), sql, names...)
			for i := range s.stream.Tables {
				if s.stream.Tables[i].Table.Name.Name == "indexed" {
					s.stream.Tables[i].Key = []string{"code"}
				}
			}
			var err error
			if s.start, err = s.PrepareChanges(t.Context(), s.stream); err != nil {
				t.Fatal(err)
			}
			// A line is sent at a time: it is one transaction.
			for sql := range strings.SplitSeq(`BEGIN; INSERT INTO t VALUES (1, 'one', repeat('x', 3000)), (2, NULL, ''); INSERT INTO beside VALUES (1); UPDATE t SET v = 'uno' WHERE id = 1; COMMIT;
BEGIN; INSERT INTO beside VALUES (2); COMMIT;
UPDATE t SET id = 3 WHERE id = 1
UPDATE t SET big = NULL WHERE id = 2
DELETE FROM t WHERE id = 2
BEGIN; SAVEPOINT a; INSERT INTO t VALUES (8, 'undone'); ROLLBACK TO a; SAVEPOINT b; INSERT INTO t VALUES (9, 'kept'); RELEASE b; INSERT INTO t VALUES (7); COMMIT;
BEGIN; INSERT INTO t VALUES (10); ROLLBACK;
INSERT INTO whole VALUES (1, 'one', repeat('y', 3000))
UPDATE whole SET v = 'uno'
DELETE FROM whole
INSERT INTO indexed VALUES (1, 1, 'a')
UPDATE indexed SET a = 2
UPDATE indexed SET code = 'b'
DELETE FROM indexed
INSERT INTO parted VALUES (1, 'low'), (150, 'high')
UPDATE parted SET id = 160 WHERE id = 1
DELETE FROM parted WHERE id = 150
INSERT INTO "Other"."T "" x" VALUES (1, true)
TRUNCATE t, beside, whole
TRUNCATE parted`, "\n") {
				s.Exec(t, sql)
			}
			got, err := s.changes(t)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{
				"insert t (1, one, xxxx..3000)", "insert t (2, NULL, )", "update t (1, uno, -) end",
				"update t (1, -, -) -> (3, uno, -) end", "update t (2, NULL, NULL) end", "delete t (2, -, -) -> end",
				"insert t (9, kept, NULL)", "insert t (7, NULL, NULL) end",
				"insert whole (1, one, yyyy..3000) end", "update whole (1, one, yyyy..3000) -> (1, uno, yyyy..3000) end", "delete whole (1, uno, yyyy..3000) -> end",
				"insert indexed (1, 1, a) end", "update indexed (2, 1, a) end", "update indexed (-, -, a) -> (2, 1, b) end", "delete indexed (-, -, b) -> end",
				"insert parted (1, low)", "insert parted (150, high) end", "delete parted (1, -) ->", "insert parted (160, low) end", "delete parted (150, -) -> end",
				`insert Other.T " x (1, true) end`,
				"truncate t", "truncate whole end", "truncate parted end",
			}
			if !slices.Equal(got, want) {
				t.Errorf("the log gives\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// A batch holds no more than its share of a large transaction, the last change
// of which is told, and no other one.
func TestALargeTransactionComesInPieces(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY, v text); CREATE TABLE beside (id integer PRIMARY KEY)", "t")
	const rows = 30_000
	s.Exec(t, fmt.Sprintf("BEGIN; INSERT INTO t SELECT i, repeat('v', 100) FROM generate_series(1, %d) i; INSERT INTO beside SELECT generate_series(1, 9000); TRUNCATE beside; COMMIT; INSERT INTO t VALUES (0)", rows))
	n, pieces := 0, 0
	var last change.Position
	if err := s.read(t, s.start, func(b *change.Batch) {
		if len(b.Changes) > changesRows || b.Size() > 2*changesBytes {
			t.Errorf("a batch has %d changes and %d octets", len(b.Changes), b.Size())
		}
		if len(b.Changes) > 0 && len(b.Changes) < rows {
			pieces++
		}
		for i := range b.Changes {
			c := &b.Changes[i]
			n++
			if want := n >= rows; c.End != want {
				t.Errorf("change %d of %d and 1 is its transaction's last: %t", n, rows, c.End)
			}
			if c.Position.Compare(last) <= 0 {
				t.Fatalf("change %d stands at %s, the one before it at %s", n, c.Position, last)
			}
			last = c.Position
		}
		if n > 0 && n < rows && string(b.Resume) != string(s.start.Resume) {
			if at, _ := resumeLSN(b.Resume); lsnPosition(at).Compare(last) > 0 {
				t.Fatalf("inside a transaction reading would begin behind it, at %x", b.Resume)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n != rows+1 || pieces < 3 {
		t.Errorf("%d changes came in %d pieces, want %d in several", n, pieces, rows+1)
	}
}

// A change has the same position whoever reads it, and from wherever.
func TestAPositionIsThatOfTheSource(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE u (id integer PRIMARY KEY)")
	s.Exec(t, "BEGIN; INSERT INTO u VALUES (1); INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2); INSERT INTO u VALUES (2); INSERT INTO t VALUES (3); COMMIT")
	s.Exec(t, "COPY t FROM PROGRAM 'seq 10 400'") // many rows in one record
	positions := func(tables ...string) map[string]string {
		t.Helper()
		out := map[string]string{}
		if err := s.read(t, s.start, func(b *change.Batch) {
			for i := range b.Changes {
				if slices.Contains(tables, b.Sets[b.Changes[i].Set].Table.Name.Name) {
					out[strings.TrimSuffix(show(b, i), " end")] = b.Changes[i].Position.String()
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := positions("t")
	if len(want) != 3+391 {
		t.Fatalf("%d changes", len(want))
	}
	// Another stream of the same log, of one table.
	s.stream.Tables = slices.DeleteFunc(s.stream.Tables, func(c connectors.ChangeTable) bool { return c.Table.Name.Name == "u" })
	s.Exec(t, "SELECT pg_copy_logical_replication_slot("+literal(ownName(s.stream.Pipeline))+", 'other_"+s.Name+"')")
	s.source.config.Slot = "other_" + s.Name
	s.source.config.Publication = ownName(s.stream.Pipeline)
	for change, at := range positions("t") {
		if want[change] != at {
			t.Errorf("%s stands at %s in one stream and at %s in another", change, want[change], at)
		}
	}
}

func TestWhatNobodyConfirmedComesAgain(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY)")
	confirmed := func() string {
		return s.Ask(t, "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = "+literal(ownName(s.stream.Pipeline)))
	}
	s.Exec(t, "INSERT INTO t VALUES (1)")
	was := confirmed()
	for range 2 { // read to the end, keepalives answered
		got, err := s.changes(t)
		if err != nil || !slices.Equal(got, []string{"insert t (1) end"}) {
			t.Fatalf("%q, %v", got, err)
		}
		if now := confirmed(); now != was {
			t.Fatalf("the slot went from %s to %s, and nothing was confirmed", was, now)
		}
	}
	// Confirmed: it is gone, for good.
	r, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context())
	if err != nil || len(b.Changes) != 1 {
		t.Fatal(b, err)
	}
	at := connectors.Checkpoint{Position: b.Changes[0].Position, Resume: b.Resume}
	if err := r.Confirm(t.Context(), at.Resume); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	lsn, _ := resumeLSN(at.Resume)
	if got := confirmed(); got != formatLSN(lsn) {
		t.Errorf("the slot stands at %s, confirmed was %s", got, formatLSN(lsn))
	}
	if err := s.read(t, at, func(b *change.Batch) {
		if len(b.Changes) > 0 {
			t.Errorf("%s came again", show(b, 0))
		}
	}); err != nil {
		t.Error(err)
	}
	// A target that was set back: the server would begin later without a word.
	_, err = s.OpenChanges(t.Context(), s.stream, s.start)
	if connectors.ClassOf(err) != connectors.LostPosition {
		t.Errorf("%v, want a lost position", err)
	}
}

// Nothing of the stream's tables is changed, but the log grows, by another
// database's doing: what the reader tells moves on, and with it the slot.
func TestAnIdleSourcesSlotMoves(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY)")
	other := postgrestest.Logical(t).Database(t)
	r, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	other.Exec(t, "CREATE TABLE busy AS SELECT generate_series(1, 1000)")
	end, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := r.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Changes) != 0 {
			t.Fatalf("%s came", show(b, 0))
		}
		if b.Through.Compare(end) >= 0 {
			if err := r.Confirm(t.Context(), b.Resume); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) { // between two looks
		st, err := s.ChangesStatus(t.Context(), s.stream, s.start.Position)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Ask(t, "SELECT confirmed_flush_lsn >= "+literal(changeExplainer{}.FormatPosition(end))+" FROM pg_replication_slots WHERE slot_name = "+literal(ownName(s.stream.Pipeline)))
		if got == "t" && st.Reader != "" && st.Behind > 0 && st.Trouble == "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the slot is not at %s; status %+v", changeExplainer{}.FormatPosition(end), st)
		}
	}
}

// While the target is slow nobody reads: the server must go on hearing of its reader.
func TestASlowTargetDoesNotEndTheSession(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY, v text)")
	s.Exec(t, "ALTER DATABASE "+s.Name+" SET wal_sender_timeout = '600ms'")
	s.Exec(t, "INSERT INTO t SELECT i, repeat('v', 1000) FROM generate_series(1, 20000) i") // more than sockets hold
	r, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for n < 20_000 {
		b, err := r.Read(t.Context())
		if err != nil {
			t.Fatalf("after %d changes: %v", n, err)
		}
		if n == 0 {
			time.Sleep(2 * time.Second) // the target's slowness, several times the server's patience
		}
		n += len(b.Changes)
		b.Release()
	}
}

func TestASourceThatCantBeFollowedIsRefused(t *testing.T) {
	d := postgrestest.Logical(t).Database(t)
	for _, tc := range []struct {
		name, sql, published, want string
	}{
		{"no key", "CREATE TABLE t (id integer)", "", "no replica identity"},
		{"identity nothing", "CREATE TABLE t (id integer PRIMARY KEY); ALTER TABLE t REPLICA IDENTITY NOTHING", "", "no replica identity"},
		{"a partition without one", "CREATE TABLE t (id integer PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (9); ALTER TABLE t1 REPLICA IDENTITY NOTHING", "", `Table public.t1 has no replica identity`},
		{"another identity", "CREATE TABLE t (id integer PRIMARY KEY, c text NOT NULL UNIQUE); ALTER TABLE t REPLICA IDENTITY USING INDEX t_c_key", "", "replica identity of public.t is (c)"},
		{"unlogged", "CREATE UNLOGGED TABLE t (id integer PRIMARY KEY)", "", "SET LOGGED"},
		{"a view", "CREATE VIEW t AS SELECT 1 AS id", "", "no table of its own"},
		{"a publication without deletes", "CREATE TABLE t (id integer PRIMARY KEY)", "t WITH (publish = 'insert')", "leaves kinds of changes out"},
		{"a publication of rows", "CREATE TABLE t (id integer PRIMARY KEY)", "t WHERE (id > 1)", "publishes only rows"},
		{"a publication of columns", "CREATE TABLE t (id integer PRIMARY KEY, v text)", "t (id)", "leaves column v"},
		{"a publication of others", "CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE u (id integer PRIMARY KEY)", "u", "does not have table t"},
		{"a publication of partitions", "CREATE TABLE t (id integer PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (9)", "t", "by its partitions' names"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.Exec(t, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
			s := openFollowed(t, d, tc.sql, "t")
			if tc.published != "" {
				s.Exec(t, "CREATE PUBLICATION "+ownName(s.stream.Pipeline)+" FOR TABLE "+tc.published)
			}
			_, err := s.PrepareChanges(t.Context(), s.stream)
			if connectors.ClassOf(err) != connectors.Schema || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want a refusal that says %q", err, tc.want)
			}
			if found := s.check(t, "log"); !strings.Contains(fmt.Sprint(found), tc.want) {
				t.Errorf("the live check finds %v, want %q", found, tc.want)
			}
			if n := d.Ask(t, "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"); n != "0" {
				t.Errorf("%s slots were made", n)
			}
		})
	}
	t.Run("wal_level", func(t *testing.T) {
		s := openFollowed(t, postgrestest.Shared(t).Database(t), "CREATE TABLE t (id integer PRIMARY KEY)")
		_, err := s.PrepareChanges(t.Context(), s.stream)
		if connectors.ClassOf(err) != connectors.Schema || !strings.Contains(err.Error(), "ALTER SYSTEM SET wal_level = logical") {
			t.Errorf("%v, want a refusal that mends", err)
		}
	})
}

// A table changes its form under a reader: what lies before is read, then the
// stream stops and says what is different.
func TestATableThatChangesStopsTheStream(t *testing.T) {
	d := postgrestest.Logical(t).Database(t)
	for _, tc := range []struct {
		name, sql, want string
		addable         bool
	}{
		{"a column", "ALTER TABLE t ADD extra integer; INSERT INTO t VALUES (2, 'y', 7)", "column extra integer is new", true},
		{"two columns", "ALTER TABLE t ADD a integer, ADD b numeric(5,2) NOT NULL DEFAULT 1; INSERT INTO t VALUES (2, 'y', 7)", "column b numeric(5,2) not null default 1 is new", false},
		{"a column with a default", "ALTER TABLE t ADD a integer DEFAULT 7; INSERT INTO t VALUES (2, 'y')", "column a integer default 7 is new", false},
		{"a column less", "ALTER TABLE t DROP v; INSERT INTO t VALUES (2)", "column v is gone", false},
		{"a type", "ALTER TABLE t ALTER v TYPE integer USING 1; INSERT INTO t VALUES (2, 7)", "column v is integer, and was text", false},
		{"a name", "ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (2)", "it is called public.u", false},
		{"all of it", "DROP TABLE t; CREATE TABLE t (id integer PRIMARY KEY, v text); ALTER PUBLICATION %p ADD TABLE t; INSERT INTO t VALUES (2)", "it was dropped and made anew", false},
		{"an identity", "ALTER TABLE t ALTER v SET NOT NULL; CREATE UNIQUE INDEX i ON t (v); ALTER TABLE t REPLICA IDENTITY USING INDEX i; INSERT INTO t VALUES (2, 'y')", "its replica identity has no column id", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.Exec(t, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE t (id integer PRIMARY KEY, v text)")
			s := openFollowed(t, d, "")
			var err error
			if s.start, err = s.PrepareChanges(t.Context(), s.stream); err != nil {
				t.Fatal(err)
			}
			r, err := s.OpenChanges(t.Context(), s.stream, s.start)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s.Exec(t, "INSERT INTO t VALUES (1, 'x')")
			s.Exec(t, strings.ReplaceAll(tc.sql, "%p", ownName(s.stream.Pipeline)))
			var got []string
			for err == nil {
				var b *change.Batch
				if b, err = r.Read(t.Context()); err != nil {
					break
				}
				for i := range b.Changes {
					got = append(got, show(b, i))
				}
			}
			var e *connectors.TableChanged
			if connectors.ClassOf(err) != connectors.Schema || !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) || e.Addable() != tc.addable {
				t.Errorf("%v (addable: %t), want %q, %t", err, e != nil && e.Addable(), tc.want, tc.addable)
			}
			if !slices.Equal(got, []string{"insert t (1, x) end"}) {
				t.Errorf("%q was read before it, want the insert before", got)
			}
		})
	}
	t.Run("what the plan leaves out", func(t *testing.T) {
		s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY, v text, secret interval)")
		s.stream.Tables[0].Others = []string{"secret"}
		table := *s.stream.Tables[0].Table
		table.Columns = table.Columns[:2]
		s.stream.Tables[0].Table = &table
		s.Exec(t, "INSERT INTO t VALUES (1, 'x', '1 day')")
		if got, err := s.changes(t); err != nil || !slices.Equal(got, []string{"insert t (1, x) end"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// check runs one of the source's live checks, as a plan of the stream does.
func (s *followedSource) check(t testing.TB, name string) []connectors.Finding {
	t.Helper()
	u := connectors.Use{Pipeline: s.stream.Pipeline, Stream: true}
	for _, f := range s.stream.Tables {
		u.Reads = append(u.Reads, connectors.Extract{Table: f.Table})
	}
	for _, c := range sourceChecks {
		if c.Name == name {
			found, err := c.Run(t.Context(), s.source, u)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
	}
	t.Fatalf("there is no check %q", name)
	return nil
}

// Who does not own the tables may follow them, once a DBA has run what is granted.
func TestAUserWithTheGrantsAloneFollows(t *testing.T) {
	s := openFollowed(t, postgrestest.Logical(t).Database(t), "CREATE TABLE t (id integer PRIMARY KEY); CREATE ROLE follower LOGIN")
	defer s.Exec(t, "DROP OWNED BY follower; DROP ROLE follower")
	s.source.config.User, s.source.server.connection.User = "follower", "follower"
	_, err := s.PrepareChanges(t.Context(), s.stream)
	if connectors.ClassOf(err) != connectors.Permission {
		t.Errorf("without grants: %v, want a refusal", err)
	}
	found := s.check(t, "privileges")
	if !strings.Contains(fmt.Sprint(found), "CREATE PUBLICATION") || !strings.Contains(fmt.Sprint(found), "REPLICATION") {
		t.Errorf("the check finds %v", found)
	}
	u := connectors.Use{Pipeline: s.stream.Pipeline, Stream: true, Reads: []connectors.Extract{{Table: s.stream.Tables[0].Table}}}
	for _, g := range grants(sourceNeeds(&s.source.config, u)) {
		s.Exec(t, g.SQL)
	}
	if found := s.check(t, "privileges"); found != nil {
		t.Errorf("after the grants: %v", found)
	}
	if s.start, err = s.PrepareChanges(t.Context(), s.stream); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "INSERT INTO t VALUES (1)")
	if got, err := s.changes(t); err != nil || !slices.Equal(got, []string{"insert t (1) end"}) {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.DropChanges(t.Context(), s.stream); err != nil {
		t.Error(err)
	}
}

func TestASlotIsLost(t *testing.T) {
	settings := postgrestest.LogicalSettings()
	for name, value := range map[string]string{"max_slot_wal_keep_size": "1MB", "min_wal_size": "32MB", "max_wal_size": "32MB"} {
		settings[name] = value
	}
	server, err := postgrestest.Start(postgrestest.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	s := openFollowed(t, &postgrestest.Database{Server: server, Name: "postgres"}, "CREATE TABLE t (id integer PRIMARY KEY)")
	if s.start, err = s.PrepareChanges(t.Context(), s.stream); err != nil {
		t.Fatal(err)
	}
	// The server crashes and comes back under a reader: it is a matter of trying again.
	r, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	server.Restart(t)
	for err == nil {
		_, err = r.Read(t.Context())
	}
	if connectors.ClassOf(err) != connectors.Transient {
		t.Errorf("%v, want a transient error", err)
	}
	_ = r.Close()
	s.Exec(t, "INSERT INTO t VALUES (1)")
	if got, err := s.changes(t); err != nil || !slices.Equal(got, []string{"insert t (1) end"}) {
		t.Errorf("%q, %v", got, err)
	}
	for range 4 {
		s.Exec(t, "SELECT pg_switch_wal()")
		s.Exec(t, "SELECT pg_logical_emit_message(true, '', '')")
	}
	s.Exec(t, "CHECKPOINT")
	_, err = s.OpenChanges(t.Context(), s.stream, s.start)
	if connectors.ClassOf(err) != connectors.LostPosition || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("%v, want a lost position", err)
	}
	if st, err := s.ChangesStatus(t.Context(), s.stream, s.start.Position); err != nil || !strings.Contains(st.Trouble, "is lost") {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := s.DropChanges(t.Context(), s.stream); err != nil {
		t.Error(err)
	}
	if _, err = s.OpenChanges(t.Context(), s.stream, s.start); connectors.ClassOf(err) != connectors.LostPosition {
		t.Errorf("without a slot: %v, want a lost position", err)
	}
}

func TestWhoReadsTheSlotIsEndedOnlyIfItIsOurs(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY)")
	former, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close()
	r, err := s.OpenChanges(t.Context(), s.stream, s.start) // as who took the pipeline over
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = former.Read(t.Context())
	}
	if connectors.ClassOf(err) != connectors.Transient {
		t.Errorf("the former reader ends with %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	// Somebody else's.
	opened, err := openSource(t.Context(), sourceOf(s.Database), connectors.Env{Pipeline: "another"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := opened.(*source).OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err = s.OpenChanges(t.Context(), s.stream, s.start); connectors.ClassOf(err) != connectors.Held || !strings.Contains(err.Error(), "penstock/another/changes") {
		t.Errorf("%v, want one that names the reader", err)
	}
	if err := s.DropChanges(t.Context(), s.stream); connectors.ClassOf(err) != connectors.Held {
		t.Errorf("drop: %v, want a refusal", err)
	}
}

// A former owner that was stopped reads nothing more, and its session stands in
// the middle of a write: it is ended all the same.
func TestAReaderThatReadsNoMoreIsEnded(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY, v text)")
	s.Exec(t, "INSERT INTO t SELECT i, repeat('v', 1000) FROM generate_series(1, 20000) i") // more than sockets hold
	former, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close()
	if _, err := former.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := s.OpenChanges(t.Context(), s.stream, s.start)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("after %s", time.Since(began))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestDropTakesAwayWhatWasMade(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE u (id integer PRIMARY KEY)", "t")
	left := func() string {
		return s.Ask(t, "SELECT (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()), (SELECT count(*) FROM pg_publication)")
	}
	if got := left(); got != "1|1" {
		t.Fatalf("%s slots and publications were made", got)
	}
	// Prepared once more it is the same, and a table can be added before there is a slot.
	again, err := s.PrepareChanges(t.Context(), s.stream)
	if err != nil || again.Position.Compare(s.start.Position) != 0 || again.Source != s.start.Source {
		t.Errorf("prepared again: %+v, %v, want %+v", again, err, s.start)
	}
	s.plan(t)
	if _, err := s.PrepareChanges(t.Context(), s.stream); connectors.ClassOf(err) != connectors.Schema {
		t.Errorf("a table that was not published since the slot was made: %v, want a refusal", err)
	}
	s.Exec(t, dropSlot(ownName(s.stream.Pipeline)))
	if _, err := s.PrepareChanges(t.Context(), s.stream); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.DropChanges(t.Context(), s.stream); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != "0|0" {
			t.Errorf("%s slots and publications are left", got)
		}
	}
	s.Exec(t, "CREATE PUBLICATION "+ownName(s.stream.Pipeline)+" FOR ALL TABLES") // somebody's own
	if _, err := s.PrepareChanges(t.Context(), s.stream); err != nil {
		t.Error(err)
	}
	if err := s.DropChanges(t.Context(), s.stream); err != nil {
		t.Fatal(err)
	}
	if got := left(); got != "0|1" {
		t.Errorf("%s slots and publications are left of one that was there before", got)
	}
}

func TestStatementsOfAStreamAreThoseThatRun(t *testing.T) {
	s := followTables(t, "CREATE TABLE t (id integer PRIMARY KEY)")
	if err := s.DropChanges(t.Context(), s.stream); err != nil {
		t.Fatal(err)
	}
	config := sourceOf(s.Database)
	c, err := s.Connect(t.Context(), s.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(c)
	for _, st := range (changeExplainer{}).Prepare(config, s.stream, false) {
		if command, ok := strings.CutPrefix(st.SQL, "CREATE_REPLICATION_SLOT"); ok {
			r, _, err := s.server.replication(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer closeNow(r)
			if _, err := r.Exec(t.Context(), "CREATE_REPLICATION_SLOT"+command).ReadAll(); err != nil {
				t.Errorf("%s: %v", st.SQL, err)
			}
			continue
		}
		if _, err := run(t.Context(), c, st.SQL); err != nil {
			t.Errorf("%s: %v", st.SQL, err)
		}
	}
	if _, err := s.PrepareChanges(t.Context(), s.stream); err != nil { // it finds all in order
		t.Error(err)
	}
	for _, st := range (changeExplainer{}).Drop(config, s.stream) {
		if _, err := run(t.Context(), c, st.SQL); err != nil {
			t.Errorf("%s: %v", st.SQL, err)
		}
	}
}

func TestNamesOfSlotsAreThoseThatAServerTakes(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"orders", "Orders", "ORDERS", "my orders", "my_orders", "my-orders", "ü", strings.Repeat("a", 54), strings.Repeat("a", 55), strings.Repeat("a", 56)} {
		slot := ownName(name)
		if len(slot) > maxName || strings.Trim(slot, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || seen[slot] != "" {
			t.Errorf("%q gets slot %q, which %q has too, or which no server takes", name, slot, seen[slot])
		}
		seen[slot] = name
	}
	if got := ownName("orders"); got != "penstock_orders" {
		t.Errorf("%q", got)
	}
}

func TestAPositionIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]string{"16/B374D848": "00000016b374d848", "00000016b374d848": "00000016b374d848", "16": "", "x/1": "", "1/2/3": "", "": ""} {
		p, err := changeExplainer{}.ParsePosition(text)
		if (err == nil) != (want != "") || err == nil && p.String() != want {
			t.Errorf("%q: %s, %v; want %s", text, p, err, want)
		}
	}
}
