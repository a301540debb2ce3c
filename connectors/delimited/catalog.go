package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// local is the catalog: tables and columns as the spec says them, else columns
// as the header of the first file names them. Files are looked at for no other
// reason; where there are none yet, a table with columns is planned all the same.
func local(_ context.Context, config any, env connectors.Env) (*schema.Catalog, error) {
	c := config.(*SourceConfig)
	out := &schema.Catalog{Kind: "delimited"}
	for _, t := range c.Tables {
		files, err := find(t, env.Dir)
		var size int64
		for _, f := range files {
			size += f.size
		}
		if err != nil {
			return nil, at("look for the files of", t.Name, err)
		}
		st := schema.Table{Name: schema.Name{Name: t.Name}, Storage: storageFile}
		if c.Compression != "none" || strings.HasPrefix(c.Encoding, "utf-16") {
			st.Storage = storageStream
		}
		for _, col := range t.Columns {
			typ, err := types{}.Parse(col.Type)
			if err != nil {
				return nil, err
			}
			st.Columns = append(st.Columns, schema.Column{Name: col.Name, Native: col.Type, Type: typ, Nullable: col.Nullable})
		}
		if len(t.Columns) == 0 {
			if st.Columns, err = c.header(t, files); err != nil {
				return nil, at("read the header of", t.Name, err)
			}
		}
		if len(t.Key) > 0 {
			st.PrimaryKey = &schema.Key{Columns: slices.Clone(t.Key)}
			for i := range st.Columns { // a value that identifies a row is there
				c := &st.Columns[i]
				c.Nullable = c.Nullable && !slices.Contains(t.Key, c.Name)
			}
		}
		if size > 0 && c.Compression == "none" {
			row := int64(st.EstimatedRowBytes())
			st.Stats = &schema.Statistics{Bytes: size, Rows: (size + row - 1) / row}
		}
		out.Tables = append(out.Tables, st)
	}
	return out, nil
}

// maxHeader bounds a first line: a file of another kind may have no line ends.
const maxHeader = 1 << 20

// header reads the columns from the first line of the first file.
func (c *SourceConfig) header(t Table, files []file) ([]schema.Column, error) {
	const hint = "Name its columns with column blocks."
	if len(files) == 0 {
		return nil, schemaError(hint, "no file matches %s", t.Path)
	}
	l, err := newLayout(c.Form)
	if err != nil {
		return nil, err
	}
	w := &window{}
	in, err := l.open(files[0], 0, -1, w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files[0].name, err)
	}
	defer in.close()
	names, err := l.names(w, &record{})
	if err != nil {
		return nil, schemaError(hint, "%s: %w", files[0].name, err)
	}
	var out []schema.Column
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, schemaError(hint, "%s: column %d has no name of its own: %q", files[0].name, i+1, name)
		}
		out = append(out, schema.Column{Name: name, Native: "text", Type: schema.Of(schema.Text), Nullable: true})
	}
	return out, nil
}

var errEmpty = errors.New("the file is empty")

// names reads past the first line of a file and gives the names in it.
func (l *layout) names(w *window, r *record) ([]string, error) {
	for {
		data := w.data()
		switch {
		case len(data) == 0 && w.eof:
			return nil, errEmpty
		case len(data) > 0:
			all := record{values: make([]value, 0, bytes.Count(data, l.delim)+1)}
			if !l.cut(data, w.eof, &all) {
				break
			}
			if all.fault != "" {
				return nil, errors.New(all.fault)
			}
			var out []string
			for _, v := range all.values {
				name, _ := l.plain(nil, data[v.from:v.to], v.escaped)
				out = append(out, string(name))
			}
			w.from += all.end
			r.lines = all.lines
			return out, nil
		}
		if len(data) >= maxHeader {
			return nil, fmt.Errorf("the first line does not end within %d MiB", maxHeader>>20)
		}
		if err := w.more(); err != nil {
			return nil, err
		}
	}
}
