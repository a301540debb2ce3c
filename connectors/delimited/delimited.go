// Package delimited reads and writes files of delimited text: CSV and what
// databases dump for one another.
package delimited

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/schema"
)

// Form is how values are written in a file.
type Form struct {
	Delimiter   string `spec:"delimiter" default:"," json:"delimiter" doc:"One character between values."`
	Header      bool   `spec:"header" default:"true" json:"header" doc:"The first line of a file has the names of the columns."`
	Quote       string `spec:"quote" default:"\"" json:"quote" doc:"One character around values that need it; empty: nothing is quoted."`
	Escape      string `spec:"escape" default:"\"" json:"escape" doc:"One character before a quote in a quoted value; the quote itself: it is doubled."`
	Null        string `spec:"null" json:"null" doc:"What stands for NULL, unquoted; by default nothing at all."`
	Encoding    string `spec:"encoding" oneof:"utf-8 latin1 windows-1252 utf-16 utf-16le utf-16be" default:"utf-8" json:"encoding" doc:"Encoding of the text; utf-16 needs a byte order mark."`
	Compression string `spec:"compression" oneof:"none gzip zstd" default:"none" json:"compression" doc:"Compression of the files."`
}

// SourceConfig is a delimited source block: the form that its tables share, and
// the tables.
type SourceConfig struct {
	Form
	Tables []Table `spec:"table,block,required" json:"table" doc:"A table; the label is its name."`
}

// Table is a table block: files of one kind of rows.
type Table struct {
	Name    string   `spec:",label" json:"name"`
	Path    string   `spec:"path,required" json:"path" doc:"A file, or a pattern with * and ? that names all of them."`
	Columns []Column `spec:"column,block" json:"column,omitempty" doc:"A column, in the order of the file; without any, the header names them and all are text."`
	Key     []string `spec:"key" json:"key,omitempty" doc:"Columns that identify a row."`
}

// Column is a column block.
type Column struct {
	Name     string `spec:",label" json:"name"`
	Type     string `spec:"type" default:"text" json:"type" doc:"What the values are: bigint, numeric(10,2), varchar(50), timestamp ..."`
	Nullable bool   `spec:"nullable" default:"true" json:"nullable" doc:"NULL may occur."`
}

// TargetConfig is a delimited target block.
type TargetConfig struct {
	Form
	Path string `spec:"path,required" json:"path" doc:"Folder of the files; each chunk of a table is one." example:"out"`
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "delimited",
		Summary: "files of delimited text (CSV), compressed or not",
		Types:   types{},
		Special: connectors.WordsOf(types{}),
		Source: &connectors.SourceDef{
			Config: func() any { return &SourceConfig{} },
			Check:  checkSource,
			// Files that do not change can be read again; those that do stop the run.
			Capabilities: connectors.SourceCapabilities{Durable: true, Frozen: true, Values: connectors.Values{NaN: true}},
			Splits:       splits,
			Local:        local,
			Explain:      explainer{},
			Live:         sourceChecks,
			Open:         openSource,
		},
		Target: &connectors.TargetDef{
			Config: func() any { return &TargetConfig{} },
			Check:  checkTarget,
			Capabilities: connectors.TargetCapabilities{
				Modes:     []string{"copy"},
				NoScripts: true,
				Changes:   []string{"append"},
				Lanes:     connectors.LanesPipeline,
				Names:     "keep",
				Delivery:  "effectively once",
				// A batch is a file: one a minute is few enough to handle.
				CommitBytes: 64 << 20, CommitEvery: "60s",
				Values: connectors.Values{NaN: true},
			},
			SplitName: splitName,
			Local:     localTarget,
			Live:      targetChecks,
			Explain:   explainer{},
			Open:      openTarget,
			Read:      openWritten,
		},
	}
}

func checkTarget(config any) []connectors.Problem {
	c := config.(*TargetConfig)
	out := c.Form.check()
	if c.Encoding != "utf-8" {
		out = append(out, connectors.Problem{Path: "encoding", Detail: "files are written in utf-8: other encodings lack characters"})
	}
	return out
}

func checkSource(config any) []connectors.Problem {
	c := config.(*SourceConfig)
	out := c.Form.check()
	for _, t := range c.Tables {
		problem := func(setting, detail string, args ...any) {
			out = append(out, connectors.Problem{Path: strings.TrimSuffix("table."+t.Name+"."+setting, "."), Detail: fmt.Sprintf(detail, args...)})
		}
		if _, err := filepath.Match(t.Path, ""); err != nil {
			problem("path", "%q is no pattern: a bracket is not closed", t.Path)
		}
		if len(t.Columns) == 0 && !c.Header {
			problem("", "the files have no header, so that only `column` blocks can name the columns")
		}
		named := map[string]bool{}
		for _, col := range t.Columns {
			if _, err := (types{}).Parse(col.Type); err != nil {
				problem("column."+col.Name+".type", "%s", err)
			}
			named[col.Name] = true
		}
		for _, k := range t.Key {
			if len(t.Columns) > 0 && !named[k] {
				problem("key", "there is no column %q", k)
			}
		}
	}
	return out
}

func (f Form) check() []connectors.Problem {
	var out []connectors.Problem
	one := func(path, v string, mayBeEmpty bool) {
		if v == "" && mayBeEmpty {
			return
		}
		if r, n := utf8.DecodeRuneInString(v); n == 0 || n != len(v) || r == '\n' || r == '\r' || r == utf8.RuneError {
			out = append(out, connectors.Problem{Path: path, Detail: "it is one character, and no end of line"})
		}
	}
	one("delimiter", f.Delimiter, false)
	one("quote", f.Quote, true)
	one("escape", f.Escape, true)
	if f.Delimiter != "" && (f.Delimiter == f.Quote || f.Delimiter == f.Escape) {
		out = append(out, connectors.Problem{Path: "delimiter", Detail: "it can't be the quote or the escape too"})
	}
	if f.Quote != "" && strings.Contains(f.Null, f.Quote) {
		out = append(out, connectors.Problem{Path: "null", Detail: "it can't hold a quote: NULL is never quoted"})
	}
	for _, p := range []struct{ path, v string }{{"delimiter", f.Delimiter}, {"quote", f.Quote}, {"escape", f.Escape}, {"null", f.Null}} {
		if _, err := encode(f.Encoding, p.v); err != nil {
			out = append(out, connectors.Problem{Path: p.path, Detail: err.Error()})
		}
	}
	if f.Delimiter != "" && strings.Contains(f.Null, f.Delimiter) || strings.ContainsAny(f.Null, "\r\n") {
		out = append(out, connectors.Problem{Path: "null", Detail: "it can't hold a delimiter or an end of line"})
	}
	return out
}

// splitName takes a table's name as it is: it becomes the beginning of file names.
func splitName(name string) (schema.Name, error) {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") {
		return schema.Name{}, fmt.Errorf("%q can't begin a file's name: leave out slashes, and a dot at the beginning", name)
	}
	return schema.Name{Name: name}, nil
}

// Storage words of the catalog.
const (
	storageFile   = "file"   // bytes can be sought
	storageStream = "stream" // compressed: read from the beginning to the end
)

// splits: a plain file can be cut at any line.
func splits(t *schema.Table) []connectors.SplitKind {
	if t.Storage == storageStream {
		return []connectors.SplitKind{connectors.SplitNone}
	}
	return []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitNone}
}
