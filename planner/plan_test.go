package planner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
)

func orders() schema.Table {
	return made("APP.ORDERS", "ID! bigint", "CUSTOMER bigint?", "STATUS text(10)", "AMOUNT number(12,2)?", "PLACED timestamp")
}

const toDB = "from = source.db\n to = target.db\n"

func pipe(body string) string { return "pipeline \"p\" {\n" + toDB + body + "\n}\n" }

func TestNamesAreFoldedOnTheWay(t *testing.T) {
	source := catalogOf(orders())
	for _, c := range []struct{ body, want string }{
		{`table "APP.ORDERS" {}`, "app.orders"},
		{`table "app.orders" {}`, "app.orders"},
		{`table "APP.ORDERS" { to = "Sales.Orders" }`, "Sales.Orders"},
		{`table "APP.ORDERS" { to = "x.${table.name}" }`, "x.orders"},
		{`table "APP.ORDERS" { to = "${upper(table.schema)}.${table.name}" }`, "APP.orders"},
	} {
		if got := good(t, pipe(c.body), source, nil).Tables[0].Target.String(); got != c.want {
			t.Errorf("%s: got target %s, want %s", c.body, got, c.want)
		}
	}
}

func TestAnExactNameBeatsAPattern(t *testing.T) {
	p := good(t, pipe(`
  table "APP.*" { key = ["ID"] }
  table "APP.B" { filter = "ID > 1" }`), catalogOf(made("APP.A", "ID bigint"), made("APP.B", "ID bigint"), made("APP.C", "ID bigint"), made("OTHER.B", "ID bigint")), nil)
	got := ""
	for _, x := range p.Tables {
		got += x.Source.String() + " " + x.Filter + ";"
	}
	if want := "APP.A ;APP.C ;APP.B ID > 1;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTablesOfAPatternComeInNaturalOrder(t *testing.T) {
	p := good(t, pipe(`table "A.T*" {}`), catalogOf(made("A.T10", "id! int"), made("A.T2", "id! int"), made("A.T1", "id! int")), nil)
	var got []string
	for _, x := range p.Tables {
		got = append(got, x.Source.Name)
	}
	if fmt.Sprint(got) != "[T1 T2 T10]" {
		t.Errorf("got %v, want T1 T2 T10", got)
	}
}

func TestColumnsAreDroppedRenamedComputedAndAdded(t *testing.T) {
	p := good(t, pipe(`table "APP.ORDERS" {
    filter = "STATUS != 'X'"
    column "CUSTOMER" { drop = true }
    column "AMOUNT" { to = "total" }
    column "PLACED" { value = "'later'" }
    column "double" { value = "AMOUNT + AMOUNT" }
  }`), catalogOf(orders()), nil)
	x := p.Tables[0]
	var got []string
	for _, c := range x.Columns {
		got = append(got, fmt.Sprintf("%s %s<%s%s", c.Name, c.Native, c.Source, c.Value))
	}
	want := "[id bigint<ID status text(10)<STATUS total number(12,2)<AMOUNT placed text"
	if !strings.HasPrefix(fmt.Sprint(got), want) || len(got) != 5 {
		t.Errorf("got  %v\nwant %s ...", got, want)
	}
	var read []string
	for _, r := range x.Read {
		read = append(read, r.Name)
	}
	if fmt.Sprint(read) != "[ID STATUS AMOUNT]" {
		t.Errorf("got read %v: only columns that something needs are read", read)
	}
	if fmt.Sprint(x.Dropped) != "[CUSTOMER]" || fmt.Sprint(x.Key) != "[id]" {
		t.Errorf("got dropped %v, key %v", x.Dropped, x.Key)
	}
}

func TestAnExistingTableIsMatchedColumnByColumn(t *testing.T) {
	dst := made("app.orders", "id! int", "customer bigint", "status text?", "Amount number(12,2)?", "placed timestamp?", "loaded timestamp?")
	p := good(t, pipe(`table "APP.ORDERS" {}`), catalogOf(orders()), catalogOf(dst))
	x := p.Tables[0]
	if x.Create || x.Apply.Indexes != "keep" {
		t.Errorf("got create %v, indexes %s: the table is there", x.Create, x.Apply.Indexes)
	}
	got := ""
	for _, c := range x.Columns {
		got += c.Name + " " + c.Decision + "; "
	}
	if want := "id checked; customer checked; status exact; Amount exact; placed exact; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !strings.Contains(x.Columns[1].Reason, "NULL is refused") {
		t.Errorf("got reason %q for a column that may be NULL into one that may not", x.Columns[1].Reason)
	}
}

