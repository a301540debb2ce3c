package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/delimited"
	"penstock/connectors/postgres/postgrestest"
	"penstock/connectors/sqlite"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
)

// copying is a spec from one database into another, which is run whole.
type copying struct {
	t      testing.TB
	from   *postgrestest.Database
	to     string // the target's block, without its name
	more   string // of the pipeline
	tables string // the pipeline's table blocks
	dir    string
}

func blockOf(d *postgrestest.Database) string {
	return fmt.Sprintf("host = %q\n database = %q\n user = %q", d.Socket, d.Name, postgrestest.User)
}

func registry() *connectors.Registry {
	return connectors.NewRegistry(Definition(), sqlite.Definition(), delimited.Definition())
}

// compile plans it from the source's catalog as it is.
func (c *copying) compile() (*plan.Plan, string) {
	c.t.Helper()
	if c.dir == "" {
		c.dir = c.t.TempDir()
	}
	kind, block, _ := strings.Cut(c.to, " ")
	spec := fmt.Sprintf("penstock { spec = 1 }\nsource \"postgres\" \"s\" {\n %s\n}\ntarget %q \"d\" {\n %s\n}\npipeline \"p\" {\n from = source.s\n to = target.d\n %s\n %s\n}\n", blockOf(c.from), kind, block, c.more, c.tables)
	reg := registry()
	parsed, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, c.dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		c.t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, spec)
	}
	src, err := openSource(c.t.Context(), sourceOf(c.from), connectors.Env{Pipeline: "p"})
	if err != nil {
		c.t.Fatal(err)
	}
	cat, err := src.Catalog(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	o := planner.Options{Catalogs: map[string]*schema.Catalog{"source.s": cat}}
	p, found := planner.Compile(c.t.Context(), parsed, reg, o)
	if p == nil {
		return nil, found[0].Summary + ": " + found[0].Detail
	}
	return p, ""
}

func (c *copying) run() (*plan.Plan, *runtime.Results) {
	c.t.Helper()
	p, problem := c.compile()
	if p == nil {
		c.t.Fatal(problem)
	}
	return p, c.carryOut(p)
}

func (c *copying) carryOut(p *plan.Plan) *runtime.Results {
	return runtime.Run(c.t.Context(), p, runtime.Options{Registry: registry(), Dir: c.dir, Backoff: runtime.Backoff{Attempts: 8, First: time.Millisecond, Max: 10 * time.Millisecond}})
}

func (c *copying) loaded() (*plan.Plan, *runtime.Results) {
	c.t.Helper()
	p, res := c.run()
	if res.Exit != 0 {
		c.t.Fatalf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
	}
	return p, res
}

// content is the rows of a table in the server's own text, in their order.
func content(t testing.TB, d *postgrestest.Database, table string) string {
	t.Helper()
	return d.Ask(t, "SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM "+table+" AS t")
}

// columnsOf are the columns of a table with their types.
func columnsOf(t testing.TB, d *postgrestest.Database, table string) string {
	t.Helper()
	return d.Ask(t, "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '"+table+"'::regclass AND attnum > 0 AND NOT attisdropped")
}

// fillTypes makes a table a type, with the values that an edge has.
func fillTypes(t testing.TB, d *postgrestest.Database) {
	t.Helper()
	var sql strings.Builder
	for i, c := range everyType {
		fmt.Fprintf(&sql, "CREATE TABLE t%d (n serial PRIMARY KEY, v %s);\n", i, c.native)
		for _, v := range splitValues(c.values) {
			fmt.Fprintf(&sql, "INSERT INTO t%d (v) VALUES ((%s)::%s);\n", i, v, c.native)
		}
	}
	sql.WriteString(`INSERT INTO t` + number2(typeNumber("date")) + ` (v) VALUES ('infinity'), ('-infinity');
INSERT INTO t` + number2(typeNumber("timestamp")) + ` (v) VALUES ('infinity'), ('-infinity'), ('294276-12-31 23:59:59.999999');
INSERT INTO t` + number2(typeNumber("numeric(38,37)")) + ` (v) VALUES ('NaN');`)
	d.Exec(t, sql.String())
}

