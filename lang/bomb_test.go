package lang_test

import (
	"fmt"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"
)

// Small files that stand for huge ones are refused before anything follows them.
func TestFilesThatMultiplyAreRefused(t *testing.T) {
	nine := func(i int) string { return strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ",") }
	var list, merge, deep, aliased strings.Builder
	list.WriteString("x-a0: &a0 [1,1,1,1,1,1,1,1,1]\n")
	merge.WriteString("x-a0: &a0 {k: 1}\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&list, "x-a%d: &a%d [%s]\n", i, i, nine(i-1))
		fmt.Fprintf(&merge, "x-a%d: &a%d {<<: [%s]}\n", i, i, nine(i-1))
	}
	list.WriteString("locals: {a: *a8}\n")
	merge.WriteString("source:\n  <<: *a8\n")
	deep.WriteString("locals: {a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n")
	aliased.WriteString("x-a0: &a0 1\n")
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&aliased, "x-a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	aliased.WriteString("locals: {a: *a1999}\n")
	for name, c := range map[string]struct {
		src  string
		want diag.Code
	}{
		"lists of lists":      {list.String(), diag.YAMLAlias},
		"merges of merges":    {merge.String(), diag.YAMLAlias},
		"brackets":            {deep.String(), diag.YAMLSyntax},
		"aliases of aliases":  {aliased.String(), diag.YAMLAlias},
		"itself":              {"locals: &a {b: *a}\n", diag.YAMLAlias},
		"merges itself":       {"locals: &a\n  <<: *a\n  b: 1\n", diag.YAMLAlias},
		"merges itself twice": {"source: &a\n  <<: [*a, *a]\n", diag.YAMLAlias},
	} {
		spec, l := lang.Parse(map[string][]byte{"s.yaml": []byte("penstock: {spec: 1}\n" + c.src)}, ".", lang.Options{})
		if len(l) == 0 || l[0].Code != c.want {
			t.Errorf("%s: got %s, want %s", name, codes(spec, l), c.want)
		}
	}
}

// HCL is parsed by recursion, so what nests is bounded in files and in YAML's templates.
func TestDeepExpressionsAreRefused(t *testing.T) {
	const n = 20_000
	for name, e := range map[string]string{
		"brackets": strings.Repeat("[", n), "calls": strings.Repeat("upper(", n), "not": strings.Repeat("!", n) + "true",
		"minus": strings.Repeat("- ", n) + "1", "conditions": strings.Repeat("true ? 1 : ", 10*n) + "1", "templates": strings.Repeat("\"${", n),
	} {
		spec, l := lang.Parse(map[string][]byte{"s.hcl": []byte("penstock { spec = 1 }\nlocals {\n  a = " + e + "\n}\n")}, ".", lang.Options{})
		if len(l) != 1 || l[0].Code != diag.HCLSyntax {
			t.Errorf("%s in HCL: got %s", name, codes(spec, l))
		}
		spec, l = lang.Parse(map[string][]byte{"s.yaml": []byte("penstock: {spec: 1}\nlocals:\n  a: |\n    ${" + e + "}\n")}, ".", lang.Options{})
		if len(l) != 1 || l[0].Code != diag.HCLSyntax {
			t.Errorf("%s in YAML: got %s", name, codes(spec, l))
		}
	}
	ref := strings.Repeat("(", n) + "source.in"
	spec, l := lang.Parse(map[string][]byte{"s.yaml": []byte("penstock: {spec: 1}\nsource: {sqlite: {in: {}}}\ntarget: {sqlite: {out: {}}}\npipeline: {p: {to: target.out, table: {t: }, from: '" + ref + "'}}\n")}, ".", lang.Options{})
	if len(l) != 1 || l[0].Code != diag.NotAReference {
		t.Errorf("reference: got %s", codes(spec, l))
	}
}

func manyTables(n int) string {
	var b strings.Builder
	b.WriteString("penstock: {spec: 1}\nsource: {sqlite: {in: {path: in.db}}}\ntarget: {sqlite: {out: {path: out.db}}}\nx-r: &r {count: 8, split: key}\npipeline:\n  p:\n    from: source.in\n    to: target.out\n    table:\n")
	for i := range n {
		fmt.Fprintf(&b, "      t%d:\n        to: out_${table.name}\n        filter: id > %d and name != 'x'\n        range: *r\n        column:\n          c: {value: upper(c)}\n", i, i)
	}
	return b.String()
}

func manyTablesHCL(n int) string {
	var b strings.Builder
	b.WriteString(endpoints + "pipeline \"p\" {\n  from = source.in\n  to = target.out\n")
	for i := range n {
		fmt.Fprintf(&b, "  table \"t%d\" {\n    to = \"out_${table.name}\"\n    filter = \"id > %d and name != 'x'\"\n    range {\n      count = 8\n      split = \"key\"\n    }\n    column \"c\" { value = \"upper(c)\" }\n  }\n", i, i)
	}
	return b.String() + "}\n"
}

func BenchmarkParse2000Tables(b *testing.B) {
	for name, src := range map[string]string{"s.hcl": manyTablesHCL(2000), "s.yaml": manyTables(2000)} {
		b.Run(name[2:], func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				spec, l := lang.Parse(map[string][]byte{name: []byte(src)}, ".", lang.Options{Connectors: connectors})
				if len(l) > 0 || len(spec.Pipelines[0].Tables) != 2000 {
					b.Fatal(messages(l))
				}
			}
		})
	}
}
