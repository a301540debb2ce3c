package synthetic

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/schema"
	"penstock/internal/workload"
)

// table is one table of the source: the rows of a workload, up to a number.
type table struct {
	workload.Table
	name string
	rows int64
}

// count is how many tables the block makes.
func (t Table) count() int { return max(t.Tables, 1) }

// name is the name of the block's n-th table.
func (t Table) name(n int) string {
	if t.Tables == 0 {
		return t.Name
	}
	return t.Name + strconv.Itoa(n)
}

// expand makes the tables of a config.
func expand(c *Config) ([]*table, error) {
	var out []*table
	for _, t := range c.Tables {
		preset := workload.Find(t.Preset)
		if preset == nil {
			return nil, &connectors.Error{Op: "open", Table: t.Name, Class: connectors.Schema,
				Err: fmt.Errorf("unknown preset %q", t.Preset), Hint: "Plan the spec again with this version."}
		}
		for n := 1; n <= t.count(); n++ {
			out = append(out, &table{workload.Table{Preset: preset, Seed: uint64(t.Seed), Number: n}, t.name(n), t.Rows})
		}
	}
	return out, nil
}

// local is the catalog; it needs nothing but the config.
func local(_ context.Context, config any, _ connectors.Env) (*schema.Catalog, error) {
	tables, err := expand(config.(*Config))
	if err != nil {
		return nil, err
	}
	return catalogOf(tables), nil
}

func catalogOf(tables []*table) *schema.Catalog {
	c := &schema.Catalog{Kind: "synthetic"}
	for _, t := range tables {
		st := schema.Table{
			Name:       schema.Name{Name: t.name},
			Columns:    append([]schema.Column{}, t.Preset.Columns...),
			PrimaryKey: &schema.Key{Columns: append([]string{}, t.Preset.Key...)},
			Storage:    t.storage(),
		}
		st.Stats = &schema.Statistics{Rows: t.rows, Bytes: t.rows * int64(st.EstimatedRowBytes()), Exact: true}
		c.Tables = append(c.Tables, st)
	}
	return c
}

// storage says where the rows come from; statements quote it.
func (t *table) storage() string {
	s := fmt.Sprintf("preset %s, seed %d", t.Preset.Name, int64(t.Seed))
	if t.Number > 1 {
		s += fmt.Sprintf(", table %d", t.Number)
	}
	return s
}

// point stands for the table's rows: it is another one when they are others.
func (t *table) point() change.Position {
	return fmt.Appendf(nil, "%s, %d rows", t.storage(), t.rows)
}

// find returns the table of this name, or nil.
func find(tables []*table, name schema.Name) *table {
	for _, t := range tables {
		if name == (schema.Name{Name: t.name}) {
			return t
		}
	}
	return nil
}

// has reports whether p is the point of one of the tables.
func (s *source) has(p change.Position) bool {
	for _, t := range s.tables {
		if bytes.Equal(t.point(), p) {
			return true
		}
	}
	return false
}
