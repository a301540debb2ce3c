package planner_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/json.md lists every field of what --json writes, from the structs that
// are encoded and the comments beside their fields. `make update` writes it.
func TestGoldenJSONPage(t *testing.T) {
	const path = "../docs/json.md"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := bytes.Cut(old, []byte(fieldsMark))
	if !ok {
		t.Fatalf("%s has no line %q, below which its tables stand", path, fieldsMark)
	}
	g := &jsonPage{t: t, structs: map[string]*jsonStruct{}, names: map[string]string{}, text: map[string]bool{}, events: map[string]string{}}
	for _, dir := range []string{"cmd/penstock", "planner/plan", "runtime", "runtime/verify", "connectors", "internal/diag", "internal/event", "internal/schema"} {
		g.read(dir)
	}
	golden(t, path, append(append(bytes.Clone(head), fieldsMark...), g.tables()...))
}

const fieldsMark = "<!-- What follows is written by `make update`, from the code. -->\n"

// meanings are of fields that mean the same wherever they stand, so that no
// comment has to say it again.
var meanings = map[string]string{
	"Record.range": "the bytes it is about", "RelatedRecord.range": "its bytes", "EditRecord.range": "the bytes that go",
	"Snippet.code": "the lines", "Pipeline.bad_rows": "what is done with rows that can't go in", "TableResult.ranges": "what this run loaded of each",
	"PipelineStarted.tables": "how many", "pulled.tables": "how many", "endpoint": "its id: `source.erp`", "PipelineResult.tables": "each table's outcome", "PipelineResult.error": "why it failed",
	"Snippet.highlight_end":     "the byte behind it",
	"attempt":                   "how many have failed",
	"bad_rows":                  "rows set aside",
	"by":                        "columns",
	"byte":                      "from 0",
	"bytes":                     "of values, as they lie in memory",
	"changes":                   "how a stream enters: `merge`, `array`, `row`, `append`",
	"chunk":                     "number of the chunk, from 1",
	"chunks":                    "pieces that commit one by one",
	"chunks_done":               "of those, committed",
	"class":                     "what kind of error: CONTRIBUTING.md lists them",
	"code":                      "PEN and four digits: docs/diagnostics.md",
	"collisions":                "of streams: what a change that doesn't fit the rows does, `error` or `repair`",
	"column":                    "from 1, in characters as people count them",
	"columns":                   "in order",
	"connector":                 "its kind",
	"count":                     "how many",
	"create":                    "the run creates it",
	"delivery":                  "the promise, in fixed words",
	"detail":                    "why, and what to write instead",
	"diff":                      "what changes, as a unified diff",
	"end":                       "behind its last byte",
	"ended":                     "when it ended",
	"epoch":                     "of the claim: each raises it",
	"error":                     "in words",
	"estimated_row_bytes":       "of an average row in memory",
	"every":                     "a duration",
	"existing":                  "what rows that are there do: `error`, `truncate`, `append`",
	"exit":                      "exit code",
	"file":                      "the file's path",
	"filename":                  "the file, as the command line leads to it",
	"filter":                    "row expression, true to keep a row",
	"format_version":            "changes when a field goes or changes its meaning",
	"generation":                "of the table's load: loading it anew raises it",
	"highlight_start":           "byte of `code` at which what is meant begins, from 0",
	"in_ns":                     "how long it waits before the next attempt",
	"indexes":                   "`keep` or `defer`: after the rows",
	"key":                       "columns that tell rows apart",
	"kind":                      "what it is",
	"lanes":                     "how many there are",
	"line":                      "from 1",
	"loaded_at":                 "when an earlier run had loaded it",
	"memory_bytes":              "of rows, at most",
	"message":                   "in words",
	"mode":                      "how it moves",
	"name":                      "its name",
	"native":                    "the type as its database writes it",
	"new_text":                  "what the range becomes",
	"nullable":                  "may be NULL",
	"object":                    "what it is about: an endpoint, `pipeline` or `pipeline.table`",
	"on_invalid_text":           "what a text that is none does",
	"on_nul":                    "what a NUL in a text does",
	"operations":                "of a stream; nothing: all of them",
	"parallel":                  "how many carry it at once, at most",
	"pipeline":                  "the pipeline's name",
	"point":                     "where in the source's history its rows are read",
	"range":                     "number of the range, from 1",
	"ranges":                    "how many there are",
	"readers":                   "at once",
	"reason":                    "what the decision rests on",
	"report_every":              "how often a line tells where a run is",
	"retries":                   "how often something was tried again",
	"rows":                      "rows that are at the target",
	"rows_bad":                  "rows that this run set aside",
	"rows_bad_before":           "rows that earlier runs set aside",
	"rows_filtered":             "rows that the filter left out",
	"rows_loaded":               "rows that this run brought to the target",
	"rows_read":                 "rows read from the source, bad and filtered ones among them",
	"schema":                    "the schema, owner or dataset",
	"schema_changes":            "of streams: `stop` or `add_nullable`",
	"seconds":                   "from its first row to its last commit",
	"severity":                  "`error` or `warning`",
	"source":                    "the source",
	"source_connections":        "at most",
	"sql":                       "the statement, or what happens where there is no SQL",
	"start":                     "where it begins",
	"start_line":                "number of its first line, from 1",
	"started":                   "when it began",
	"statements":                "in the order in which they run",
	"summary":                   "one line",
	"table":                     "the table's name at the source",
	"tables":                    "tables, in the plan's order",
	"target":                    "the target",
	"target_connections":        "at most",
	"text":                      "the line",
	"throttle_bytes_per_second": "at most that much is read",
	"title":                     "what it does, in words",
	"tls":                       "`verify` or `off`; nothing where there is no network",
	"tls_ca":                    "file of the authority that servers are verified by",
	"type":                      "the type as Penstock sees it",
	"values":                    "the values too, not keys and reasons alone",
	"version":                   "of this program",
	"why":                       "in words",
	"workers":                   "readers and writers, that many of each where both allow it",
	"writers":                   "at once",
}

