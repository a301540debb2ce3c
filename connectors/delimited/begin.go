package delimited

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/schema"
)

// description is what the target remembers of a table, whoever loads it.
type description struct {
	Name    string                    `json:"name"`
	Loads   int                       `json:"loads"` // begun so far: the number of the last one
	Columns []connectors.TargetColumn `json:"columns"`
	Key     []string                  `json:"key,omitempty"`
}

func descriptionPath(dir, table string) string {
	return filepath.Join(dir, stateDir, tablesDir, escaped(table)+".json")
}

func readDescription(path string) (*description, error) {
	d := &description{}
	err := readJSON(path, d)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return d, err
}

// Begin starts a table's generation.
func (t *target) Begin(ctx context.Context, l connectors.Load, s connectors.Start) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	failpoint.Hit("begin.before")
	if err := t.owned(ctx, func() error { return t.begin(l, s) }); err != nil {
		return at("begin", l.Table.Name, err)
	}
	failpoint.Hit("begin.after")
	return nil
}

// begin decides everything first and then writes, so that a refusal changes
// nothing. Files go only after the state says which: a claim after a crash
// removes the rest of them.
func (t *target) begin(l connectors.Load, s connectors.Start) error {
	if _, err := t.header(l.Columns); err != nil {
		return err
	}
	before := t.tables[l.Source]
	files, err := t.filesOf(l.Table.Name)
	if err != nil {
		return err
	}
	var gone []string
	for _, f := range files {
		own := before != nil && f.load == before.Load && before.Table == l.Table.Name
		switch {
		case s.Restart && own, l.Existing == connectors.ExistingTruncate:
			gone = append(gone, f.name)
		case l.Existing != connectors.ExistingAppend && !s.Restart:
			return &connectors.Error{Class: connectors.Conflict, Err: fmt.Errorf("table %s has files already: %s", l.Table.Name, f.name),
				Hint: `Write existing = "truncate" to remove them first, or existing = "append" to add to them.`}
		}
	}
	d, err := readDescription(descriptionPath(t.dir, l.Table.Name))
	if err != nil {
		return err
	}
	if d == nil && !l.Create {
		return schemaError("Plan again.", "the folder does not know table %s any more", l.Table.Name)
	}
	if d == nil {
		d = &description{Name: l.Table.Name}
	}
	if len(gone) < len(files) {
		if why := d.differs(l.Columns); why != "" {
			return schemaError(`Load it under another name, or with existing = "truncate".`, "its files were written with other columns: %s", why)
		}
	}
	d.Columns, d.Key = l.Columns, l.Key
	d.Loads++
	if err := writeJSON(descriptionPath(t.dir, l.Table.Name), d); err != nil {
		return err
	}
	failpoint.Hit("begin.described")
	st := &tableState{Name: l.Source, Table: l.Table.Name, Load: d.Loads, Generation: s.Generation, Digest: l.Digest, Definition: l.Definition,
		Point: s.Point, Created: s.Created, UpdatedAt: now(), Remove: gone, Chunks: s.Chunks, done: map[int]doneLine{}, filed: map[int]bool{}}
	if err := writeJSON(t.statePath(l.Source), st); err != nil {
		return err
	}
	failpoint.Hit("begin.stored")
	t.tables[l.Source] = st
	if err := t.removeFiles(st); err != nil {
		return err
	}
	failpoint.Hit("begin.removed")
	if before == nil {
		return nil
	}
	if err := t.removeRows(func(path string) bool { return strings.HasPrefix(path, t.base(before)+"-") }); err != nil {
		return err
	}
	return remove(t.donePath(before))
}

// differs says how columns differ from those that the table's files have.
func (d *description) differs(columns []connectors.TargetColumn) string {
	if len(d.Columns) == 0 {
		return ""
	}
	for i, c := range columns {
		if i >= len(d.Columns) {
			return fmt.Sprintf("they have no column %s", c.Name)
		}
		if have := d.Columns[i]; have.Name != c.Name || have.Type != c.Type {
			return fmt.Sprintf("column %d is %s %s there and %s %s here", i+1, have.Name, have.Native, c.Name, c.Native)
		}
	}
	if len(columns) < len(d.Columns) {
		return fmt.Sprintf("column %s is not written here", d.Columns[len(columns)].Name)
	}
	return ""
}

// Catalog is the tables that were loaded into the folder.
func (t *target) Catalog(ctx context.Context) (*schema.Catalog, error) {
	return localTarget(ctx, &t.config, t.env)
}

// localTarget is the target's catalog; a folder that is not there is an empty
// one.
func localTarget(_ context.Context, config any, env connectors.Env) (*schema.Catalog, error) {
	dir := resolve(env, config.(*TargetConfig).Path)
	out := &schema.Catalog{Kind: "delimited"}
	folder := filepath.Join(dir, stateDir, tablesDir)
	entries, err := os.ReadDir(folder) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, at("read the catalog of", dir, err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		d, err := readDescription(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, at("read the catalog of", dir, err)
		}
		if d == nil { // removed since
			continue
		}
		st := schema.Table{Name: schema.Name{Name: d.Name}, Storage: storageFile}
		for _, c := range d.Columns {
			st.Columns = append(st.Columns, schema.Column{Name: c.Name, Native: c.Native, Type: c.Type, Nullable: c.Nullable})
		}
		if len(d.Key) > 0 {
			st.PrimaryKey = &schema.Key{Columns: d.Key}
		}
		out.Tables = append(out.Tables, st)
	}
	return out, nil
}
