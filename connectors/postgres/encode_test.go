package postgres

import (
	"math"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// What PostgreSQL has no place for is refused before it is sent, with its row.
func TestValuesOutOfRangeAreBadData(t *testing.T) {
	ints := func(native string, v int64) *encoderCase {
		return &encoderCase{native: native, add: func(c *batch.Column) { c.AppendInt(v) }}
	}
	tests := []struct {
		*encoderCase
		ok bool
	}{
		{ints("date", minDate), true}, {ints("date", minDate-1), false}, {ints("date", maxDate), true}, {ints("date", maxDate+1), false},
		{ints("timestamp", minMicros), true}, {ints("timestamp", minMicros-1), false}, {ints("timestamptz", maxMicros), true},
		{ints("oid", math.MaxUint32), true}, {ints("oid", -1), false},
		{&encoderCase{native: "text", add: func(c *batch.Column) { c.AppendString("a\x00") }}, false},
		{&encoderCase{native: "bytea", add: func(c *batch.Column) { c.AppendString("a\x00") }}, true},
		{&encoderCase{native: "uuid", add: func(c *batch.Column) { c.AppendString("short") }}, false},
		{&encoderCase{native: "numeric", add: func(c *batch.Column) { c.AppendString("1e5") }}, false},
		{&encoderCase{native: "integer", add: func(c *batch.Column) { c.AppendNull() }}, false},
	}
	for _, c := range tests {
		typ, err := types{}.Parse(c.native)
		if err != nil {
			t.Fatal(err)
		}
		e := newEncoder([]connectors.TargetColumn{{Name: "v", Native: c.native, Type: typ}})
		b := batch.NewPool([]schema.Type{typ}, batch.Limits{}).Builder()
		c.add(b.Column(0))
		rows := b.Seal()
		err = e.take(rows, nil)
		if err == nil {
			_, err = e.appendRows(nil, rows, nil)
		}
		if (err == nil) != c.ok || err != nil && connectors.ClassOf(err) != connectors.Data {
			t.Errorf("%s %s: %v, want it to go in: %v", c.native, batch.AppendText(nil, rows.Columns[0], 0), err, c.ok)
		}
		// What is not selected does not matter.
		if err := e.take(rows, batch.Selection{}); err != nil {
			t.Errorf("%s: an unselected row is refused: %v", c.native, err)
		}
	}
}

type encoderCase struct {
	native string
	add    func(*batch.Column)
}

func TestTextOfDatesBeforeChristIsPostgres(t *testing.T) {
	tests := []struct{ in, want string }{
		{"2026-01-02", "2026-01-02"}, {"0001-01-01", "0001-01-01"}, {"0000-12-31", "0001-12-31 BC"}, {"-0043-03-15 12:00:00", "0044-03-15 12:00:00 BC"}, {"-12345-01-01", "12346-01-01 BC"}, {"12006-01-02", "12006-01-02"},
	}
	for _, c := range tests {
		if got := string(beforeChrist([]byte("x"+c.in), 1)); got != "x"+c.want {
			t.Errorf("%s: got %s, want x%s", c.in, got, c.want)
		}
	}
}

func TestWireIsFoundByAnyNameOfAType(t *testing.T) {
	tests := []struct {
		native, name string
		form         form
	}{
		{"character varying(50)", "varchar", formBytes}, {"VARCHAR(50)", "varchar", formBytes}, {"numeric(38,0)", "numeric", formNumeric},
		{"timestamp(3) without time zone", "timestamp", formTimestamp}, {"float(24)", "float4", formFloat4}, {"float", "float8", formFloat8},
		{`"char"`, `"char"`, formNone}, {"char", "bpchar", formBytes}, {"bit(5)", `pg_catalog."bit"`, formNone}, {"interval day to second(3)", "interval", formNone},
		{"integer[]", "int4[]", formNone}, {"numeric(5,2)[][]", "numeric[]", formNone}, {"inet", "inet", formNone}, {"pg_catalog.int4", "int4", formInt4},
	}
	for _, c := range tests {
		if got := wireOf(c.native); got.name != c.name || got.form != c.form {
			t.Errorf("wireOf(%q) = %+v, want %s of form %d", c.native, got, c.name, c.form)
		}
	}
}

func TestIdentifiersComeApartAsTheServerJoinedThem(t *testing.T) {
	got := splitIdents(`a,"b,c","d""e",f`)
	want := []string{"a", "b,c", `d"e`, "f"}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// BenchmarkEncode is what the client pays beside sending.
func BenchmarkEncode(b *testing.B) {
	for _, preset := range []string{"big_table", "firenibble"} {
		for _, format := range []string{"binary", "text"} {
			b.Run(preset+"/"+format, func(b *testing.B) {
				l, made := presetLoad(b, preset, "copy")
				rows := presetBatch(made, 1, 8192)
				e := newEncoder(l.Columns)
				var buf []byte
				encode := func() {
					var err error
					if err = e.take(rows, nil); err != nil {
						b.Fatal(err)
					}
					if format == "text" {
						buf = e.appendText(buf[:0], rows, nil)
					} else if buf, err = e.appendRows(buf[:0], rows, nil); err != nil {
						b.Fatal(err)
					}
				}
				encode()
				b.ReportAllocs()
				for b.Loop() {
					encode()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
				b.ReportMetric(float64(len(buf))/8192, "B/row")
			})
		}
	}
}