type jsonStruct struct {
	key    string // "plan.Table"
	doc    string
	fields []*ast.Field
	pkg    string
}

type jsonPage struct {
	t       *testing.T
	structs map[string]*jsonStruct
	names   map[string]string // other named types: what they are in JSON
	text    map[string]bool   // types that write themselves as text
	events  map[string]string // struct key to event name
	order   []string
}

func (g *jsonPage) read(dir string) {
	files, err := filepath.Glob("../" + dir + "/*.go")
	if err != nil || len(files) == 0 {
		g.t.Fatalf("%s: no Go files: %v", dir, err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						g.typeSpec(file.Name.Name, d, s)
					}
				}
			case *ast.FuncDecl:
				g.method(file.Name.Name, d)
			}
		}
	}
}

func (g *jsonPage) typeSpec(pkg string, d *ast.GenDecl, s *ast.TypeSpec) {
	key := pkg + "." + s.Name.Name
	switch x := s.Type.(type) {
	case *ast.StructType:
		doc := cmp.Or(s.Doc.Text(), d.Doc.Text())
		g.structs[key] = &jsonStruct{key: key, doc: doc, fields: x.Fields.List, pkg: pkg}
	case *ast.Ident:
		g.names[key] = g.basic(x.Name)
	}
}

// method learns which types are events, and which are text in JSON.
func (g *jsonPage) method(pkg string, d *ast.FuncDecl) {
	if d.Recv == nil {
		return
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, ok := of.(*ast.Ident)
	if !ok {
		return
	}
	switch d.Name.Name {
	case "MarshalText":
		g.text[pkg+"."+name.Name] = true
	case "Name":
		if len(d.Body.List) == 1 && len(d.Type.Params.List) == 0 {
			if r, ok := d.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				if lit, ok := r.Results[0].(*ast.BasicLit); ok {
					g.events[pkg+"."+name.Name], _ = strconv.Unquote(lit.Value)
				}
			}
		}
	}
}

func (g *jsonPage) basic(name string) string {
	switch name {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "float64":
		return "number"
	}
	if strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint") {
		return "integer"
	}
	return ""
}

// tables are the page's: documents first, then events, then what they hold.
func (g *jsonPage) tables() []byte {
	var b bytes.Buffer
	b.WriteString("\n## Documents\n")
	var roots []string
	for key, s := range g.structs {
		if s.pkg == "main" && g.events[key] == "" && (g.holds(s, "head") || g.holds(s, "document")) {
			roots = append(roots, key)
		}
	}
	slices.SortFunc(roots, func(a, b string) int { // what the most commands write comes first
		return cmp.Or(-cmp.Compare(b2i(a == "main.document"), b2i(b == "main.document")), cmp.Compare(a, b))
	})
	for _, key := range roots {
		g.table(&b, "### "+sentence(g.structs[key]), g.structs[key])
	}
	b.WriteString("\n## Events of a run\n\nEach line has `event` and `time` (UTC) before its own fields.\n")
	type event struct{ name, key string }
	var events []event
	for key, name := range g.events {
		// verify draws its screen from these, and writes one document.
		if g.structs[key] != nil && !strings.HasPrefix(name, "compare") {
			events = append(events, event{name, key})
		}
	}
	place := func(e event) int { return slices.Index([]string{"run_started", "", "run_finished"}, e.name) }
	slices.SortFunc(events, func(a, b event) int {
		pa, pb := place(a), place(b)
		if pa < 0 {
			pa = 1
		}
		if pb < 0 {
			pb = 1
		}
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(a.name, b.name))
	})
	for _, e := range events {
		g.table(&b, "### `"+e.name+"`\n\n"+sentence(g.structs[e.key])+".", g.structs[e.key])
	}
	b.WriteString("\n## What they hold\n")
	for i := 0; i < len(g.order); i++ { // grows while tables are written
		s := g.structs[g.order[i]]
		g.table(&b, "### "+title(s.key)+"\n\n"+sentence(s)+".", s)
	}
	return b.Bytes()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds reports whether a struct embeds another.
