package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"penstock/connectors"
	"penstock/internal/schema"
)

// Follows reports a pipeline that follows the source's log.
func (p *Pipeline) Follows() bool { return p.Mode != "snapshot" }

// Loads reports a pipeline that reads the tables' rows.
func (p *Pipeline) Loads() bool { return p.Mode != "cdc" }

// Followed is what is followed of the table, which is source at its endpoint: its
// images have the columns that are read, in batch order.
func (t *Table) Followed(source *schema.Table) connectors.ChangeTable {
	of := *source
	of.Columns = make([]schema.Column, 0, len(t.Read))
	for _, r := range t.Read {
		if c := source.Column(r.Name); c != nil {
			of.Columns = append(of.Columns, *c)
		}
	}
	out := connectors.ChangeTable{Table: &of}
	for _, k := range t.Key {
		for _, c := range t.Columns {
			if c.Name == k && c.Source != "" {
				out.Key = append(out.Key, c.Source)
			}
		}
	}
	for _, c := range source.Columns {
		if of.Column(c.Name) == nil {
			out.Others = append(out.Others, c.Name)
		}
	}
	return out
}

// Streamed is the table as lanes see it: its images have the target's columns.
func (t *Table) Streamed() connectors.StreamTable {
	l := t.Facts()
	out := connectors.StreamTable{Source: &schema.Table{Name: t.Source}, Target: t.Target, Columns: l.Columns}
	for i, c := range t.Columns {
		out.Source.Columns = append(out.Source.Columns, schema.Column{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
		if slices.Contains(t.Key, c.Name) {
			out.Key = append(out.Key, i)
		}
	}
	if t.Route != nil {
		out.Rank = t.Route.Rank
	}
	return out
}

// Lanes is how many lanes the stream has.
func (p *Pipeline) Lanes() int {
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Kind == StageApply && s.Lanes > 0 {
			return s.Lanes
		}
	}
	return 0
}

// dealing is what decides which lane a change goes to, and nothing else.
type dealing struct {
	Order  string         `json:"order"`
	Lanes  int            `json:"lanes"`
	Tables []dealingTable `json:"tables"`
}

type dealingTable struct {
	Source schema.Name `json:"source"`
	Key    []string    `json:"key,omitempty"`
	Ranges int         `json:"ranges,omitempty"`
	Alone  string      `json:"alone,omitempty"`
}

// DealingDigest is the digest of how changes are dealt to lanes. Where it changes,
// changes of one key go to another lane than before.
func (p *Pipeline) DealingDigest() string {
	d := dealing{Order: p.Order, Lanes: p.Lanes()}
	for i := range p.Tables {
		t := &p.Tables[i]
		x := dealingTable{Source: t.Source, Key: t.Key}
		if t.Route != nil {
			x.Ranges, x.Alone = t.Route.Ranges, t.Route.Alone
		}
		d.Tables = append(d.Tables, x)
	}
	b, err := compact(d)
	if err != nil {
		panic("plan: " + err.Error()) // strings and numbers only
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
