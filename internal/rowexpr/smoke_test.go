package rowexpr

import (
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

func TestSmoke(t *testing.T) {
	cols := []schema.Column{{Name: "ID", Type: schema.Of(schema.Int64)}, {Name: "n", Type: schema.Of(schema.Int32), Nullable: true}, {Name: "s", Type: schema.Type{Kind: schema.Text, Length: 50}, Nullable: true}}
	pool := batch.NewPool([]schema.Type{cols[0].Type, cols[1].Type, cols[2].Type}, batch.Limits{})
	b := pool.Builder()
	for i := range 10 {
		b.Column(0).AppendInt(int64(i))
		if i%3 == 0 {
			b.Column(1).AppendNull()
		} else {
			b.Column(1).AppendInt(int64(i % 4))
		}
		b.Column(2).AppendString("abcä ü"[:i%6+1])
	}
	bt := b.Seal()
	for _, src := range []string{"id != 4", "n == 1 and id > 2", "not (n == 1)", "1/(id-3) >= 0", "id in [1,2,3]", "upper(s) == \"A\"", "0.1 + 0.2 == 0.3", "n == nil", "id == 3.0", "9223372036854775807 + id > 0", "n ?? 7 > 3", "(n ?? 7) > 3", "id = 4 AND s <> 'x'", "amuont > 1", "s like '%a_b'", "1 < id < 5", "s == 1", "id matches 'a'", "id"} {
		e, ps := CompileFilter(src, cols)
		if e == nil {
			t.Logf("%s -> %+v", src, ps)
			continue
		}
		sql, ok := e.SQL(SQLite())
		p := e.Program(func(c string) int {
			for i := range cols {
				if cols[i].Name == c {
					return i
				}
			}
			return -1
		})
		sel, bad := p.Select(bt, nil, nil, nil)
		t.Logf("%s -> %s | %s %v | %v %v", src, e.String(), sql, ok, sel, bad)
	}
}
