package delimited

import (
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

// Whatever the form and the values, what is written is read as it was, or it is
// refused.
func TestWhatIsWrittenIsReadAsItWas(t *testing.T) {
	refused, written := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		form := rapid.SampledFrom(append([]Form{{Delimiter: "1", Quote: "-", Escape: "-"}, {Delimiter: "\t", Null: "NULL"}, {Delimiter: "é", Null: "x1"}}, forms...)).Draw(rt, "form")
		if rapid.Bool().Draw(rt, "null") && form.Null == "" {
			form.Null = `\N`
		}
		l := layoutOf(rt, form)
		types := []schema.Type{schema.Of(schema.Text), schema.Of(schema.Int64), schema.Of(schema.Text)}[:rapid.IntRange(1, 3).Draw(rt, "columns")]
		var columns []connectors.TargetColumn
		for i, typ := range types {
			columns = append(columns, connectors.TargetColumn{Name: "c" + strings.Repeat(form.Quote, i), Type: typ, Nullable: true})
		}
		b := batch.NewPool(types, batch.Limits{}).Builder()
		rows := rapid.IntRange(0, 4).Draw(rt, "rows")
		for range rows {
			for i, c := range b.Columns() {
				switch {
				case rapid.IntRange(0, 3).Draw(rt, "is null") == 0:
					c.AppendNull()
				case types[i].Kind == schema.Int64:
					c.AppendInt(rapid.Int64Range(-12, 12).Draw(rt, "number"))
				default:
					c.AppendString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(append([]string{"\ufeff", `\`, `\N`, "NULL", "\xc3", "1", "-"}, pieces...)), 0, 6).Draw(rt, "text"), ""))
				}
			}
		}
		in := b.Seal()
		e := newEncoder(l, columns)
		out, err := e.header(nil)
		for i := 0; i < rows && err == nil; i++ {
			out, err = e.row(out, in, i)
		}
		if err != nil {
			// Only a form that lacks something refuses anything.
			if len(l.quote) > 0 && len(l.escape) > 0 {
				rt.Fatalf("%+v: %v", form, err)
			}
			refused++
			return
		}
		written++
		got, _ := cutAll(l, out)
		r := &record{values: make([]value, 0, 9)}
		at := 0
		for i := range rows + 1 {
			if at >= len(out) {
				rt.Fatalf("%+v: %q has %d rows, want %d", form, out, i-1, rows)
			}
			l.cut(out[at:], true, r)
			if r.fault != "" || r.count != len(types) {
				rt.Fatalf("%+v: %q: record %d has %d values, want %d; %s", form, out, i, r.count, len(types), r.fault)
			}
			for k := 0; k < len(types) && i > 0; k++ {
				v := r.values[k]
				isNull := !v.quoted && string(out[at:][v.from:v.to]) == form.Null
				text, _ := l.plain(nil, out[at:][v.from:v.to], v.escaped)
				if isNull != in.Columns[k].IsNull(i-1) || !isNull && string(text) != string(batch.AppendText(nil, in.Columns[k], i-1)) {
					rt.Fatalf("%+v: %q: row %d, column %d is %q (null %v), was %q", form, out, i, k, text, isNull, batch.AppendText(nil, in.Columns[k], i-1))
				}
			}
			at += r.end
		}
		if at != len(out) {
			rt.Fatalf("%+v: %q goes on behind its %d rows: %q", form, out, rows, got)
		}
	})
	if refused == 0 || written == 0 {
		t.Errorf("%d refused and %d written: the test does not see both", refused, written)
	}
}
