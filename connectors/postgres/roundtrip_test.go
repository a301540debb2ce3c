package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
)

// leg is one copy of all tables of one endpoint into another.
type leg struct {
	from, to string // an endpoint's kind and block
	more     string // of the pipeline
	tables   string
	dir      string
}

// compile plans a leg with both ends as they are.
func (l leg) compile(t testing.TB) (*plan.Plan, string) {
	t.Helper()
	kind := func(s string) (string, string) { k, b, _ := strings.Cut(s, " "); return k, b }
	sk, sb := kind(l.from)
	tk, tb := kind(l.to)
	spec := fmt.Sprintf("penstock { spec = 1 }\nsource %q \"s\" {\n %s\n}\ntarget %q \"d\" {\n %s\n}\npipeline \"p\" {\n from = source.s\n to = target.d\n workers = 2\n %s\n %s\n}\n", sk, sb, tk, tb, l.more, l.tables)
	reg := registry()
	parsed, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, l.dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, spec)
	}
	o := planner.Options{Catalogs: map[string]*schema.Catalog{}}
	for id, k := range map[string]string{"source.s": l.from, "target.d": l.to} {
		if d := l.database(k); d != nil {
			o.Catalogs[id] = catalogOf(t, d)
		}
	}
	p, found := planner.Compile(t.Context(), parsed, reg, o)
	if p == nil {
		return nil, found[0].Summary + ": " + found[0].Detail
	}
	return p, ""
}

// database finds the database that a block names; nil for another kind.
func (l leg) database(block string) *postgrestest.Database {
	_, name, ok := strings.Cut(block, `database = "`)
	if !ok {
		return nil
	}
	name, _, _ = strings.Cut(name, `"`)
	return &postgrestest.Database{Name: name}
}

func (l leg) run(t testing.TB) *runtime.Results {
	t.Helper()
	p, problem := l.compile(t)
	if p == nil {
		t.Fatal(problem)
	}
	res := runtime.Run(t.Context(), p, runtime.Options{Registry: registry(), Dir: l.dir, Backoff: runtime.Backoff{Attempts: 3, First: time.Millisecond}})
	if res.Exit != 0 && res.Exit != runtime.ExitFindings {
		t.Fatalf("%s -> %s: exit %d: %+v", l.from, l.to, res.Exit, res.Pipelines[0].Error)
	}
	return res
}

