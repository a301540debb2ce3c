package delimited

import (
	"context"
	"fmt"
	"path/filepath"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// written is a target's folder as a source: the files of its tables, of every
// load, with the columns that they were written with.
type written struct {
	t *target
}

var (
	_ connectors.Source   = (*written)(nil)
	_ connectors.Snapshot = (*writtenSnapshot)(nil)
)

func openWritten(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	t, err := openTarget(ctx, config, env)
	if err != nil {
		return nil, err
	}
	return &written{t.(*target)}, nil
}

// Catalog is the tables that were loaded into the folder, with types that take
// whatever others have written there.
func (w *written) Catalog(ctx context.Context) (*schema.Catalog, error) {
	c, err := w.t.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	for i := range c.Tables {
		for k := range c.Tables[i].Columns {
			col := &c.Tables[i].Columns[k]
			col.Type = col.Type.Unlimited()
		}
	}
	return c, nil
}

// Close has nothing to close.
func (w *written) Close() error { return nil }

// writtenSnapshot is the files as they were found. A file that changes is
// noticed, one that is added is not seen.
type writtenSnapshot struct{ snapshot }

// Snapshot looks for the files of every table.
func (w *written) Snapshot(ctx context.Context, _ connectors.SnapshotOptions) (connectors.Snapshot, error) {
	c, err := w.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	n := &writtenSnapshot{snapshot{layout: w.t.layout, tables: map[string]*filed{}}}
	for _, t := range c.Tables {
		f := &filed{Table: Table{Name: t.Name.Name, Path: filepath.Join(w.t.dir, t.Name.Name+"-*")}}
		for _, col := range t.Columns {
			f.Columns = append(f.Columns, Column{Name: col.Name, Type: col.Native, Nullable: col.Nullable})
		}
		files, err := w.t.filesOf(t.Name.Name)
		if err != nil {
			return nil, at("look for the files of", t.Name.Name, err)
		}
		for _, d := range files {
			one, err := stat(filepath.Join(w.t.dir, d.name))
			if err != nil {
				return nil, at("look for the files of", t.Name.Name, err)
			}
			one.name = d.name
			f.files = append(f.files, one)
		}
		f.point = f.digest(w.t.config.Form)
		n.tables[t.Name.Name] = f
	}
	return n, nil
}

// Split makes a chunk of each file: a chunk is what a file was written from.
func (n *writtenSnapshot) Split(_ context.Context, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	f, err := n.find("split", t)
	if err != nil {
		return nil, err
	}
	if s.Kind != connectors.SplitBlocks {
		return nil, at("split", t.Name.Name, fmt.Errorf("files that were written here are split by blocks, not %q", s.Kind))
	}
	var edges []ranges.Edge
	for i := 1; i < len(f.files); i++ {
		edges = append(edges, place{file: i, line: 1}.edge())
	}
	return ranges.Chunks(edges, max(s.Count, 1)), nil
}
