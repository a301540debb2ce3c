package delimited_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/all"
	"penstock/connectors/conformance"
	"penstock/internal/event"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner"
	"penstock/runtime"
)

var update = flag.Bool("update", false, "write what the nasty files give anew")

// nasty is the first line of a .want file: how the file beside it is read.
type nasty struct {
	Columns     string  `json:"columns"`
	Delimiter   *string `json:"delimiter"`
	Quote       *string `json:"quote"`
	Escape      *string `json:"escape"`
	Null        *string `json:"null"`
	Encoding    *string `json:"encoding"`
	Compression *string `json:"compression"`
	Header      *bool   `json:"header"`
}

// spec loads the file into a table of SQLite, cut into so many ranges.
func (n nasty) spec(file string, ranges int) string {
	var b strings.Builder
	setting := func(name string, v any) {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "  %s = %s", name, &text)
	}
	b.WriteString("penstock { spec = 1 }\nsource \"delimited\" \"files\" {\n")
	for name, v := range map[string]*string{"delimiter": n.Delimiter, "quote": n.Quote, "escape": n.Escape, "null": n.Null, "encoding": n.Encoding, "compression": n.Compression} {
		if v != nil {
			setting(name, *v)
		}
	}
	if n.Header != nil {
		setting("header", *n.Header)
	}
	b.WriteString("  table \"t\" {\n")
	setting("path", file)
	for c := range strings.SplitSeq(n.Columns, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		typ, notNull := strings.CutSuffix(typ, " not null")
		fmt.Fprintf(&b, "    column %q {\n      type = %q\n      nullable = %v\n    }\n", name, typ, !notNull)
	}
	fmt.Fprintf(&b, "  }\n}\ntarget \"sqlite\" \"db\" { path = \"t.db\" }\npipeline \"p\" {\n  from = source.files\n  to = target.db\n  bad_rows {\n    action = \"discard\"\n    file = \"bad\"\n  }\n  table \"t\" {\n    range { count = %d }\n  }\n}\n", ranges)
	return b.String()
}

// load runs the whole way and gives the rows that are there and those that were
// set aside, as lines.
func (n nasty) load(t *testing.T, file string, content []byte, ranges int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
		t.Fatal(err)
	}
	reg := all.Registry()
	text := n.spec(file, ranges)
	spec, found := lang.Parse(map[string][]byte{"spec.hcl": []byte(text)}, dir, lang.Options{Connectors: planner.Connectors(reg)})
	if found.HasErrors() {
		t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	p, found := planner.Compile(t.Context(), spec, reg, planner.Options{})
	if p == nil {
		t.Fatalf("%s: %s\n%s", found[0].Summary, found[0].Detail, text)
	}
	res := runtime.Run(t.Context(), p, runtime.Options{Registry: reg, Dir: dir, Events: event.SinkFunc(func(event.Event) {})})
	if res.Exit != 0 && res.Exit != runtime.ExitFindings {
		t.Fatalf("exit %d: %+v", res.Exit, res.Pipelines[0].Error)
	}
	var out strings.Builder
	src, err := reg.Find("sqlite").Source.Open(t.Context(), decoded(t, `{"path":"t.db"}`, reg.Find("sqlite").Source.Config()), connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var columns []string
	for c := range strings.SplitSeq(n.Columns, ", ") {
		columns = append(columns, strings.Fields(c)[0])
	}
	rows := conformance.ReadAll(t, src, schema.Name{Name: "t"}, columns)
	for _, r := range rows {
		for i, v := range r {
			if v == conformance.Null {
				r[i] = "NULL"
			} else {
				r[i] = fmt.Sprintf("%q", v)
			}
		}
		fmt.Fprintln(&out, "row", strings.Join(r, " "))
	}
	bad, err := os.ReadFile(filepath.Join(dir, "bad"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(bad) {
		var d struct{ Key, Column, Reason string }
		decoded(t, string(line), &d)
		fmt.Fprintln(&out, "bad", d.Key, d.Column+":", d.Reason)
	}
	table := res.Pipelines[0].Tables[0]
	if n := bytes.Count(bad, []byte{'\n'}); table.Bad != int64(n) || table.Rows != int64(len(rows)) {
		t.Errorf("%d rows and %d bad ones are reported; there are %d and %d", table.Rows, table.Bad, len(rows), n)
	}
	return long.ReplaceAllStringFunc(out.String(), func(s string) string { return fmt.Sprintf("%s...%d", s[:3], len(s)) })
}

var long = regexp.MustCompile(`x{100,}|y{100,}`)

func decoded[T any](t *testing.T, text string, into T) T {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return into
}

// Files as they come: the right rows, and each bad one set aside by file, line
// and column; the same when they are cut into spans of 64 bytes.
func TestNastyFilesGolden(t *testing.T) {
	wants, err := filepath.Glob("testdata/nasty/*.want")
	if err != nil || len(wants) < 25 {
		t.Fatalf("%d files, want at least 25 (%v)", len(wants), err)
	}
	for _, path := range wants {
		file := strings.TrimSuffix(filepath.Base(path), ".want")
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(strings.TrimSuffix(path, ".want"))
			if err != nil {
				t.Fatal(err)
			}
			head, want, _ := strings.Cut(string(text), "\n")
			n := *decoded(t, head, &nasty{})
			got := n.load(t, file, content, 1)
			if *update {
				if err := os.WriteFile(path, []byte(head+"\n"+got), 0o600); err != nil {
					t.Fatal(err)
				}
				want = got
			}
			if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if n.Compression != nil || n.Encoding != nil && strings.HasPrefix(*n.Encoding, "utf-16") {
				return // read from the beginning to the end
			}
			spans := min(len(content)/64+1, 256)
			if got := n.load(t, file, content, spans); got != want {
				t.Errorf("in %d spans: got\n%swant\n%s", spans, got, want)
			}
		})
	}
}
