package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"
)

// edges are values at the ends of each type, in canonical text.
var edges = []struct {
	typ    schema.Type
	values []string
}{
	{schema.Of(schema.Bool), []string{"true", "false"}},
	{schema.Of(schema.Int16), []string{"-32768", "32767", "0"}},
	{schema.Of(schema.Int32), []string{"-2147483648", "2147483647"}},
	{schema.Of(schema.Int64), []string{"-9223372036854775808", "9223372036854775807", "-1"}},
	{schema.Of(schema.Float32), []string{"0.1", "-1.5", "3.4028235e+38", "1e-45"}},
	{schema.Of(schema.Float64), []string{"0.1", "5e-324", "1.7976931348623157e+308", "-2.5", "0"}},
	{schema.Type{Kind: schema.Decimal, Precision: 38}, []string{strings.Repeat("9", 38), "-" + strings.Repeat("9", 38), "0", "12345678901234567890"}},
	{schema.Type{Kind: schema.Decimal, Precision: 38, Scale: 10}, []string{strings.Repeat("9", 28) + ".0000000001", "-0.0000000001", "1.1000000000"}},
	{schema.Type{Kind: schema.Decimal, Precision: 5, Scale: 5}, []string{"0.00001", "-0.99999"}},
	{schema.Of(schema.Decimal), []string{strings.Repeat("1234567890", 6) + ".05", "-0.1", "7"}},
	{schema.Of(schema.Text), []string{"", " ", "007", "NULL", "a'b\"c`d;--", "Ünï\u0000cödé 你好 😀", "tab\tnew\nline\\", "1e5", strings.Repeat("long ", 5000)}},
	{schema.Type{Kind: schema.Text, Length: 5}, []string{"", "12345", "äöüßé"}},
	{schema.Type{Kind: schema.Text, Length: 4, Fixed: true}, []string{"ab  ", "abcd"}},
	{schema.Of(schema.Bytes), []string{`\x`, `\x00`, `\x00ff27225c0a`, `\x` + strings.Repeat("a0", 3000)}},
	{schema.Type{Kind: schema.Bytes, Length: 3}, []string{`\x010203`, `\x`}},
	{schema.Of(schema.Date), []string{"0001-01-01", "9999-12-31", "1970-01-01", "2000-02-29", "1582-10-10"}},
	{schema.Of(schema.Time), []string{"00:00:00", "23:59:59.999999", "12:00:00.5"}},
	{schema.Of(schema.Timestamp), []string{"0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.000001"}},
	{schema.Type{Kind: schema.Timestamp, Precision: 9}, []string{"2026-01-02 03:04:05.123456789", "1969-12-31 23:59:59.999999999"}},
	{schema.Type{Kind: schema.Timestamp}, []string{"2026-01-02 03:04:05"}},
	{schema.Of(schema.TimestampTZ), []string{"0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59.999999+00:00"}},
	{schema.Of(schema.UUID), []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "12345678-9abc-def0-1234-56789abcdef0"}},
	{schema.Of(schema.JSON), []string{`{"a": [1, null, "x"], "b": 1.10}`, `"text"`, `[]`}},
}

// typesRoundTrip loads the values of every type that the connector can render,
// alone and between NULLs, and reads them back.
func typesRoundTrip(t *testing.T, h TargetHarness) {
	n := 0
	for _, e := range edges {
		native, err := h.Definition.Types.Render(e.typ)
		if err != nil {
			continue // it says so, and the planner refuses the column
		}
		n++
		t.Run(e.typ.String(), func(t *testing.T) {
			typ, err := h.Definition.Types.Parse(native)
			if err != nil {
				t.Fatalf("%s renders as %q, which Parse refuses: %v", e.typ, native, err)
			}
			// Where that is another type, the engine converts on the way.
			convert, err := batch.NewConverter(e.typ, typ)
			if err != nil {
				t.Fatalf("%s renders as %q, which is %s: %v", e.typ, native, typ, err)
			}
			p := h.place(t)
			l := h.load(t, "t", "t", connectors.TargetColumn{Name: "id", Type: schema.Of(schema.Int64)}, connectors.TargetColumn{Name: "v", Type: typ, Nullable: true})
			p.begin(l, 1)
			w := p.writer(p.Target, l)
			values := batch.NewColumn(e.typ)
			for _, v := range e.values {
				if h.Refused != nil && h.Refused(e.typ, v) {
					refused(t, w, l, v)
					continue
				}
				if err := batch.ParseText(values, []byte(v)); err != nil {
					t.Fatalf("%q: %v", v, err)
				}
				values.AppendNull()
			}
			b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), typ}, batch.Limits{}).Builder()
			if bad := convert.Convert(values, nil, b.Column(1), nil); len(bad) > 0 {
				t.Errorf("%s renders as %q, which is %s and has no place for %v", e.typ, native, typ, bad)
			}
			for i := range values.Len() {
				b.Column(0).AppendInt(int64(i + 1))
			}
			sent := b.Seal()
			want, encoded := textRows(sent), encodedRows(sent)
			p.chunk(w, mark(l, 1), sent)
			sameRows(t, "read back", p.Read(t, p.config, l), want)
			p.readsBack(l, encoded)
		})
	}
	if n == 0 {
		t.Error("the connector renders no type at all")
	}
}

