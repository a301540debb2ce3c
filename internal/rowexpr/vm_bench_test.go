package rowexpr

import (
	"math/rand/v2"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"penstock/internal/batch"
)

// BenchmarkFilterBesideVM runs a filter of three comparisons over a full batch
// without NULLs, which the VM could not take: here by columns, and by the expr VM
// row by row, as it is used best (one VM, one environment).
func BenchmarkFilterBesideVM(b *testing.B) {
	const src = "i32 >= 2 and i64 < 5000 and f > 50"
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, batch.DefaultRows)
	for i := range rows {
		rows[i] = row{"i32": r.IntN(4) + 1, "i64": r.IntN(10000), "f": r.Float64() * 200}
	}
	b.Run("columns", func(b *testing.B) {
		p := mustCompile(b, src).Program(position)
		bt := rowsBatch(b, rows)
		var sel batch.Selection
		var bad []BadRow
		b.ReportAllocs()
		start := cpu()
		for range b.N {
			sel, bad = p.Select(bt, nil, sel, bad[:0])
		}
		perRow(b, bt.Rows, start)
	})
	b.Run("vm", func(b *testing.B) {
		env := map[string]any{"i32": 0, "i64": 0, "f": 0.0}
		program, err := expr.Compile(src, expr.Env(env), expr.AsBool())
		if err != nil {
			b.Fatal(err)
		}
		var machine vm.VM
		b.ReportAllocs()
		start := cpu()
		for range b.N {
			for _, r := range rows {
				if _, err := machine.Run(program, map[string]any(r)); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b, len(rows), start)
	})
}
