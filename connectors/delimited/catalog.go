package delimited

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		files, bytes, err := find(t, env.Dir)
		if err != nil {
			return nil, &connectors.Error{Op: "look for the files of", Table: t.Name, Class: connectors.Fatal, Err: err}
		}
		st := schema.Table{Name: schema.Name{Name: t.Name}, Storage: storageFile}
		if c.Compression != "none" || c.Encoding == "utf-16" {
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
				return nil, err
			}
		}
		if len(t.Key) > 0 {
			st.PrimaryKey = &schema.Key{Columns: slices.Clone(t.Key)}
			for i := range st.Columns { // a value that identifies a row is there
				c := &st.Columns[i]
				c.Nullable = c.Nullable && !slices.Contains(t.Key, c.Name)
			}
		}
		if bytes > 0 && c.Compression == "none" {
			row := int64(st.EstimatedRowBytes())
			st.Stats = &schema.Statistics{Bytes: bytes, Rows: (bytes + row - 1) / row}
		}
		out.Tables = append(out.Tables, st)
	}
	return out, nil
}

// find lists the files of a table in the order of their names, and their bytes.
func find(t Table, dir string) (files []string, bytes int64, err error) {
	pattern := t.Path
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(dir, pattern)
	}
	if files, err = filepath.Glob(pattern); err != nil {
		return nil, 0, err
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, 0, err
		}
		bytes += info.Size()
	}
	return files, bytes, nil
}

// maxHeader bounds a first line: a file of another kind may have no line ends.
const maxHeader = 1 << 20

// header reads the columns from the first line of the first file.
func (c *SourceConfig) header(t Table, files []string) ([]schema.Column, error) {
	problem := func(hint, detail string, args ...any) error {
		return &connectors.Error{Op: "read the header of", Table: t.Name, Class: connectors.Schema, Err: fmt.Errorf(detail, args...), Hint: hint}
	}
	const hint = "Name its columns with column blocks"
	if len(files) == 0 {
		return nil, problem(hint, "no file matches %s", t.Path)
	}
	if c.Encoding != "utf-8" || c.Compression == "zstd" {
		return nil, problem(hint, "headers are read from utf-8 text, plain or in gzip")
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if c.Compression == "gzip" {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, problem("Is it compressed?", "%s: %w", t.Path, err)
		}
	}
	names, err := c.cut(bufio.NewReader(io.LimitReader(r, maxHeader)))
	if err != nil {
		return nil, problem(hint, "%w", err)
	}
	var out []schema.Column
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, problem(hint, "column %d has no name of its own: %q", i+1, name)
		}
		out = append(out, schema.Column{Name: name, Native: "text", Type: schema.Of(schema.Text), Nullable: true})
	}
	return out, nil
}

// cut reads one line and cuts it at delimiters outside of quotes.
func (f Form) cut(r io.RuneReader) ([]string, error) {
	var out []string
	var value strings.Builder
	quoted, escaped, closed, size := false, false, false, 0
	for {
		c, n, err := r.ReadRune()
		if size += n; err == io.EOF && size == 0 {
			return nil, fmt.Errorf("the file is empty")
		}
		end := err == io.EOF
		if err != nil && !end {
			return nil, err
		}
		s := string(c)
		again := closed // a quote right after the one that closed is a doubled one
		closed = false
		switch {
		case end && quoted, end && size >= maxHeader:
			return nil, fmt.Errorf("the first line does not end")
		case size == n && c == '\uFEFF': // a byte order mark
		case end:
			return append(out, value.String()), nil
		case escaped:
			value.WriteRune(c)
			escaped = false
		case quoted && s == f.Escape && f.Escape != f.Quote:
			escaped = true
		case s == f.Quote && f.Quote != "":
			quoted, closed = !quoted, quoted
			if again {
				value.WriteRune(c)
			}
		case quoted:
			value.WriteRune(c)
		case s == f.Delimiter:
			out = append(out, value.String())
			value.Reset()
		case c == '\r':
		case c == '\n':
			return append(out, value.String()), nil
		default:
			value.WriteRune(c)
		}
	}
}
