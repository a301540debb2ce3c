package lang_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"
)

var update = flag.Bool("update", false, "write the tables of docs/spec.md anew")

// table is a block's settings as docs/spec.md shows them.
func table(fields []lang.Field) string {
	var b strings.Builder
	b.WriteString("| setting | value | default | meaning |\n|---|---|---|---|\n")
	for _, f := range fields {
		def := f.Default
		switch {
		case f.Required:
			def = "required"
		case def == "":
			def = "none"
		}
		cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, cell(f.Value()), cell(def), cell(clause(f.Doc)))
	}
	return b.String()
}

// clause is a sentence without its full stop.
func clause(s string) string {
	if strings.HasSuffix(s, "..") {
		return s
	}
	return strings.TrimSuffix(s, ".")
}

var (
	heading  = regexp.MustCompile("(?m)^### `(\\w+)`.*\n")
	anyTable = regexp.MustCompile(`(?m)^\| setting .*\n(?:\|.*\n)+`)
)

// The tables on the page are the fields that the decoder, the JSON Schema and
// editors have.
func TestGoldenTablesOfTheSpecPage(t *testing.T) {
	const path = "../docs/spec.md"
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	grammar := lang.Grammar(planner.Connectors(all.Registry()))
	tables := map[string]string{"penstock": table(grammar.Block("penstock").Fields), "variable": table(grammar.Block("variable").Fields)}
	endpoint := grammar.Block("source").Fields
	tables["source"] = table(append(endpoint[:len(endpoint):len(endpoint)], *grammar.Block("target").Field("names")))
	pipeline := grammar.Block("pipeline")
	tables["pipeline"] = table(pipeline.Fields)
	for _, b := range append(pipeline.Blocks, pipeline.Block("table").Blocks...) {
		if len(b.Fields) > 0 && b.Name != "defaults" { // whose settings stand with the table
			tables[b.Name] = table(b.Fields)
		}
	}
	own := func(b, of *lang.Block) []lang.Field {
		var out []lang.Field
		for _, f := range b.Fields {
			if of.Field(f.Name) == nil {
				out = append(out, f)
			}
		}
		return out
	}
	for _, kind := range all.Registry().Kinds() {
		var s strings.Builder
		as := map[string]*lang.Block{"source": grammar.Block("source").Kind(kind), "target": grammar.Block("target").Kind(kind)}
		if as["source"] != nil && as["target"] != nil && table(own(as["source"], grammar.Block("source"))) == table(own(as["target"], grammar.Block("target"))) {
			s.WriteString("As a source and as a target:\n\n" + table(own(as["source"], grammar.Block("source"))))
		} else {
			for _, side := range []string{"source", "target"} {
				if b := as[side]; b != nil {
					writeKind(&s, "As a "+side+":", own(b, grammar.Block(side)), b.Blocks)
				}
			}
		}
		if b := pipeline.Block("table").Block(kind); b != nil {
			writeKind(&s, "In a table, block `"+kind+"`:", b.Fields, b.Blocks)
			delete(tables, kind)
		}
		tables["connector "+kind] = strings.TrimSpace(s.String()) + "\n"
	}
	got := text
	for name, want := range tables {
		if kind, ok := strings.CutPrefix(name, "connector "); ok {
			begin, end := "<!-- settings of "+kind+" -->\n", "<!-- end -->"
			_, rest, ok := strings.Cut(got, begin)
			old, _, ok2 := strings.Cut(rest, end)
			if !ok || !ok2 {
				t.Errorf("docs/spec.md has no place for the settings of %s", kind)
				continue
			}
			got = strings.Replace(got, begin+old+end, begin+"\n"+want+"\n"+end, 1)
			continue
		}
		at := heading.FindAllStringSubmatchIndex(got, -1)
		done := false
		for i, m := range at {
			if got[m[2]:m[3]] != name {
				continue
			}
			end := len(got)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			if loc := anyTable.FindStringIndex(got[m[1]:end]); loc != nil {
				got, done = got[:m[1]+loc[0]]+want+got[m[1]+loc[1]:], true
			}
			break
		}
		if !done {
			t.Errorf("docs/spec.md has no table below the heading `%s`", name)
		}
	}
	if got == text {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the tables of docs/spec.md are not what the fields say: run go test ./lang -run GoldenTables -update")
}

func writeKind(s *strings.Builder, title string, fields []lang.Field, blocks []*lang.Block) {
	if len(fields) > 0 {
		s.WriteString(title + "\n\n" + table(fields) + "\n")
	}
	for _, b := range blocks {
		writeKind(s, strings.TrimSuffix(title, ":")+", blocks `"+b.Name+"`:", b.Fields, b.Blocks)
	}
}
