package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
)

// refusingTables have a rule each that only the server knows.
const refusingTables = `
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE DOMAIN small AS integer CONSTRAINT is_small CHECK (VALUE < 1000);
CREATE TABLE parent (id integer PRIMARY KEY); INSERT INTO parent VALUES (1);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.v = ''secret 13'' THEN RAISE EXCEPTION ''no % here'', NEW.v; END IF; RETURN NEW; END';
CREATE FUNCTION refuse_by_code() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.v = ''secret 13'' THEN RAISE SQLSTATE ''MY001''; END IF; RETURN NEW; END';
CREATE TABLE t_unique (id integer PRIMARY KEY, v text);
CREATE TABLE t_unique2 (id integer, v text CONSTRAINT "a ""name"", line 7" UNIQUE);
CREATE TABLE t_deferred (id integer CONSTRAINT later UNIQUE DEFERRABLE INITIALLY DEFERRED, v text);
CREATE TABLE t_check (id integer CHECK (id <> 13), v text);
CREATE TABLE t_fk (id integer, v text, p integer DEFAULT 1 REFERENCES parent);
CREATE TABLE t_fk_later (id integer, v text, p integer DEFAULT 1 REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE t_exclude (id integer, v text, EXCLUDE USING gist (id WITH =));
CREATE TABLE t_domain (id small, v text);
CREATE TABLE t_long (id integer, v varchar(12));
CREATE TABLE t_index (id integer, v text); CREATE INDEX ON t_index (v);
CREATE TABLE t_partition (id integer, v text) PARTITION BY RANGE (id); CREATE TABLE t_partition_1 PARTITION OF t_partition FOR VALUES FROM (0) TO (100);
CREATE TABLE t_trigger (id integer, v text); CREATE TRIGGER refuse BEFORE INSERT ON t_trigger FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TABLE t_after (id integer, v text); CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON t_after DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_by_code();
CREATE TABLE t_json (id integer, v jsonb);
CREATE TABLE t_numeric (id integer, v numeric(6,2));
CREATE TABLE t_self (id integer PRIMARY KEY, v text, p integer REFERENCES t_self);
CREATE VIEW v_option AS SELECT * FROM t_self WHERE id < 1000 WITH CHECK OPTION;`