func catalogOf(t testing.TB, d *postgrestest.Database) *schema.Catalog {
	t.Helper()
	d.Server = postgrestest.Shared(t)
	src, err := openSource(t.Context(), sourceOf(d), connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	cat, err := src.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// named types of the round trip, in every database of it.
const ownTypes = `CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE EXTENSION ltree;
CREATE TYPE mood AS ENUM ('sad', 'it''s "ok", \fine', '', 'ä 😀');
CREATE DOMAIN positive AS numeric(12,3) CHECK (value >= 0 OR value = 'NaN'); CREATE DOMAIN label AS varchar(10); CREATE DOMAIN nested AS label;
CREATE TYPE pair AS (a integer, "B c" text, m mood); CREATE TYPE floatrange AS RANGE (subtype = float8);`

// trip copies tables of every type through a chain of ends and compares what
// has become of them.
type trip struct {
	t      *testing.T
	from   *postgrestest.Database
	kinds  []typeValues
	tables [][]int // the types of each table's columns
	way    string  // the kind of end in between; "" = none
}

// valuesEach is how many values of each type are tried, its edges first.
const valuesEach = 24

func newTrip(t *testing.T, seed int) *trip {
	r := &trip{t: t, from: postgrestest.Shared(t).Database(t), kinds: typesOfPostgres()}
	r.deal()
	r.schema(r.from)
	for i, columns := range r.tables {
		var sql strings.Builder
		fmt.Fprintf(&sql, "INSERT INTO %s (%s) VALUES (%s)", tableOf(i), r.columns(i, "%s"), strings.TrimPrefix(strings.Repeat(", NULL", len(columns)), ", "))
		for n := range valuesEach {
			var row []string
			for _, c := range columns {
				v := r.kinds[c].gen.Example(seed*valuesEach + n)
				if n < len(r.kinds[c].edges) {
					v = r.kinds[c].edges[n]
				}
				row = append(row, literal(v))
			}
			fmt.Fprintf(&sql, ", (%s)", strings.Join(row, ", "))
		}
		r.from.Exec(t, sql.String())
	}
	return r
}

// deal puts types into tables: those of which some values are left out on a way
// by themselves, the others beside such as travel as they do.
func (r *trip) deal() {
	var binary, text []int
	for i, k := range r.kinds {
		switch {
		case k.left != nil || strings.HasPrefix(k.native, "timestamp"):
			r.tables = append(r.tables, []int{i})
		case wireOf(k.native).form == formNone:
			text = append(text, i)
		default:
			binary = append(binary, i)
		}
	}
	for _, group := range [][]int{binary, text} {
		r.tables = slices.AppendSeq(r.tables, slices.Chunk(group, 14))
	}
}

func tableOf(i int) string { return fmt.Sprintf("t%02d", i) }

// columns lists those of a table, each in a form.
func (r *trip) columns(table int, form string) string {
	var out []string
	for _, c := range r.tables[table] {
		out = append(out, fmt.Sprintf(form, fmt.Sprintf("v%02d", c)))
	}
	return strings.Join(out, ", ")
}

// schema makes the types and the tables.
func (r *trip) schema(d *postgrestest.Database) {
	var sql strings.Builder
	sql.WriteString(ownTypes)
	for i, columns := range r.tables {
		fmt.Fprintf(&sql, "CREATE TABLE %s (n serial PRIMARY KEY", tableOf(i))
		for _, c := range columns {
			fmt.Fprintf(&sql, ", v%02d %s", c, r.kinds[c].native)
		}
		sql.WriteString(");\n")
	}
	d.Exec(r.t, sql.String())
}

// rows are a table's values by n, each as the server writes it, with padding.
func (r *trip) rows(d *postgrestest.Database, i int) map[string][]string {
	out := map[string][]string{}
	for _, v := range d.Query(r.t, "SET TimeZone = 'UTC'; SELECT n, "+r.columns(i, "ROW(%s)::text")+" FROM "+tableOf(i)) {
		for _, c := range v[1:] {
			out[string(v[0])] = append(out[string(v[0])], string(c))
		}
	}
	return out
}

// same compares the tables of the end with those of the beginning: rows of which
// left says that they have no place on the way must be missing, all others there.
func (r *trip) same(to *postgrestest.Database, left func(k typeValues, value string) bool) (missing int) {
	r.t.Helper()
	for i, columns := range r.tables {
		got, want := r.rows(to, i), r.rows(r.from, i)
		for n, row := range want {
			for c, w := range row {
				k := r.kinds[columns[c]]
				if r.way == "sqlite" && (k.native == "real" || k.native == "double precision") && w == "(-0)" {
					w = "(0)" // a file of SQLite has one zero
				}
				switch out := left != nil && left(k, w); {
				case out && got[n] == nil:
					missing++
				case out:
					r.t.Errorf("%s: %.200s has no place on the way and came as %.200s", k.native, w, got[n][c])
				case got[n] == nil:
					r.t.Errorf("%s: %.200s is missing", k.native, w)
				case got[n][c] != w:
					r.t.Errorf("%s: got %.200s\nwant %.200s", k.native, got[n][c], w)
				}
			}
		}
		if len(got) > len(want) {
			r.t.Errorf("%s has %d rows, want %d", tableOf(i), len(got), len(want))
		}
	}
	return missing
}

// late are timestamps of which no batch has the microseconds.
func late(k typeValues, row string) bool {
	if !strings.HasPrefix(k.native, "timestamp") || strings.HasSuffix(k.native, "]") {
		return false
	}
	v := strings.Trim(row, `()"`)
	year, _, _ := strings.Cut(v, "-")
	return len(year) == 6 && year > "294246" && !strings.HasSuffix(v, "BC")
}

func seedOf(t *testing.T) int {
	seed := int(time.Now().UnixNano() & 0xffffff)
	t.Logf("seed %d", seed)
	return seed
}

// Every value of every type arrives as it was, passed on undecoded.
func TestRoundTripOfEveryTypePassedOn(t *testing.T) {
	r := newTrip(t, seedOf(t))
	to := postgrestest.Shared(t).Database(t)
	r.schema(to)
	leg{from: "postgres " + blockOf(r.from), to: "postgres " + blockOf(to), tables: `table "t*" {}`, dir: t.TempDir()}.run(t)
	r.same(to, nil)
}

// Decoded and encoded again, every value but times that no batch has arrives.
func TestRoundTripOfEveryTypeDecoded(t *testing.T) {
	r := newTrip(t, seedOf(t))
	to := postgrestest.Shared(t).Database(t)
	r.schema(to)
	leg{from: "postgres " + blockOf(r.from), to: "postgres " + blockOf(to), more: `bad_rows { action = "discard" }`, tables: `table "t*" {}`, dir: t.TempDir()}.run(t)
	if r.same(to, late) == 0 {
		t.Error("no time past all was tried")
	}
}

// The same through an SQLite file and through files of text, and back.
func TestRoundTripOfEveryTypeThroughOtherEnds(t *testing.T) {
	for _, way := range []struct{ name, target string }{{"sqlite", "sqlite path = \"way.db\""}, {"delimited", "delimited path = \"way\""}} {
		t.Run(way.name, func(t *testing.T) {
			r := newTrip(t, seedOf(t))
			r.way = way.name
			to := postgrestest.Shared(t).Database(t)
			r.schema(to)
			dir := t.TempDir()
			aside := `bad_rows { action = "discard" }`
			out := leg{from: "postgres " + blockOf(r.from), to: way.target, more: aside, tables: `table "t*" {}`, dir: dir}
			out.run(t)
			back := leg{from: way.target, to: "postgres " + blockOf(to), more: aside, tables: r.wanted(), dir: dir}
			if way.name == "delimited" {
				back.from = "delimited " + r.files(out)
			}
			back.run(t)
			r.same(to, func(k typeValues, row string) bool {
				return late(k, row) || k.left[way.name] != nil && k.left[way.name](row)
			})
		})
	}
}

// wanted names the tables, and that a jsonb may keep less than a json, which is
// what it has become on the way.
func (r *trip) wanted() string {
	var b strings.Builder
	for i, columns := range r.tables {
		fmt.Fprintf(&b, "table %q {\n", tableOf(i))
		for _, c := range columns {
			if r.kinds[c].native == "jsonb" {
				fmt.Fprintf(&b, " column \"v%02d\" { accept_loss = true }\n", c)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// files describes to a source what the leg has written.
func (r *trip) files(out leg) string {
	p, problem := out.compile(r.t)
	if p == nil {
		r.t.Fatal(problem)
	}
	var b strings.Builder
	for _, table := range p.Pipelines[0].Tables {
		fmt.Fprintf(&b, "table %q {\n path = \"way/%s-*.csv\"\n key = [\"n\"]\n", table.Target.Name, table.Target.Name)
		for _, c := range table.Columns {
			fmt.Fprintf(&b, " column %q { type = %q }\n", c.Name, c.Native)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// Names of all kinds, columns that were dropped and added, computed and numbered
// ones, and tables with no row or no column at all.
const oddTables = `CREATE SCHEMA "Ü ""x"" y"; CREATE TABLE "Ü ""x"" y"."select" ("from" integer PRIMARY KEY, "Order Id" text, "a""b" text, "tab	name" text, "%s $1 :lo ${x}" text, "äöü😀" text);
INSERT INTO "Ü ""x"" y"."select" VALUES (1, 'a', 'b', 'c', 'd', 'e'), (2, NULL, '', ' ', E'\\', '😀');
CREATE TABLE "UPPER" ("ID" integer PRIMARY KEY, id text); INSERT INTO "UPPER" VALUES (1, 'lower');
CREATE TABLE abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk (abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk integer);
INSERT INTO abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk VALUES (63);
CREATE TABLE changed (a integer, gone text, b text); INSERT INTO changed VALUES (1, 'x', 'y'); ALTER TABLE changed DROP gone; ALTER TABLE changed ADD c date DEFAULT '2026-01-01', ADD d text; INSERT INTO changed VALUES (2, 'z', NULL, 'd');
CREATE TABLE numbered (i integer GENERATED ALWAYS AS IDENTITY, s bigserial, twice integer GENERATED ALWAYS AS (i * 2) STORED, v text); INSERT INTO numbered (v) SELECT 'v' FROM generate_series(1, 5);
CREATE TABLE empty (id integer PRIMARY KEY, v text[]);`

func TestRoundTripOfOddTables(t *testing.T) {
	from := postgrestest.Shared(t).Database(t)
	from.Exec(t, oddTables)
	for _, filter := range []string{"", "1 == 1"} {
		to := postgrestest.Shared(t).Database(t)
		to.Exec(t, `CREATE SCHEMA "Ü ""x"" y"`)
		rule := ""
		if filter != "" {
			rule = fmt.Sprintf("filter = %q", filter)
		}
		leg{from: "postgres " + blockOf(from), to: "postgres " + blockOf(to) + "\nnames = \"keep\"", dir: t.TempDir(), tables: `
table "*" { ` + rule + ` }
table "*.*" { ` + rule + ` }`}.run(t)
		for _, name := range []string{`"Ü ""x"" y"."select"`, `"UPPER"`, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk", "changed", "numbered", "empty"} {
			if got, want := content(t, to, name), content(t, from, name); got != want {
				t.Errorf("filter %q, %s:\n got %s\nwant %s", filter, name, got, want)
			}
		}
	}
}

// What can't go is refused when it is planned, by the column's name.
func TestTypesThatDoNotGoAreRefusedByName(t *testing.T) {
	from := postgrestest.Shared(t).Database(t)
	from.Exec(t, "CREATE TABLE t (id integer PRIMARY KEY, oddly_named bytea, span timestamptz, none boolean); CREATE TABLE bare ()")
	for _, c := range []struct{ tables, want string }{
		{"table \"t\" {\ncolumn \"oddly_named\" { type = \"date\" }\n}", "oddly_named"},
		{"table \"t\" {\ncolumn \"span\" { type = \"time\" }\n}", "span"},
		{"table \"t\" {\ncolumn \"none\" { type = \"double precision\" }\n}", "none"},
		{"table \"t\" {\ncolumn \"id\" { type = \"no such type\" }\n}", "no such type"},
		{`table "bare" {}`, "bare has no columns"},
	} {
		for _, to := range []string{"postgres " + blockOf(postgrestest.Shared(t).Database(t)), "delimited path = \"out\""} {
			p, problem := leg{from: "postgres " + blockOf(from), to: to, tables: c.tables, dir: t.TempDir()}.compile(t)
			if p != nil || !strings.Contains(problem, c.want) {
				t.Errorf("%s: got %q, want a refusal that names %s", c.tables, problem, c.want)
			}
		}
	}
}