// refused writes a value that the target has no place for.
func refused(t *testing.T, w connectors.BulkWriter, l connectors.Load, v string) {
	t.Helper()
	ctx := context.Background()
	b := batch.NewPool([]schema.Type{l.Columns[0].Type, l.Columns[1].Type}, batch.Limits{}).Builder()
	b.Column(0).AppendInt(-1)
	if err := batch.ParseText(b.Column(1), []byte(v)); err != nil {
		t.Fatalf("%q: %v", v, err)
	}
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	err := w.Write(ctx, b.Seal(), nil)
	if err == nil {
		_, err = w.Commit(ctx, mark(l, 1))
	}
	wantClass(t, fmt.Sprintf("writing %q", v), err, connectors.Data)
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}

// unusual are names that an identifier's quoting must survive.
var unusual = []string{"select", "two words", `quo"te`, "sem;icolon--", "Ünïcödé 表", "UPPER", "back`tick", "[bracket]", "apo'strophe", "per%cent", "dot.ted", "new\nline"}

func oddNames(t *testing.T, h TargetHarness) {
	p := h.place(t)
	p.claim(p.Target, "first")
	n := 0
	for i, name := range unusual {
		if split, err := h.Definition.Target.SplitName(name); err != nil || split.Name != name {
			continue // refused, or a table of another schema
		}
		n++
		t.Run(name, func(t *testing.T) {
			l := h.load(t, "S."+name, name, connectors.TargetColumn{Name: name, Type: schema.Of(schema.Int64)}, connectors.TargetColumn{Name: unusual[(i+1)%len(unusual)], Type: schema.Type{Kind: schema.Text, Length: 40}, Nullable: true})
			if err := p.Begin(context.Background(), l, start(1)); err != nil {
				t.Fatal(err)
			}
			w := p.writer(p.Target, l)
			p.chunk(w, mark(l, 1), rows(1, 20))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := p.Finish(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			p.wantRows(name, l, rows(1, 20))
			if p.state("S."+name) == nil {
				t.Errorf("the state has no table %q", "S."+name)
			}
		})
	}
	if n == 0 {
		t.Error("SplitName takes none of the names")
	}
}

// nullKey: some databases turn a NULL key into a number of their own, and files
// know no NOT NULL. Such a target looks itself.
func nullKey(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	l := h.load(t, "t", "t")
	p.begin(l, 1)
	w := p.writer(p.Target, l)
	if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
		t.Fatal(err)
	}
	b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), {Kind: schema.Text, Length: 40}}, batch.Limits{}).Builder()
	b.Column(0).AppendNull()
	b.Column(1).AppendString("x")
	err := w.Write(ctx, b.Seal(), nil)
	if err == nil {
		_, err = w.Commit(ctx, mark(l, 1))
	}
	wantClass(t, "NULL in a column that is NOT NULL", err, connectors.Data)
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	p.wantRows("after it", l)
}

// nanKept: floats that are no numbers come back as they were, or are refused as
// bad data; never as NULL, zero or the nearest number.
func nanKept(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	double := schema.Of(schema.Float64)
	native, err := h.Definition.Types.Render(double)
	if err != nil {
		return
	}
	if got, err := h.Definition.Types.Parse(native); err != nil || got != double {
		return // the engine looks at them when it converts
	}
	for _, v := range []string{"NaN", "Infinity", "-Infinity"} {
		t.Run(v, func(t *testing.T) {
			p := h.place(t)
			l := h.load(t, "t", "t", connectors.TargetColumn{Name: "id", Type: schema.Of(schema.Int64)}, connectors.TargetColumn{Name: "v", Type: double, Nullable: true})
			p.begin(l, 1)
			b := batch.NewPool([]schema.Type{schema.Of(schema.Int64), double}, batch.Limits{}).Builder()
			b.Column(0).AppendInt(1)
			if err := batch.ParseText(b.Column(1), []byte(v)); err != nil {
				t.Fatal(err)
			}
			sent := b.Seal()
			w := p.writer(p.Target, l)
			if _, err := w.Begin(ctx, mark(l, 1)); err != nil {
				t.Fatal(err)
			}
			err := w.Write(ctx, sent, nil)
			if err == nil {
				_, err = w.Commit(ctx, mark(l, 1))
			}
			if err != nil {
				wantClass(t, "loading "+v, err, connectors.Data)
				return
			}
			p.wantRows("loading "+v, l, sent)
		})
	}
}
