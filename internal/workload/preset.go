package workload

import (
	"slices"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// Preset is a made-up table's shape: its columns, its key and the formula of
// each column.
type Preset struct {
	Name    string
	Columns []schema.Column
	Key     []string

	fills []fill // a column's formula, in the order of Columns
}

// Table is one made-up table: a preset under a seed. Two tables of the same
// preset, seed and number have the same rows.
type Table struct {
	Preset *Preset
	Seed   uint64
	Number int // from 1: sets tables of one preset and seed apart
}

// Fill appends rows from .. from+n-1 (rows count from 1) to the builder, whose
// column k gets the preset's column columns[k]. No column depends on another,
// so columns that are not asked for cost nothing.
func (t Table) Fill(b *batch.Builder, columns []int, from int64, n int) {
	if len(columns) == 0 {
		b.AddRows(n)
	}
	for k, i := range columns {
		c := b.Column(k)
		t.Preset.fills[i](c, columnKey(t.Seed, t.Number, i), from, n)
		c.Grew(n)
	}
}

// Presets lists all presets, by name.
func Presets() []*Preset {
	return []*Preset{bigTable(), firenibble(), firenibbleCDC()}
}

// Find returns the preset of this name, or nil.
func Find(name string) *Preset {
	all := Presets()
	i := slices.IndexFunc(all, func(p *Preset) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

func (p *Preset) add(name, native string, t schema.Type, f fill) {
	p.Columns = append(p.Columns, schema.Column{Name: name, Native: native, Type: t})
	p.fills = append(p.fills, f)
}

const (
	day = 86_400_000_000 // microseconds

	day2000 = 10957   // 2000-01-01, in days since 1970-01-01
	day2025 = 20089   // 2025-01-01
	day5000 = 1106685 // 5000-01-01
	day9999 = 2932896 // 9999-12-31
)

var (
	bigint    = schema.Of(schema.Int64)
	integer   = schema.Of(schema.Int32)
	double    = schema.Of(schema.Float64)
	date      = schema.Of(schema.Date)
	timestamp = schema.Of(schema.Timestamp)
	numeric38 = schema.Type{Kind: schema.Decimal, Precision: 38}
)

func varchar(n int) schema.Type { return schema.Type{Kind: schema.Text, Length: n} }

// bigTable is narrow: the table of load tests that count rows.
func bigTable() *Preset {
	p := &Preset{Name: "big_table", Key: []string{"id"}}
	p.add("id", "bigint", bigint, rowNumber)
	p.add("small_number", "integer", integer, between(1, 4))
	p.add("big_number", "bigint", bigint, between(100, 9999))
	p.add("short_string", "varchar(50)", varchar(50), texts(10, 50))
	p.add("created_date", "timestamp", timestamp, steps(day2025*day, day, 366))
	return p
}

// firenibble is wide, with values that strain types: decimals past 64 bits,
// timestamps past the range of 64-bit nanoseconds.
func firenibble() *Preset {
	p := &Preset{Name: "firenibble", Key: []string{"f0"}}
	far := steps(day5000*day, 1, (day9999+1-day5000)*day)
	near19 := numerics(1e18, 9e18)
	p.add("f0", "numeric(38,0)", numeric38, rowNumeric)
	p.add("f1", "numeric(38,0)", numeric38, near19)
	p.add("f2", "numeric(38,0)", numeric38, near19)
	p.add("f3", "integer", integer, between(-1<<31, 1<<31-1))
	for _, name := range []string{"f4", "f5", "f6", "f7"} {
		p.add(name, "double", double, millionths)
	}
	p.add("f8", "varchar(128)", varchar(128), codes)
	p.add("f9", "varchar(128)", varchar(128), codes)
	for _, name := range []string{"f10", "f11", "f12"} {
		p.add(name, "timestamp", timestamp, far)
	}
	for _, name := range []string{"f13", "f14", "f15"} {
		p.add(name, "varchar(128)", varchar(128), codes)
	}
	return p
}

// firenibbleCDC is of middling width, with a key that the database numbers.
func firenibbleCDC() *Preset {
	p := &Preset{Name: "firenibble_cdc", Key: []string{"id"}}
	p.add("id", "bigint", bigint, rowNumber)
	p.Columns[0].Identity = true
	for _, name := range []string{"int_col_1", "int_col_2", "int_col_3", "int_col_4"} {
		p.add(name, "integer", integer, between(-1<<31, 1<<31-1))
	}
	for _, name := range []string{"varchar_col_1", "varchar_col_2", "varchar_col_3", "varchar_col_4"} {
		p.add(name, "varchar(100)", varchar(100), texts(10, 100))
	}
	for _, name := range []string{"date_col_1", "date_col_2"} {
		p.add(name, "date", date, steps(day2000, 1, 10_000))
	}
	return p
}
