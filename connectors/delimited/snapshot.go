package delimited

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/ranges"
	"penstock/internal/schema"
)

// source is an open source: nothing but its config, until files are read.
type source struct {
	config *SourceConfig
	layout *layout
	dir    string
}

var (
	_ connectors.Source   = (*source)(nil)
	_ connectors.Snapshot = (*snapshot)(nil)
)

func openSource(_ context.Context, config any, env connectors.Env) (connectors.Source, error) {
	c := config.(*SourceConfig)
	if p := checkSource(c); len(p) > 0 {
		return nil, at("open", p[0].Path, fmt.Errorf("%s", p[0].Detail))
	}
	l, err := newLayout(c.Form)
	if err != nil {
		return nil, at("open", "", err)
	}
	return &source{c, l, env.Dir}, nil
}

// Catalog is what the spec says, or the headers of the files.
func (s *source) Catalog(ctx context.Context) (*schema.Catalog, error) {
	return local(ctx, s.config, connectors.Env{Dir: s.dir})
}

// Close has nothing to close.
func (s *source) Close() error { return nil }

// snapshot is the files as they were found. They are frozen by agreement: a
// file that changes nevertheless is noticed, before it is read and after.
type snapshot struct {
	layout *layout
	tables map[string]*filed
}

// filed is a table with its files.
type filed struct {
	Table
	files []file
	point change.Position
}

// Snapshot looks for the files of every table.
func (s *source) Snapshot(_ context.Context, o connectors.SnapshotOptions) (connectors.Snapshot, error) {
	n := &snapshot{layout: s.layout, tables: map[string]*filed{}}
	there := false
	for _, t := range s.config.Tables {
		files, err := find(t, s.dir)
		if err != nil {
			return nil, at("look for the files of", t.Name, err)
		}
		f := &filed{Table: t, files: files}
		f.point = f.digest(s.config.Form)
		there = there || o.At.Compare(f.point) == 0
		n.tables[t.Name] = f
	}
	if o.At != nil && !there {
		return nil, &connectors.Error{Op: "read files", Position: o.At, Class: connectors.LostPosition,
			Err:  fmt.Errorf("a file, or how it is read, has changed since the load began"),
			Hint: "Put the files and their settings back, or load the table anew with --reload."}
	}
	return n, nil
}

// digest is the point of a table: which files it has, of what size, time and
// inode, and how they are read. A file that is written to, replaced, added or
// taken away makes it another one.
func (f *filed) digest(form Form) change.Position {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, v := range []any{form, f.Columns} {
		if err := enc.Encode(v); err != nil {
			panic(err) // texts and booleans always marshal
		}
	}
	for _, f := range f.files {
		fmt.Fprintf(h, "%q %d %d %d\n", f.name, f.size, f.mtime, f.inode)
	}
	return h.Sum(nil)[:16]
}

// Position is the table's point.
func (n *snapshot) Position(t *schema.Table) (change.Position, error) {
	f, err := n.find("read the point of", t)
	if err != nil {
		return nil, err
	}
	return f.point, nil
}

// Durable is true: files that have not changed can be read again.
func (n *snapshot) Durable() bool { return true }

// Close has nothing to close: each reader has its file open by itself.
func (n *snapshot) Close() error { return nil }

func (n *snapshot) find(op string, t *schema.Table) (*filed, error) {
	f := n.tables[t.Name.Name]
	if f == nil {
		return nil, at(op, t.Name.Name, schemaError("Plan the spec again.", "the source has no such table"))
	}
	if len(f.files) == 0 {
		return nil, at(op, t.Name.Name, &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("no file matches %s", f.Path), Hint: "Put the files there, or mend `path`."})
	}
	return f, nil
}

// Split cuts a table.
func (n *snapshot) Split(ctx context.Context, t *schema.Table, s connectors.Split) ([]ranges.Chunk, error) {
	f, err := n.find("split", t)
	if err != nil {
		return nil, err
	}
	out, err := n.layout.split(ctx, f, t, s)
	return out, at("split", t.Name.Name, err)
}
