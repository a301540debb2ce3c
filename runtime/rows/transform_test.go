package rows

import (
	"strings"
	"testing"

	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

var one = []ranges.Chunk{{ID: 1, Range: 1}}

// rowsOf makes a batch of an id and a text a row; nil is NULL.
func rowsOf(t *testing.T, values ...any) *batch.Batch {
	t.Helper()
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), schema.Of(schema.Text)}, batch.Limits{}).Builder()
	for i, v := range values {
		b.Column(0).AppendInt(int64(i + 1))
		if v == nil {
			b.Column(1).AppendNull()
		} else {
			b.Column(1).AppendString(v.(string))
		}
	}
	return b.Seal()
}

// twoColumns is a plan that passes an id and a text on.
func twoColumns(change func(*plan.Table)) *plan.Table {
	t := &plan.Table{
		Source: schema.Name{Name: "t"}, Key: []string{"id"}, OnNUL: "reject", OnInvalid: "reject",
		Read: []plan.Read{{Name: "id", Type: schema.Of(schema.Int64)}, {Name: "s", Type: schema.Of(schema.Text), Nullable: true}},
		Columns: []plan.Column{
			{Name: "id", Native: "INTEGER", Type: schema.Of(schema.Int64), Source: "id"},
			{Name: "s", Native: "TEXT", Type: schema.Of(schema.Text), Source: "s", Nullable: true},
		},
	}
	if change != nil {
		change(t)
	}
	return t
}

// through gives the texts that come out, in order, and the bad rows as
// "key column reason".
func through(t *testing.T, p *plan.Table, values bool, in *batch.Batch) (out, bad []string) {
	t.Helper()
	x, err := New(p, 0, values)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Apply(in, one)
	col := r.Rows.Columns[len(r.Rows.Columns)-1]
	for i := range r.Sel[0].Len(r.Rows.Rows) {
		row := r.Sel[0].Row(i)
		if col.IsNull(row) {
			out = append(out, "NULL")
		} else {
			out = append(out, string(batch.AppendText(nil, col, row)))
		}
	}
	for _, b := range r.Bad {
		bad = append(bad, b.Key+" "+b.Column+" "+b.Reason)
	}
	r.Rows.Release()
	return out, bad
}

func TestTextThatNoTargetCouldHoldIsRejectedStrippedOrReplaced(t *testing.T) {
	const nul, invalid = "a\x00b", "a\xffb"
	for _, c := range []struct {
		onNUL, onInvalid string
		want             string // of nul, of invalid, of "é"
		bad              int
	}{
		{"reject", "reject", "é", 2},
		{"strip", "reject", "ab é", 1},
		{"replace", "reject", "a\uFFFDb é", 1},
		{"reject", "strip", "ab é", 1},
		{"reject", "replace", "a\uFFFDb é", 1},
		{"strip", "strip", "ab ab é", 0},
		{"replace", "replace", "a\uFFFDb a\uFFFDb é", 0},
	} {
		p := twoColumns(func(t *plan.Table) { t.OnNUL, t.OnInvalid = c.onNUL, c.onInvalid })
		out, bad := through(t, p, false, rowsOf(t, nul, invalid, "é"))
		if got := strings.Join(out, " "); got != c.want || len(bad) != c.bad {
			t.Errorf("on_nul %s, on_invalid_text %s: got %q and %q, want %q and %d bad", c.onNUL, c.onInvalid, got, bad, c.want, c.bad)
		}
	}
	_, bad := through(t, twoColumns(nil), false, rowsOf(t, "fine", nul, invalid, nil))
	want := []string{"id=2 s " + reasonNUL, "id=3 s " + reasonInvalid}
	if len(bad) != 2 || bad[0] != want[0] || bad[1] != want[1] {
		t.Errorf("got %q, want %q", bad, want)
	}
}

func TestTextThatStaysAtTheSourceIsNotChecked(t *testing.T) {
	p := twoColumns(func(t *plan.Table) {
		t.Filter = `s != "x"`
		t.Columns = t.Columns[:1]
	})
	if out, bad := through(t, p, false, rowsOf(t, "a\xff", "x", "y")); len(bad) != 0 || strings.Join(out, " ") != "1 3" {
		t.Errorf("got ids %q and bad rows %q", out, bad)
	}
}

