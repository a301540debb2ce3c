package rowexpr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// table has a column of each kind. All but ID may be NULL.
var table = []schema.Column{
	{Name: "ID", Type: schema.Of(schema.Int64)},
	{Name: "i16", Type: schema.Of(schema.Int16), Nullable: true},
	{Name: "i32", Type: schema.Of(schema.Int32), Nullable: true},
	{Name: "i64", Type: schema.Of(schema.Int64), Nullable: true},
	{Name: "f", Type: schema.Of(schema.Float64), Nullable: true},
	{Name: "g", Type: schema.Of(schema.Float64), Nullable: true},
	{Name: "f32", Type: schema.Of(schema.Float32), Nullable: true},
	{Name: "d", Type: schema.Type{Kind: schema.Decimal, Precision: 10, Scale: 2}, Nullable: true},
	{Name: "e", Type: schema.Type{Kind: schema.Decimal, Precision: 38, Scale: 4}, Nullable: true},
	{Name: "n", Type: schema.Of(schema.Decimal), Nullable: true},
	{Name: "m", Type: schema.Of(schema.Decimal), Nullable: true},
	{Name: "s", Type: schema.Type{Kind: schema.Text, Length: 20}, Nullable: true},
	{Name: "t", Type: schema.Of(schema.Text), Nullable: true},
	{Name: "c", Type: schema.Type{Kind: schema.Text, Length: 4, Fixed: true}, Nullable: true},
	{Name: "flag", Type: schema.Of(schema.Bool), Nullable: true},
	{Name: "flag2", Type: schema.Of(schema.Bool), Nullable: true},
	{Name: "day", Type: schema.Of(schema.Date), Nullable: true},
	{Name: "clock", Type: schema.Of(schema.Time), Nullable: true},
	{Name: "at", Type: schema.Of(schema.Timestamp), Nullable: true},
	{Name: "at9", Type: schema.Type{Kind: schema.Timestamp, Precision: 9}, Nullable: true},
	{Name: "tz", Type: schema.Of(schema.TimestampTZ), Nullable: true},
	{Name: "u", Type: schema.Of(schema.UUID), Nullable: true},
	{Name: "js", Type: schema.Of(schema.JSON), Nullable: true},
	{Name: "raw", Type: schema.Of(schema.Bytes), Nullable: true},
	{Name: "Order Id", Type: schema.Of(schema.Int32), Nullable: true},
	{Name: "and", Type: schema.Of(schema.Int32), Nullable: true},
	{Name: "ambig", Type: schema.Of(schema.Int32), Nullable: true},
	{Name: "AMBIG", Type: schema.Of(schema.Int32), Nullable: true},
	{Name: "shape", Native: "SDO_GEOMETRY", Problem: "SDO_GEOMETRY has no counterpart"},
}

// row gives values by column name; what is missing is NULL. Decimals, dates
// and times are written as text.
type row map[string]any

func position(name string) int {
	for i := range table {
		if table[i].Name == name {
			return i
		}
	}
	return -1
}

func types() []schema.Type {
	var out []schema.Type
	for _, c := range table {
		if c.Type.Kind == schema.Invalid {
			c.Type = schema.Of(schema.Bytes)
		}
		out = append(out, c.Type)
	}
	return out
}

var pool = batch.NewPool(types(), batch.Limits{})

// rowsBatch puts rows into a batch.
func rowsBatch(t testing.TB, rows []row) *batch.Batch {
	t.Helper()
	b := pool.Builder()
	for n, r := range rows {
		for i := range table {
			v, ok := r[table[i].Name]
			if i == 0 && !ok {
				v, ok = n, true
			}
			if !ok || v == nil {
				b.Column(i).AppendNull()
				continue
			}
			appendAny(t, b.Column(i), v)
		}
	}
	return b.Seal()
}

func appendAny(t testing.TB, c *batch.Column, v any) {
	t.Helper()
	switch v := v.(type) {
	case int:
		c.AppendInt(int64(v))
	case int64:
		c.AppendInt(v)
	case float64:
		c.AppendFloat(v)
	case bool:
		c.AppendBool(v)
	case string:
		switch k := c.Type.Kind; k {
		case schema.Decimal:
			if wide(c.Type) {
				c.AppendString(v)
				return
			}
			d, err := decimal128.FromString(v, int32(c.Type.Precision), int32(c.Type.Scale))
			if err != nil {
				t.Fatal(err)
			}
			c.AppendDecimal(d)
		case schema.Date, schema.Time, schema.Timestamp, schema.TimestampTZ:
			lit, ok := parseTemporal(k, v)
			if !ok {
				t.Fatalf("fixture: %q is no %s", v, k)
			}
			c.AppendNanos(lit.i, lit.nanos)
		case schema.UUID:
			u, _ := parseUUID(v)
			c.AppendString(u)
		default:
			c.AppendString(v)
		}
	default:
		t.Fatalf("fixture: %T", v)
	}
}

func mustCompile(t testing.TB, src string) *Expr {
	t.Helper()
	e, problems := Compile(src, table)
	if e == nil {
		t.Fatalf("Compile(%q): %+v", src, problems)
	}
	return e
}

// compute evaluates src for each row and writes the values as text, with NULL
// and BAD for what is none.
func compute(t testing.TB, src string, rows []row, sel batch.Selection) []string {
	t.Helper()
	e := mustCompile(t, src)
	b := rowsBatch(t, rows)
	defer b.Release()
	into := batch.NewColumn(e.Type())
	bad := e.Program(position).Compute(b, sel, into, nil)
	if into.Len() != b.Rows {
		t.Fatalf("Compute(%q) appended %d values for %d rows", src, into.Len(), b.Rows)
	}
	out := make([]string, b.Rows)
	for i := range out {
		out[i] = valueText(into, i)
	}
	for _, r := range bad {
		out[r.Row] = "BAD " + r.Reason
	}
	return out
}

func valueText(c *batch.Column, i int) string {
	if c.IsNull(i) {
		return "NULL"
	}
	switch c.Storage() {
	case schema.StoreBool:
		return fmt.Sprint(c.Bools.Get(i))
	case schema.StoreBytes:
		if c.Type.Kind == schema.UUID {
			return string(appendUUID(nil, c.Bytes(i)))
		}
		return string(c.Bytes(i))
	}
	return string(appendText(nil, c.Type, &vec{ints: c.Ints, floats: c.Floats, decs: c.Decimals, nanos: c.Nanos, index: -1}, i))
}

func one(t testing.TB, src string, r row) string {
	t.Helper()
	return compute(t, src, []row{r}, nil)[0]
}

// badReason reports that got is a bad row whose reason begins so.
func badReason(got, want string) bool {
	return strings.HasPrefix(got, "BAD ") && strings.HasPrefix(got[4:], want)
}