func (g *jsonPage) holds(s *jsonStruct, name string) bool {
	return slices.ContainsFunc(s.fields, func(f *ast.Field) bool {
		id, ok := f.Type.(*ast.Ident)
		return ok && len(f.Names) == 0 && id.Name == name
	})
}

func (g *jsonPage) table(b *bytes.Buffer, heading string, s *jsonStruct) {
	fmt.Fprintf(b, "\n%s\n\n| field | | meaning |\n|---|---|---|\n", heading)
	g.rows(b, s)
}

func (g *jsonPage) rows(b *bytes.Buffer, s *jsonStruct) {
	for _, f := range s.fields {
		if len(f.Names) == 0 { // embedded: its fields stand among ours
			if key, _ := g.key(s.pkg, f.Type); g.structs[key] != nil {
				g.rows(b, g.structs[key])
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		what := g.kind(s.pkg, f.Type)
		if strings.Contains(options, "omitempty") {
			what += ", may be missing"
		}
		meaning := strings.TrimSpace(strings.ReplaceAll(cmp.Or(f.Comment.Text(), f.Doc.Text()), "\n", " "))
		if meaning == "" || strings.HasPrefix(meaning, "Of streams") {
			_, of, _ := strings.Cut(s.key, ".")
			meaning = cmp.Or(meanings[of+"."+name], meanings[name], meaning)
		}
		if meaning == "" && strings.Contains(what, "](#") {
			meaning = "see there"
		}
		if meaning == "" {
			g.t.Errorf("%s: the field %s has no comment beside it that says what it means", s.key, name)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, what, strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(meaning))
	}
}

// kind says what a type is in JSON, and puts structs on the list.
func (g *jsonPage) kind(pkg string, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return g.kind(pkg, x.X)
	case *ast.ArrayType:
		return "list of " + g.kind(pkg, x.Elt)
	case *ast.MapType:
		return "object: " + g.kind(pkg, x.Key) + " to " + g.kind(pkg, x.Value)
	}
	key, name := g.key(pkg, e)
	switch {
	case key == "json.RawMessage" || name == "any":
		return "any"
	case key == "verify.Text":
		return "text or null"
	case key == "time.Time":
		return "time"
	case key == "time.Duration":
		return "integer"
	case g.text[key]:
		return "text"
	case g.structs[key] != nil:
		if !slices.Contains(g.order, key) {
			g.order = append(g.order, key)
		}
		return "[" + title(key) + "](#" + strings.ToLower(strings.ReplaceAll(title(key), " ", "-")) + ")"
	case g.names[key] != "":
		return g.names[key]
	}
	if s := g.basic(name); s != "" {
		return s
	}
	g.t.Errorf("%s: the page does not know this type: add its package to the list", key)
	return key
}

func (g *jsonPage) key(pkg string, e ast.Expr) (key, name string) {
	switch x := e.(type) {
	case *ast.StarExpr:
		return g.key(pkg, x.X)
	case *ast.Ident:
		return pkg + "." + x.Name, x.Name
	case *ast.SelectorExpr:
		return x.X.(*ast.Ident).Name + "." + x.Sel.Name, ""
	}
	return "", ""
}

// title is a struct's name in words: "table result" of runtime.TableResult.
func title(key string) string {
	pkg, name, _ := strings.Cut(key, ".")
	var words []string
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			words = append(words, " ")
		}
		words = append(words, strings.ToLower(string(r)))
	}
	s := strings.Join(words, "")
	if pkg != s && (pkg == "plan" || pkg == "schema") { // two of them are called column
		return pkg + " " + s
	}
	return s
}

// sentence is the first sentence of a struct's doc comment, without the name
// that it begins with: "A diagnostic in JSON".
func sentence(s *jsonStruct) string {
	text := strings.Join(strings.Fields(s.doc), " ")
	text, _, _ = strings.Cut(text, ". ")
	_, name, _ := strings.Cut(s.key, ".")
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(text, "."), name+" "), "is ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
