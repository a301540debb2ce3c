package conformance

import (
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
)

// Types holds Render and Parse to each other for types with and without every
// limit. It connects nowhere: a connector without Open can run it.
func Types(t *testing.T, types connectors.Types) {
	for _, typ := range grid() {
		native, err := types.Render(typ)
		if err != nil {
			continue // it says so, and the planner refuses the column
		}
		got, err := types.Parse(native)
		if err != nil {
			t.Errorf("%s renders as %q, which Parse refuses: %v", typ, native, err)
			continue
		}
		if class, why := schema.Fit(typ, got); class != schema.FitExact && !nearest(typ, got) {
			t.Errorf("%s renders as %q, which Parse reads as %s: that does not hold every value (%s: %s). Render a wider type, or return an error that names one", typ, native, got, class, why)
		}
		if again, err := types.Render(got); err == nil {
			if back, err := types.Parse(again); err != nil || back != got {
				t.Errorf("%q is %s, which renders as %q and is then %s, %v", native, got, again, back, err)
			}
		}
	}
}

// nearest reports the two losses that Render may choose, since Fit tells the
// user of them: a float for a floating decimal, and six digits or more of a
// second for a time that has more.
func nearest(want, got schema.Type) bool {
	switch want.Kind {
	case schema.Decimal:
		return want.Floating && got.IsFloat()
	case schema.Time, schema.Timestamp, schema.TimestampTZ:
		return got.Kind == want.Kind && got.Precision >= 6
	}
	return false
}

func grid() []schema.Type {
	out := []schema.Type{schema.Of(schema.Decimal), {Kind: schema.Decimal, Floating: true}}
	for _, k := range []schema.Kind{schema.Bool, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.Date, schema.UUID, schema.JSON} {
		out = append(out, schema.Of(k))
	}
	for _, k := range []schema.Kind{schema.Text, schema.Bytes} {
		out = append(out, schema.Of(k))
		for _, n := range []int{1, 3, 40, 255, 256, 2000, 4000, 8000, 70_000} {
			out = append(out, schema.Type{Kind: k, Length: n}, schema.Type{Kind: k, Length: n, Fixed: true})
		}
	}
	for _, k := range []schema.Kind{schema.Time, schema.Timestamp, schema.TimestampTZ} {
		for p := range 10 {
			out = append(out, schema.Type{Kind: k, Precision: p})
		}
	}
	for _, p := range []int{1, 4, 5, 9, 10, 18, 19, 28, 38, 39, 60} {
		for _, s := range []int{-3, 0, 1, 5, 10, p, p + 2} {
			typ := schema.Type{Kind: schema.Decimal, Precision: p, Scale: s}
			if !slices.Contains(out, typ) {
				out = append(out, typ)
			}
		}
	}
	return out
}
