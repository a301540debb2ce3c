package rowexpr

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"penstock/internal/batch"
)

// benchBatch is a full batch without NULLs in id, i32 and s, with some in f.
func benchBatch(b *testing.B) *batch.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, batch.DefaultRows)
	for i := range rows {
		text := make([]byte, 10+r.IntN(41))
		for j := range text {
			text[j] = byte('a' + r.IntN(26))
		}
		rows[i] = row{"i32": r.IntN(4) + 1, "i64": r.IntN(10000), "d": "12.50", "e": "3.2500", "n": "1234.5", "s": string(text), "flag": i%2 == 0}
		if i%10 != 0 {
			rows[i]["f"] = r.Float64() * 200
		}
	}
	return rowsBatch(b, rows)
}

// cpu is the processor time that the process has used: on a machine that others
// use too it says more than the time that has passed.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func perRow(b *testing.B, rows int, start time.Duration) {
	b.ReportMetric(float64((cpu()-start).Nanoseconds())/float64(b.N)/float64(rows), "cpu-ns/row")
}

func BenchmarkSelect(b *testing.B) {
	for _, src := range []string{
		"i32 != 4",
		"f > 100 and i32 in [1, 3] and i64 % 2 == 0",
		"i32 >= 2 and i64 < 5000 and f > 50",
		"s >= 'm'",
		"d > 10",
		"n > 100",
		"d * 1.19 > 14.8",
	} {
		b.Run(src, func(b *testing.B) {
			p := mustCompile(b, src).Program(position)
			bt := benchBatch(b)
			var sel batch.Selection
			var bad []BadRow
			sel, bad = p.Select(bt, nil, sel, bad)
			b.ReportAllocs()
			b.ResetTimer()
			start := cpu()
			for range b.N {
				sel, bad = p.Select(bt, nil, sel, bad[:0])
			}
			perRow(b, bt.Rows, start)
		})
	}
}

func BenchmarkCompute(b *testing.B) {
	for _, src := range []string{"upper(s)", "upper(s) + '-' + s[0:3]", "i64 - i32", "i64 * i64 + 1", "f * 1.19 + 5", "d * e", "d / 3", "n + 1", "flag ? s : 'none'", "string(i64)"} {
		b.Run(src, func(b *testing.B) {
			e := mustCompile(b, src)
			p := e.Program(position)
			bt := benchBatch(b)
			into := batch.NewColumn(e.Type())
			bad := p.Compute(bt, nil, into, nil)
			b.ReportAllocs()
			b.ResetTimer()
			start := cpu()
			for range b.N {
				into.Reset()
				bad = p.Compute(bt, nil, into, bad[:0])
			}
			perRow(b, bt.Rows, start)
		})
	}
}
