package workload

import (
	"testing"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// BenchmarkFill makes one column at a time in recycled batches.
func BenchmarkFill(b *testing.B) {
	for _, p := range Presets() {
		for i, c := range p.Columns {
			b.Run(p.Name+"/"+c.Name, func(b *testing.B) {
				pool := batch.NewPool([]schema.Type{c.Type}, batch.Limits{})
				t := Table{Preset: p, Seed: 1, Number: 1}
				for from := int64(1); from <= int64(b.N); from += 8192 {
					bu := pool.Builder()
					for k := range int64(8192 / 128) {
						t.Fill(bu, []int{i}, from+k*128, 128)
					}
					bu.Seal().Release()
				}
			})
		}
	}
}
