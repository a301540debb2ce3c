package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func orders() Table {
	return Table{
		Name: Name{"shop", "orders"}, Storage: "heap",
		Columns: []Column{
			{Name: "id", Native: "bigint", Identity: true},
			{Name: "note", Native: "text", Nullable: true, Default: "''", Comment: "free"},
			{Name: "total", Native: "numeric(10,2)"},
		},
		PrimaryKey:  &Key{"orders_pkey", []string{"id"}},
		Unique:      []Key{{"u", []string{"note"}}},
		Indexes:     []Index{{Name: "i", Columns: []string{"total"}, Definition: "CREATE INDEX i ON orders (total)"}, {Name: "j", Columns: []string{"note"}, Unique: true}},
		ForeignKeys: []ForeignKey{{Name: "f", Columns: []string{"total"}, References: Name{"shop", "sums"}, ToColumns: []string{"s"}}},
		Stats:       &Statistics{Rows: 4},
	}
}

func TestDiffNamesEachDifferenceInWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Table)
		want   string
	}{
		{"nothing", func(*Table) {}, ""},
		{"statistics", func(x *Table) { x.Stats = &Statistics{Rows: 5, Analyzed: "today"} }, ""},
		{"view", func(x *Table) { x.View = true }, "it was a table and is a view"},
		{"storage", func(x *Table) { x.Storage = "" }, "its storage was heap and is none"},
		{"type", func(x *Table) { x.Columns[2].Native = "text" }, "column total was numeric(10,2) and is text"},
		{"nullable", func(x *Table) { x.Columns[2].Nullable = true }, "column total was NOT NULL and may be NULL"},
		{"not null", func(x *Table) { x.Columns[1].Nullable = false }, "column note may no longer be NULL"},
		{"default", func(x *Table) { x.Columns[1].Default = "" }, "column note had the default '' and has none"},
		{"comment", func(x *Table) { x.Columns[1].Comment = "bound" }, "column note had the comment free and has bound"},
		{"expression", func(x *Table) { x.Columns[2].Generated = "1" }, "column total had the expression none and has 1"},
		{"numbered", func(x *Table) { x.Columns[2].Identity = true }, "column total is now numbered by the database"},
		{"not numbered", func(x *Table) { x.Columns[0].Identity = false }, "column id is no longer numbered by the database"},
		{"gone", func(x *Table) { x.Columns = x.Columns[:2] }, "column total is gone (numeric(10,2))"},
		{"new", func(x *Table) { x.Columns = append(x.Columns, Column{Name: "x", Native: "date"}) }, "column x is new (date NOT NULL)"},
		{"order", func(x *Table) { slices.Reverse(x.Columns) }, "its columns are in another order"},
		{"key", func(x *Table) { x.PrimaryKey = nil }, "primary key orders_pkey (id) is gone"},
		{"unique", func(x *Table) { x.Unique = append(x.Unique, Key{"", []string{"total"}}) }, "unique key (total) is new"},
		{"index", func(x *Table) { x.Indexes = x.Indexes[:1] }, "index j (note), unique is gone"},
		{"foreign", func(x *Table) { x.ForeignKeys = nil }, "foreign key f (total) to shop.sums (s) is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := orders()
			c.change(&is)
			want := []string(nil)
			if c.want != "" {
				want = []string{"table shop.orders: " + c.want}
			}
			got := Diff(&Catalog{Tables: []Table{orders()}}, &Catalog{Tables: []Table{is}})
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestDiffNamesTablesThatAreNewAndGone(t *testing.T) {
	a, b := orders(), orders()
	b.Name.Name = "bills"
	got := Diff(&Catalog{Tables: []Table{a}}, &Catalog{Tables: []Table{b}})
	if want := []string{"table shop.bills is new", "table shop.orders is gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is written and read back does not differ, and two catalogs between which
// there is no difference are written alike, statistics aside.
func TestDiffIsEmptyExactlyWhereTheFilesAreEqual(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "b"})
	column := rapid.Custom(func(t *rapid.T) Column {
		return Column{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), Native: rapid.SampledFrom([]string{"int16", "text"}).Draw(t, "type"), Nullable: rapid.Bool().Draw(t, "null"), Default: word.Draw(t, "default"), Comment: word.Draw(t, "comment")}
	})
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 2)
	table := rapid.Custom(func(t *rapid.T) Table {
		x := Table{Name: Name{Name: rapid.SampledFrom([]string{"t", "u"}).Draw(t, "table")}}
		x.Columns = rapid.SliceOfNDistinct(column, 0, 3, func(c Column) string { return c.Name }).Draw(t, "columns")
		if rapid.Bool().Draw(t, "keyed") {
			x.PrimaryKey = &Key{Columns: names.Draw(t, "key")}
		}
		if rapid.Bool().Draw(t, "counted") {
			x.Stats = &Statistics{Rows: rapid.Int64Range(0, 3).Draw(t, "rows")}
		}
		return x
	})
	tables := rapid.SliceOfNDistinct(table, 0, 2, func(t Table) string { return t.Name.Name })
	structure := func(t *rapid.T, list []Table) string {
		c := Catalog{Kind: "x"}
		for _, x := range list {
			x.Stats = nil
			c.Tables = append(c.Tables, x)
		}
		b, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := tables.Draw(t, "was"), tables.Draw(t, "is")
		equal := structure(t, a) == structure(t, b)
		if d := Diff(&Catalog{Tables: a}, &Catalog{Tables: b}); (len(d) == 0) != equal {
			t.Fatalf("difference %q, files equal: %v", d, equal)
		}
		file, err := (&Catalog{Kind: "x", Tables: a}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseCatalog(file, "x", ParseType)
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(&Catalog{Tables: a}, back); len(d) != 0 {
			t.Fatalf("read back: %s", strings.Join(d, "; "))
		}
		again, err := back.Marshal()
		if err != nil || !reflect.DeepEqual(again, file) {
			t.Fatalf("written again (%v):\n%s\nwant\n%s", err, again, file)
		}
	})
}