func TestNotCarriedIsListedAndCarryShortensIt(t *testing.T) {
	x := orders()
	x.Columns[0].Identity = true
	x.Columns[2].Default, x.Columns[2].Comment = "'N'", "state of it"
	x.Indexes = []schema.Index{{Name: "I1", Columns: []string{"STATUS"}}}
	x.ForeignKeys = []schema.ForeignKey{{Name: "F1", Columns: []string{"CUSTOMER"}, References: schema.Name{Schema: "APP", Name: "CUSTOMERS"}}}
	got := good(t, pipe(`table "APP.ORDERS" {}`), catalogOf(x), nil).Tables[0].NotCarried
	want := []string{"index I1 (STATUS)", "foreign key F1 (CUSTOMER) to APP.CUSTOMERS", "numbering of ID", "default of STATUS", "comment on STATUS"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = good(t, pipe(`table "APP.ORDERS" { carry = ["indexes"] }`), catalogOf(x), nil).Tables[0].NotCarried
	if fmt.Sprint(got) != fmt.Sprint(want[1:]) {
		t.Errorf("with carry: got  %q\nwant %q", got, want[1:])
	}
}

func TestSplitFollowsTheSourceUnlessTheSpecSays(t *testing.T) {
	source := catalogOf(orders(), made("APP.LOG", "AT timestamp", "N bigint"))
	view := orders()
	view.Name.Name, view.View, view.PrimaryKey = "V", true, nil
	source.Tables = append(source.Tables, view)
	for _, c := range []struct {
		body, by string
		kind     connectors.SplitKind
		scan     connectors.SplitKind
		count    int
		auto     bool
	}{
		{`table "APP.ORDERS" {}`, "[]", connectors.SplitBlocks, "", 8, true},
		{`table "APP.ORDERS" { range { count = 3 } }`, "[]", connectors.SplitBlocks, "", 3, false},
		{`table "APP.ORDERS" { range { split = "key" } }`, "[ID]", connectors.SplitKey, "", 8, true},
		{`table "APP.ORDERS" { range { by = ["PLACED"] } }`, "[PLACED]", connectors.SplitKey, "", 8, true},
		{`table "APP.ORDERS" { range { split = "hash" } }`, "[ID]", connectors.SplitHash, connectors.SplitBlocks, 8, true},
		{`table "APP.LOG" { range { by = ["n"] } }`, "[N]", connectors.SplitHash, connectors.SplitBlocks, 8, true},
		{`table "APP.ORDERS" { range { split = "none" } }`, "[]", connectors.SplitNone, "", 1, false},
		{`table "APP.V" {}`, "[]", connectors.SplitNone, "", 1, false},
	} {
		r := good(t, pipe(strings.ReplaceAll(strings.ReplaceAll(c.body, "{ range", "{\n range"), "} }", "}\n}")), source, nil).Tables[0].Range
		if r.Split != c.kind || r.Scan != c.scan || r.Count != c.count || r.Auto != c.auto || fmt.Sprint(r.By) != c.by {
			t.Errorf("%s: got %+v, want %+v", c.body, r, c)
		}
	}
}

func TestChunksAreCountedByRange(t *testing.T) {
	x := orders()
	for _, c := range []struct {
		rows int64
		body string
		want int64
	}{
		{1_000_000, "count = 8", 16}, // 125,000 rows a range are two chunks
		{800_000, "count = 8", 8},
		{3, "count = 8", 3},
		{0, "count = 8", 1},
		{250_000, "count = 4\n split = \"hash\"", 12}, // three stretches, each dealt to four
		{250_000, "split = \"none\"", 1},
	} {
		x.Stats = &schema.Statistics{Rows: c.rows}
		p := good(t, pipe("memory = \"4GiB\"\n table \"APP.ORDERS\" {\n range {\n"+c.body+"\n}\n}"), catalogOf(x), nil)
		if got := p.Tables[0].Estimates.Chunks; got != c.want {
			t.Errorf("%d rows, %s: got %d chunks of %d rows, want %d", c.rows, c.body, got, p.Tables[0].Chunk.Rows, c.want)
		}
	}
}

func TestAHashSplitReadsItsColumns(t *testing.T) {
	x := good(t, pipe(`table "APP.ORDERS" {
    key = ["STATUS"]
    column "ID" { drop = true }
    range { 
      by    = ["ID"]
      split = "hash"
    }
  }`), catalogOf(orders()), nil).Tables[0]
	if x.Read[0].Name != "ID" || x.Columns[0].Source == "ID" {
		t.Errorf("got read %v, columns %v: ID is read for its hash and not carried", x.Read, x.Columns)
	}
	if s := x.SourceSplit(); s.Kind != connectors.SplitBlocks || s.Count != 1 || s.By != nil {
		t.Errorf("got %+v for the source: it is one scan", s)
	}
}

func TestChunksFitTheirShareOfMemory(t *testing.T) {
	wide := made("APP.W", "ID! bigint", "A char(4000)")
	for _, c := range []struct {
		settings string
		want     int64
	}{
		{"", 1393}, // 96 MiB / 18 / 4,012 bytes
		{"memory = \"8GiB\"", 100_000},
		{"workers = 1\n memory = \"1MiB\"", 65},
	} {
		x := good(t, pipe(c.settings+"\n table \"APP.W\" {}"), catalogOf(wide), nil)
		if got := x.Tables[0].Chunk.Rows; got != c.want {
			t.Errorf("%q: got %d rows of %d bytes in %d bytes, want %d", c.settings, got, x.Tables[0].Chunk.RowBytes, x.Resources.SlotBytes, c.want)
		}
		if r := x.Resources; r.MemoryBound > x.Memory || r.Slots != 2*x.Workers+2 {
			t.Errorf("%q: got %+v for %d bytes", c.settings, r, x.Memory)
		}
	}
}

func TestStagesWaitForTheirOwnTableOnly(t *testing.T) {
	p := good(t, pipe(`before_load = ["SET x"]
  after_load = ["ANALYZE"]
  table "A.*" {}`), catalogOf(made("A.T1", "id! int"), made("A.T2", "id! int")), nil)
	got := ""
	for _, s := range p.Stages {
		got += fmt.Sprintf("%s %s after %v with %v\n", s.Kind, s.ID, s.After, s.With)
	}
	want := `prepare before_load after [] with []
prepare prepare A.T1 after [before_load] with []
prepare prepare A.T2 after [before_load] with []
extract extract A.T1 after [prepare A.T1] with [apply]
extract extract A.T2 after [prepare A.T2] with [apply]
apply apply after [before_load] with [extract A.T1 extract A.T2]
finish finish A.T1 after [extract A.T1] with []
finish finish A.T2 after [extract A.T2] with []
finish after_load after [finish A.T1 finish A.T2] with []
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	l := p.Finder().Load(&p.Tables[0])
	if l.Insert != "COPY a.t1" || fmt.Sprint(l.Prepare, l.Finish) != "[CREATE TABLE a.t1] [ANALYZE a.t1]" || l.Digest != p.Tables[0].Digest || l.Source != "A.T1" {
		t.Errorf("got load %+v", l)
	}
}

func TestAStreamHasLanesAndALogStage(t *testing.T) {
	for _, c := range []struct {
		settings     string
		lanes, stage int
	}{
		{`mode = "cdc"`, 8, 4},
		{"mode = \"cdc\"\n workers = 3", 3, 4},
		{"mode = \"cdc\"\n order = \"commit\"", 1, 4},
		{"mode = \"cdc\"\n order = \"table\"", 1, 4},
		{`mode = "snapshot+cdc"`, 8, 7},
	} {
		p := good(t, pipe(c.settings+"\n table \"APP.ORDERS\" {}"), catalogOf(orders()), nil)
		last := p.Stages[len(p.Stages)-1]
		if last.Lanes != c.lanes || len(p.Stages) != c.stage || !last.NotBuilt {
			t.Errorf("%s: got %d lanes in %d stages, want %d in %d", c.settings, last.Lanes, len(p.Stages), c.lanes, c.stage)
		}
		if p.Tables[0].Commit == nil || p.Tables[0].Commit.Rows != 1000 {
			t.Errorf("%s: got commit %+v, want the target's default", c.settings, p.Tables[0].Commit)
		}
	}
}

func TestOnlySelectsWholePipelines(t *testing.T) {
	source := catalogOf(made("A.T1", "id! int"), made("A.T2", "id! int"))
	body := strings.ReplaceAll(pipe(`table "A.*" {}`), `"p"`, `"one"`) + strings.ReplaceAll(pipe("table \"A.*\" { to = \"two.${table.name}\" }"), `"p"`, `"two"`)
	for _, c := range []struct{ only, want string }{
		{"", "one.A.T1 one.A.T2 two.A.T1 two.A.T2 "},
		{"two", "two.A.T1 two.A.T2 "},
		{"one.A.T2", "one.A.T1 one.A.T2 "},
		{"one.A.T1,two", "one.A.T1 one.A.T2 two.A.T1 two.A.T2 "},
		{"three", ""},
		{"two,three", ""},
	} {
		spec, _ := lang.Parse(map[string][]byte{"spec.hcl": []byte("penstock { spec = 1 }\nsource \"db\" \"db\" { host = \"a\" }\ntarget \"db\" \"db\" { host = \"b\" }\n" + body)}, ".", lang.Options{Connectors: planner.Connectors(registry())})
		o := planner.Options{Catalogs: map[string]*schema.Catalog{"source.db": source}}
		if c.only != "" {
			o.Only = strings.Split(c.only, ",")
		}
		p, l := planner.Compile(t.Context(), spec, registry(), o)
		got := ""
		if p != nil {
			for _, x := range p.Pipelines {
				for _, y := range x.Tables {
					got += x.Name + "." + y.Source.String() + " "
				}
			}
		}
		if got != c.want || (p == nil) != l.HasErrors() {
			t.Errorf("only %q: got %q, want %q (%v)", c.only, got, c.want, l)
		}
	}
}

func TestDigestIsOfWhatDecidesRowsOnly(t *testing.T) {
	source := catalogOf(orders())
	base := good(t, pipe(`table "APP.ORDERS" {}`), source, nil).Tables[0].Digest
	stats := catalogOf(orders())
	stats.Tables[0].Stats = &schema.Statistics{Rows: 5}
	for _, body := range []string{
		"workers = 3\n table \"APP.ORDERS\" {}", "memory = \"1GiB\"\n table \"APP.ORDERS\" {}",
		"bad_rows { action = \"discard\" }\n table \"app.*\" {}", "table \"APP.ORDERS\" {\n apply { mode = \"row\" }\n}",
		"table \"APP.ORDERS\" { existing = \"append\" }", "table \"APP.ORDERS\" { to = \"app.orders\" }",
	} {
		if got := good(t, pipe(body), stats, nil).Tables[0].Digest; got != base {
			t.Errorf("%s: got another digest", body)
		}
	}
	seen := map[string]string{base: "base"}
	for _, body := range []string{
		`table "APP.ORDERS" { filter = "ID > 1" }`, `table "APP.ORDERS" { to = "x" }`, `table "APP.ORDERS" { on_nul = "strip" }`,
		`table "APP.ORDERS" { key = ["STATUS"] }`, "table \"APP.ORDERS\" {\n range { count = 9 }\n}", "table \"APP.ORDERS\" {\n range { split = \"key\" }\n}",
		"table \"APP.ORDERS\" {\n column \"STATUS\" { drop = true }\n}", "table \"APP.ORDERS\" {\n column \"STATUS\" { value = \"upper(STATUS)\" }\n}",
		"table \"APP.ORDERS\" {\n column \"STATUS\" { type = \"text\" }\n}", "mode = \"snapshot+cdc\"\n table \"APP.ORDERS\" {}",
	} {
		got := good(t, pipe(body), source, nil).Tables[0].Digest
		if twin := seen[got]; twin != "" {
			t.Errorf("%s: has the digest of %s", body, twin)
		}
		seen[got] = body
	}
}

func TestDigestStaysWhenTheCreatedTableIsReadBack(t *testing.T) {
	before := good(t, pipe(`table "APP.ORDERS" {}`), catalogOf(orders()), nil)
	x := before.Tables[0]
	made := schema.Table{Name: x.Target, PrimaryKey: &schema.Key{Columns: x.Key}}
	for _, c := range x.Columns {
		made.Columns = append(made.Columns, schema.Column{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
	}
	after := good(t, pipe(`table "APP.ORDERS" {}`), catalogOf(orders()), catalogOf(made))
	if after.Tables[0].Create || after.Tables[0].Digest != x.Digest {
		t.Errorf("got\n%s\nbefore\n%s", after.Definition(&after.Tables[0]), before.Definition(&x))
	}
}

// The catalogs are maps of tables in any order to whoever records them.
func TestSameSpecAndCatalogsGiveTheSameBytes(t *testing.T) {
	var tables []schema.Table
	for i := range 20 {
		tables = append(tables, made(fmt.Sprintf("A.T%d", i), "id! int", "a number(9)?", "b text?"))
	}
	body := pipe("table \"A.*\" {\n filter = \"id > 1\"\n column \"a\" { type = \"bigint\" }\n}")
	p, _ := compile(t, body, catalogOf(tables...), nil)
	want, err := plan.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		rand.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
		p, l := compile(t, body, catalogOf(tables...), nil)
		if p == nil {
			t.Fatal(l)
		}
		if got, _ := plan.Marshal(p); !bytes.Equal(got, want) {
			t.Fatal("another order of the catalog's tables gives another plan")
		}
	}
	back, err := plan.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := plan.Marshal(back); !bytes.Equal(got, want) {
		t.Errorf("Marshal(Parse(x)) differs from x")
	}
}

func TestAPlanHoldsNoSecret(t *testing.T) {
	const canary = "c4n4ry-s3cret"
	t.Setenv("DB_PASSWORD", canary)
	src := `penstock { spec = 1 }
variable "pw" {
  type      = string
  sensitive = true
}
source "db" "db" {
  host     = "a"
  password = env("DB_PASSWORD")
}
target "db" "db" {
  host     = "b"
  password = var.pw
}
` + pipe(`table "APP.ORDERS" {}`)
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(src)}, ".", lang.Options{Connectors: planner.Connectors(registry()), Vars: map[string]string{"pw": canary}})
	if l.HasErrors() {
		t.Fatal(l)
	}
	p, l := planner.Compile(t.Context(), spec, registry(), planner.Options{Catalogs: map[string]*schema.Catalog{"source.db": catalogOf(orders())}})
	if p == nil {
		t.Fatal(l)
	}
	b, _ := plan.Marshal(p)
	var text bytes.Buffer
	if err := plan.Text(&text, p, plan.TextOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{string(b), text.String(), messages(l)} {
		if strings.Contains(out, canary) {
			t.Errorf("the secret is in\n%s", out)
		}
	}
	var config struct{ Password map[string]string }
	if err := json.Unmarshal(p.Endpoints[1].Config, &config); err != nil || config.Password["var"] != "pw" {
		t.Errorf("got config %s, want a reference to var.pw", p.Endpoints[1].Config)
	}
}

func BenchmarkCompile2000Tables(b *testing.B) {
	var tables []schema.Table
	for i := range 2000 {
		tables = append(tables, made(fmt.Sprintf("A.T%d", i), "id! bigint", "a number(9)", "b text(50)?", "c timestamp", "d int", "e int", "f text?", "g float"))
	}
	head := "penstock { spec = 1 }\nsource \"db\" \"db\" { host = \"a\" }\ntarget \"db\" \"db\" { host = \"b\" }\n"
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(head + pipe("table \"A.*\" {\n filter = \"id > 1 and b != 'x'\"\n column \"b\" { value = \"upper(b)\" }\n}"))}, ".", lang.Options{Connectors: planner.Connectors(registry())})
	if l.HasErrors() {
		b.Fatal(l)
	}
	o := planner.Options{Catalogs: map[string]*schema.Catalog{"source.db": catalogOf(tables...)}}
	for b.Loop() {
		if p, l := planner.Compile(b.Context(), spec, registry(), o); p == nil {
			b.Fatal(l)
		}
	}
}

// What is wrong behind an error of syntax may follow from it.
func TestSpecReadInPartIsNotPlanned(t *testing.T) {
	spec, l := lang.Parse(map[string][]byte{"a.hcl": []byte("penstock { spec = 1 }\nsource \"db\" \"x\" {\n  host = 1_0\n  hots = \"a\"\n}\n")}, ".", lang.Options{Connectors: planner.Connectors(registry())})
	plan, found := planner.Compile(t.Context(), spec, registry(), planner.Options{})
	if !l.HasErrors() || plan != nil || len(found) > 0 {
		t.Errorf("got %v, then %v, want one error of syntax and nothing else", l, found)
	}
}