// Of every kind of rule, by every way in: the good rows go in, the bad one is
// named with the rule, and no reason holds a value of the row.
func TestRowsThatOnlyTheServerRefusesAreLeftOut(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, refusingTables)
	tg := openTest(t, configOf(d))
	integer := func(n string) connectors.TargetColumn {
		return connectors.TargetColumn{Name: n, Native: "integer", Nullable: true}
	}
	// Forty rows, of which row 13 is as given; two columns unless p has a third.
	tests := []struct {
		table      string
		v          string // the type of v in the table
		bad        []string
		p          []string // p of a good and of the bad row
		code       string
		constraint string
		says       string
	}{
		{"t_unique", "text", []string{"7", "secret 13"}, nil, "23505", "t_unique_pkey", "unique"},
		{"t_unique2", "text", []string{"13", "v7"}, nil, "23505", `a "name", line 7`, "unique"},
		{"t_deferred", "text", []string{"7", "secret 13"}, nil, "23505", "later", "unique"},
		{"t_check", "text", []string{"13", "secret 13"}, nil, "23514", "t_check_id_check", "check constraint"},
		{"t_fk", "text", []string{"13", "secret 13"}, []string{"1", "77"}, "23503", "t_fk_p_fkey", "foreign key"},
		{"t_fk_later", "text", []string{"13", "secret 13"}, []string{"1", "77"}, "23503", "t_fk_later_p_fkey", "foreign key"},
		{"t_exclude", "text", []string{"7", "secret 13"}, nil, "23P01", "t_exclude_id_excl", "exclusion"},
		{"t_domain", "text", []string{"1313", "secret 13"}, nil, "23514", "is_small", "domain small"},
		{"t_long", "character varying(12)", []string{"13", "secret 13 is too long"}, nil, "22001", "", "character varying(12)"},
		{"t_index", "text", []string{"13", noise(9000)}, nil, "54000", "", "too long for an index"},
		{"t_partition", "text", []string{"1313", "secret 13"}, nil, "23514", "", "no partition"},
		{"t_trigger", "text", []string{"13", "secret 13"}, nil, "P0001", "", "refuse()"},
		{"t_after", "text", []string{"13", "secret 13"}, nil, "MY001", "", "refuse_by_code()"},
		{"t_json", "jsonb", []string{"13", `{"secret 13": "\u0000"}`}, nil, "22P05", "", `\u0000`},
		{"t_json", "jsonb", []string{"14", `{"secret 13": `}, nil, "22P02", "", "can't be read"},
		{"t_numeric", "numeric(6,2)", []string{"13", "131313131313"}, nil, "22003", "", "out of the range"},
		{"v_option", "text", []string{"1313", "secret 13"}, []string{"NULL", "NULL"}, "44000", "", "check option"},
	}
	for _, c := range tests {
		for _, mode := range modes {
			if c.table == "v_option" && mode == "copy" {
				continue // the server copies into no view
			}
			name := c.table + "/" + c.code + "/" + mode
			l := loadOf(t, c.table, mode, integer("id"), connectors.TargetColumn{Name: "v", Native: c.v, Nullable: true})
			if c.p != nil {
				l.Columns = append(l.Columns, integer("p"))
				l.Columns[2].Type = schema.Of(schema.Int32)
			}
			l.Source, l.Create, l.Existing = name, false, connectors.ExistingTruncate
			if c.table == "t_self" || c.table == "v_option" {
				d.Exec(t, "TRUNCATE t_self")
				l.Existing = connectors.ExistingAppend
			}
			w := beginTest(t, tg, explained(l), 1)
			var rows [][]string
			for i := range 40 {
				row := []string{fmt.Sprint(i), fmt.Sprintf("v%d", i)}
				switch {
				case i == 13:
					row = c.bad
				case c.v == "jsonb":
					row[1] = "{}"
				case strings.HasPrefix(c.v, "numeric"):
					row[1] = "1.50"
				}
				if c.p != nil {
					p := c.p[0]
					if i == 13 {
						p = c.p[1]
					}
					row = append(row, p)
				}
				rows = append(rows, row)
			}
			// What the table has no place for stands in a wider batch, as where the
			// engine could not tell.
			wide := connectors.Load{Columns: slices.Clone(l.Columns)}
			wide.Columns[1].Type = schema.Of(schema.Text)
			if strings.HasPrefix(c.v, "numeric") {
				wide.Columns[1].Type = schema.Type{Kind: schema.Decimal, Precision: 20, Scale: 2}
			}
			ctx := context.Background()
			b := rowsOf(t, wide, rows...)
			if _, err := loadChunk(w, marker(l, 1), b); connectors.ClassOf(err) != connectors.Data || strings.Contains(err.Error(), "secret") && c.code[0] == '2' {
				t.Errorf("%s: written at once: class %s, %v; want data, and no value", name, connectors.ClassOf(err), err)
				continue
			}
			if _, err := w.Begin(ctx, marker(l, 1)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			found := 0
			err := w.WriteEach(ctx, b, nil, func(row int32, why *connectors.Refusal) error {
				found++
				if row != 13 || why.Code != c.code || why.Constraint != c.constraint || !strings.Contains(why.Reason, c.says) || strings.Contains(why.Reason, "13") {
					t.Errorf("%s: row %d refused: code %s, constraint %q, %q; want row 13, %s, %q, a reason with %q and without values", name, row, why.Code, why.Constraint, why.Reason, c.code, c.constraint, c.says)
				}
				return nil
			})
			if err != nil || found != 1 {
				t.Errorf("%s: %d rows refused, %v", name, found, err)
				_ = w.Abort()
				continue
			}
			if n, err := w.Commit(ctx, marker(l, 1)); err != nil || n != 39 {
				t.Errorf("%s: %d rows committed, %v", name, n, err)
			}
			if got := d.Ask(t, "SELECT count(*) FROM "+c.table); got != "39" {
				t.Errorf("%s: %s rows are there", name, got)
			}
		}
	}
}

// noise is text that does not compress: nothing that an index could take.
func noise(n int) string {
	var b strings.Builder
	for x := uint32(1); b.Len() < n; {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&b, "%08x", x)
	}
	return b.String()
}

// Rows of a table that refers to itself go in whatever their order, in one batch.
func TestRowsThatReferToLaterOnesGoIn(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, refusingTables)
	tg := openTest(t, configOf(d))
	for _, mode := range modes {
		l := loadOf(t, "t_self", mode, connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "p", Native: "integer", Nullable: true})
		l.Source, l.Create, l.Existing = mode, false, connectors.ExistingTruncate
		w := beginTest(t, tg, explained(l), 1)
		ctx := context.Background()
		if _, err := w.Begin(ctx, marker(l, 1)); err != nil {
			t.Fatal(err)
		}
		var bad []int32
		b := rowsOf(t, l, []string{"1", "5"}, []string{"2", "77"}, []string{"3", "2"}, []string{"4", "1"}, []string{"5", "6"}, []string{"6", "NULL"})
		if err := w.WriteEach(ctx, b, nil, func(row int32, _ *connectors.Refusal) error { bad = append(bad, row); return nil }); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(bad); !slices.Equal(bad, []int32{1, 2}) {
			t.Errorf("%s: refused rows %v, want 1 and 2", mode, bad)
		}
		if n, err := w.Commit(ctx, marker(l, 1)); err != nil || n != 4 {
			t.Errorf("%s: %d rows, %v", mode, n, err)
		}
	}
}