func number2(n int) string { return fmt.Sprint(n) }

func typeNumber(native string) int {
	for i, c := range everyType {
		if c.native == native {
			return i
		}
	}
	panic(native)
}

func TestEveryTypeArrivesAsItWas(t *testing.T) {
	from, to := postgrestest.Shared(t).Database(t), postgrestest.Shared(t).Database(t)
	fillTypes(t, from)
	c := &copying{t: t, from: from, to: "postgres " + blockOf(to), more: "workers = 2", tables: `table "t*" {}`}
	p, _ := c.loaded()
	for i, typ := range everyType {
		name := fmt.Sprintf("t%d", i)
		if got, want := content(t, to, name), content(t, from, name); got != want {
			t.Errorf("%s: got %.300s\nwant %.300s", typ.native, got, want)
		}
		var table *plan.Table
		for k := range p.Pipelines[0].Tables {
			if p.Pipelines[0].Tables[k].Source.Name == name {
				table = &p.Pipelines[0].Tables[k]
			}
		}
		if typ.native == "regclass" { // of another database it would mean another table
			if table.Encoded || !strings.HasSuffix(columnsOf(t, to, name), "v text") {
				t.Errorf("regclass: passed on %v, as %s", table.Encoded, columnsOf(t, to, name))
			}
			continue
		}
		if table.Encoded == slices.Contains(unread, typ.native) {
			t.Errorf("%s is decoded: %s", typ.native, table.Decoded)
		}
		if got, want := columnsOf(t, to, name), columnsOf(t, from, name); got != want {
			t.Errorf("%s: the columns are %s, want %s", typ.native, got, want)
		}
	}
}

// A filter has rows decoded and encoded again, by COPY and by the other modes.
func TestEveryTypeArrivesDecoded(t *testing.T) {
	for _, mode := range []string{"copy", "array", "row"} {
		t.Run(mode, func(t *testing.T) {
			from, to := postgrestest.Shared(t).Database(t), postgrestest.Shared(t).Database(t)
			fillTypes(t, from)
			from.Exec(t, fmt.Sprintf("DELETE FROM t%d WHERE v > '294246-12-31 23:59:59' AND v <> 'infinity'", typeNumber("timestamp")))
			c := &copying{t: t, from: from, to: "postgres " + blockOf(to), more: "workers = 2", tables: `table "t*" {
  filter = "n > 0"
  apply { mode = "` + mode + `" }
}`}
			p, _ := c.loaded()
			for i, typ := range everyType {
				name := fmt.Sprintf("t%d", i)
				if got, want := content(t, to, name), content(t, from, name); got != want {
					t.Errorf("%s: got %.300s\nwant %.300s", typ.native, got, want)
				}
			}
			for _, table := range p.Pipelines[0].Tables {
				if table.Encoded || table.Decoded == "" {
					t.Errorf("%s: passed on %v, decoded since %q", table.Source, table.Encoded, table.Decoded)
				}
			}
		})
	}
}

// A row that the target refuses stops the run by the server's own words, also
// where nobody has decoded it.
func TestRowPassedOnThatIsRefusedStopsTheRun(t *testing.T) {
	from, to := postgrestest.Shared(t).Database(t), postgrestest.Shared(t).Database(t)
	from.Exec(t, "CREATE TABLE t (id integer NOT NULL, v text); INSERT INTO t SELECT i % 999, 'v' FROM generate_series(0, 999) i")
	to.Exec(t, "CREATE TABLE t (id integer PRIMARY KEY, v text)")
	c := &copying{t: t, from: from, to: "postgres " + blockOf(to), tables: `table "t" {}`}
	p, res := c.run()
	if !p.Pipelines[0].Tables[0].Encoded {
		t.Fatalf("decoded: %s", p.Pipelines[0].Tables[0].Decoded)
	}
	if e := res.Pipelines[0].Error; res.Exit != 1 || e == nil || e.Class != "data" || !strings.Contains(e.Message, "(id)=(0)") {
		t.Errorf("exit %d, %+v; want 1 and the key", res.Exit, e)
	}
}