func TestNullInAColumnThatTakesNoneIsABadRow(t *testing.T) {
	p := twoColumns(func(t *plan.Table) { t.Columns[1].Nullable = false })
	out, bad := through(t, p, false, rowsOf(t, "a", nil, "c"))
	if strings.Join(out, " ") != "a c" || len(bad) != 1 || !strings.HasPrefix(bad[0], "id=2 s NULL") {
		t.Errorf("got %q and bad rows %q", out, bad)
	}
}

func TestReasonsHoldValuesOnlyOnRequest(t *testing.T) {
	short := func(t *plan.Table) {
		t.Columns[1].Type = schema.Type{Kind: schema.Text, Length: 3}
		t.Columns[1].Native = "VARCHAR(3)"
	}
	in := []any{"abc", "geheim", nil}
	out, bad := through(t, twoColumns(short), false, rowsOf(t, in...))
	if strings.Join(out, " ") != "abc NULL" || len(bad) != 1 || strings.Contains(bad[0], "geheim") || !strings.Contains(bad[0], "VARCHAR(3)") {
		t.Errorf("got %q and bad rows %q", out, bad)
	}
	if _, bad = through(t, twoColumns(short), true, rowsOf(t, in...)); len(bad) != 1 || !strings.Contains(bad[0], "geheim") {
		t.Errorf("bad rows with values are %q", bad)
	}
}

func TestConvertedAndComputedColumnsStandWhereThePlanSays(t *testing.T) {
	p := twoColumns(func(t *plan.Table) {
		t.Filter = "id != 2"
		t.Columns = []plan.Column{
			{Name: "id", Native: "TEXT", Type: schema.Of(schema.Text), Source: "id"},
			{Name: "twice", Native: "INT2", Type: schema.Of(schema.Int16), Value: "id * 20000"},
			{Name: "u", Native: "TEXT", Type: schema.Of(schema.Text), Value: "upper(s)", Nullable: true},
		}
	})
	out, bad := through(t, p, false, rowsOf(t, "a", "b", "c", nil))
	if strings.Join(out, " ") != "A" || len(bad) != 2 || !strings.HasPrefix(bad[0], "id=3 twice") || !strings.HasPrefix(bad[1], "id=4 twice") {
		t.Errorf("got %q and bad rows %q", out, bad)
	}
}

func TestHashPartsTakeEachRowOnceAndBadRowsGoWithTheirs(t *testing.T) {
	p := twoColumns(func(t *plan.Table) {
		t.Range = plan.Range{By: []string{"id"}, Count: 3, Split: "hash"}
		t.Columns[1].Nullable = false
	})
	x, err := New(p, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	var values []any
	for i := range 100 {
		if i%10 == 9 {
			values = append(values, nil)
		} else {
			values = append(values, "x")
		}
	}
	parts := []ranges.Chunk{{ID: 1, Range: 1, Part: 1, Parts: 3}, {ID: 2, Range: 2, Part: 2, Parts: 3}, {ID: 3, Range: 3, Part: 3, Parts: 3}}
	r := x.Apply(rowsOf(t, values...), parts)
	rows, byPart := 0, map[int]int{}
	for _, s := range r.Sel {
		rows += len(s)
		if len(s) == 0 {
			t.Error("a part has no rows out of 90")
		}
	}
	for _, b := range r.Bad {
		byPart[b.Part]++
	}
	if rows != 90 || len(r.Bad) != 10 {
		t.Errorf("%d rows and %d bad ones, want 90 and 10", rows, len(r.Bad))
	}
	// Parts read alone give the same rows.
	for i, part := range parts {
		alone := x.Apply(rowsOf(t, values...), []ranges.Chunk{part})
		if len(alone.Sel[0]) != len(r.Sel[i]) || len(alone.Bad) != byPart[i] {
			t.Errorf("part %d alone has %d rows and %d bad, together %d and %d", i+1, len(alone.Sel[0]), len(alone.Bad), len(r.Sel[i]), byPart[i])
		}
	}
}