// Where bad rows stand close together they are told one by one, and a row that
// the encoder itself refuses is one of them.
func TestManyBadRowsAreToldApart(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	tg := openTest(t, configOf(d))
	for _, mode := range modes {
		l := loadOf(t, "many_"+mode, mode, connectors.TargetColumn{Name: "id", Native: "integer"}, connectors.TargetColumn{Name: "v", Native: "inet", Nullable: true})
		l.Key, l.Indexes = []string{"id"}, "keep"
		w := beginTest(t, tg, explained(l), 1)
		var rows [][]string
		var want []int32
		for i := range 2000 {
			row := []string{fmt.Sprint(i), "10.0.0.1"}
			switch { // good rows stand in the midst, and at the end
			case i > 900 && i < 1500:
			case i%5 == 1:
				row[0] = "0"
			case i%5 == 2:
				row[1] = "no address"
			case i%5 == 3:
				row[0] = "NULL"
			}
			if row[0] != fmt.Sprint(i) || row[1] != "10.0.0.1" {
				want = append(want, int32(i))
			}
			rows = append(rows, row)
		}
		b := rowsOf(t, l, rows...)
		ctx := context.Background()
		if _, err := w.Begin(ctx, marker(l, 1)); err != nil {
			t.Fatal(err)
		}
		var got []int32
		codes := map[string]int{}
		err := w.WriteEach(ctx, b, nil, func(row int32, why *connectors.Refusal) error {
			got = append(got, row)
			codes[why.Code]++
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %d rows refused, want %d: %v", mode, len(got), len(want), err)
		}
		if codes["23505"] == 0 || codes["22P02"] == 0 || codes[""] == 0 {
			t.Errorf("%s: refusals by code: %v", mode, codes)
		}
		if n, err := w.Commit(ctx, marker(l, 1)); err != nil || n != int64(len(rows)-len(want)) {
			t.Errorf("%s: %d rows, %v", mode, n, err)
		}
		if got := d.Ask(t, "SELECT count(*) FROM many_"+mode); got != fmt.Sprint(len(rows)-len(want)) {
			t.Errorf("%s: %s rows are there", mode, got)
		}
	}
}

func TestWhereACopyStoppedIsReadFromTheServersContext(t *testing.T) {
	for _, c := range []struct {
		where  string
		line   int
		column string
	}{
		{"COPY t, line 3", 3, ""},
		{"COPY t, line 12, column v: \"x, line 7\"", 12, "v"},
		{"PL/pgSQL function f() line 4 at RAISE\nCOPY t, line 2", 2, ""},
		{"SQL statement \"SELECT 1, line 5\"\nPL/pgSQL function f() line 4 at SQL statement", 0, ""},
		{"", 0, ""},
		{"COPY t", 0, ""},
		{"COPY t, line x", 0, ""},
	} {
		if line, column := lineOf(c.where), columnOf(c.where); line != c.line || column != c.column {
			t.Errorf("%q: line %d, column %q; want %d, %q", c.where, line, column, c.line, c.column)
		}
	}
}

// BenchmarkChunkWithBadRows is a chunk of 100,000 rows of big_table with its key
// in place, of which some have a key that is there.
func BenchmarkChunkWithBadRows(b *testing.B) {
	const rows, size = 100_000, 8192
	for _, mode := range modes {
		for _, percent := range []int{0, 1, 50, 100} {
			b.Run(fmt.Sprintf("%s/%d%%", mode, percent), func(b *testing.B) {
				d := postgrestest.Shared(b).Database(b)
				tg := openTest(b, configOf(d))
				l, made := presetLoad(b, "big_table", mode)
				l.Indexes = "keep"
				w := beginTest(b, tg, explained(l), 1)
				b.ReportAllocs()
				for b.Loop() {
					ctx := context.Background()
					if _, err := w.Begin(ctx, marker(l, 1)); err != nil {
						b.Fatal(err)
					}
					bad, want := 0, 0
					for from := 0; from < rows; from += size {
						n := min(size, rows-from)
						chunk := presetBatch(made, int64(from+1), n)
						for i := range n {
							if (from+i)*37%100 < percent {
								want++
								chunk.Columns[0].Ints[i] = 1
							}
						}
						if err := w.WriteEach(ctx, chunk, nil, func(int32, *connectors.Refusal) error { bad++; return nil }); err != nil {
							b.Fatal(err)
						}
						chunk.Release()
					}
					if percent > 0 && bad < want-1 || percent == 0 && bad > 0 {
						b.Fatalf("%d bad rows, want %d", bad, want)
					}
					_ = w.Abort()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/rows, "us/row")
			})
		}
	}
}
