package lang_test

import (
	"strings"
	"testing"

	"penstock/lang"
)

// However a text is written, a part of it is found at its bytes.
func TestPartOfATextIsFoundInTheSource(t *testing.T) {
	hcl := func(f string) string {
		return endpoints + "variable \"v\" { default = \"né\" }\npipeline \"p\" {\n  from = source.in\n  to = target.out\n  table \"t\" {\n    filter = " + f + "\n  }\n}\n"
	}
	yaml := func(f string) string {
		return "penstock: {spec: 1}\nsource: {sqlite: {in: {path: in.db}}}\ntarget: {sqlite: {out: {path: out.db}}}\nvariable: {v: {default: né}}\npipeline:\n  p:\n    from: source.in\n    to: target.out\n    table:\n      t:\n        filter: " + f + "\n"
	}
	for _, c := range []struct{ name, file, src, part, want string }{
		{"YAML plain", "s.yaml", yaml("status == 'é' and amuont > 1"), "amuont", "amuont"},
		{"YAML single quotes", "s.yaml", yaml("'status == ''é'' and amuont > 1'"), "amuont", "amuont"},
		{"YAML double quotes, escapes", "s.yaml", yaml(`"status == \"\u00e9\" and amuont > 1"`), "amuont", "amuont"},
		{"YAML escape itself", "s.yaml", yaml(`"status == '\u00e9' and x"`), "é", `\u00e9`},
		{"YAML literal", "s.yaml", yaml("|\n          status == 'é日'\n            and amuont > 1"), "amuont", "amuont"},
		{"YAML folded", "s.yaml", yaml(">-\n          status == 'é日'\n          and amuont > 1"), "amuont", "amuont"},
		{"YAML plain over lines", "s.yaml", yaml("status == 'é'\n          and amuont > 1"), "amuont", "amuont"},
		{"YAML interpolated", "s.yaml", yaml(`"status == '${var.v}' and amuont > 1"`), "amuont", "amuont"},
		{"YAML interpolation itself", "s.yaml", yaml(`"status == '${var.v}' and amuont > 1"`), "né", "var.v"},
		{"YAML dollar", "s.yaml", yaml(`status == '$${x}' and amuont > 1`), "amuont", "amuont"},
		{"YAML alias", "s.yaml", yaml("*f") + "x-f: &f amuont > 1\n", "amuont", ""},
		{"HCL escapes", "s.hcl", hcl(`"status == \"\u00e9\" and amuont > 1"`), "amuont", "amuont"},
		{"HCL escape itself", "s.hcl", hcl(`"status == '\u00e9' and x"`), "é", `\u00e9`},
		{"HCL heredoc", "s.hcl", hcl("<<-E\n      status == 'é日'\n        and amuont > 1\n    E"), "amuont", "amuont"},
		{"HCL interpolated", "s.hcl", hcl(`"status == '${var.v}' and amuont > 1"`), "amuont", "amuont"},
		{"HCL interpolation itself", "s.hcl", hcl(`"status == '${var.v}' and amuont > 1"`), "né", "var.v"},
		{"HCL dollar", "s.hcl", hcl(`"status == '$${x}' and amuont > 1"`), "amuont", "amuont"},
	} {
		spec, l := lang.Parse(map[string][]byte{c.file: []byte(c.src)}, ".", lang.Options{Connectors: connectors})
		if c.want == "" { // the anchor stands behind its alias: YAML refuses it
			if len(l) == 0 {
				t.Errorf("%s: want an error", c.name)
			}
			continue
		}
		if len(l) > 0 {
			t.Errorf("%s: %s", c.name, messages(l))
			continue
		}
		f := spec.Pipelines[0].Tables[0].Filter
		i := strings.Index(f.V, c.part)
		if i < 0 {
			t.Errorf("%s: got %q, want it to hold %q", c.name, f.V, c.part)
			continue
		}
		if got := covered(spec, f.Sub(i, i+len(c.part))); got != c.want {
			t.Errorf("%s: %q is found over %q, want %q, in %q", c.name, c.part, got, c.want, c.src)
		}
		if got := covered(spec, f.Sub(len(f.V), len(f.V))); got != "" {
			t.Errorf("%s: the end covers %q", c.name, got)
		}
	}
}

func TestAnchorsAndMergesGiveTheirOwnBytes(t *testing.T) {
	src := "penstock: {spec: 1}\nx-f: &f amount > 1\nx-t: &t {filter: *f, existing: append}\nsource: {sqlite: {in: {path: in.db}}}\ntarget: {sqlite: {out: {path: out.db}}}\npipeline:\n  p:\n    from: source.in\n    to: target.out\n    table:\n      a: {<<: *t}\n      b: {<<: *t, existing: truncate}\n"
	spec, l := lang.Parse(map[string][]byte{"s.yaml": []byte(src)}, ".", lang.Options{})
	if len(l) > 0 {
		t.Fatal(messages(l))
	}
	a, b := spec.Pipelines[0].Tables[0], spec.Pipelines[0].Tables[1]
	if a.Existing.V != "append" || b.Existing.V != "truncate" || b.Filter.V != "amount > 1" {
		t.Errorf("got %q, %q, %q", a.Existing.V, b.Existing.V, b.Filter.V)
	}
	if got := covered(spec, b.Filter.Sub(0, 6)); got != "amount" || b.Filter.Range.Start.Line != 2 {
		t.Errorf("the filter is found over %q on line %d, want amount on line 2", got, b.Filter.Range.Start.Line)
	}
}

func TestByteOrderMarkAndLineBreaksKeepPositions(t *testing.T) {
	for _, c := range []struct{ name, src string }{
		{"s.yaml", "\ufeffpenstock: {spec: 1}\r\nlocals:\r\n  é: 1\r\nwokers: 5\r\n"},
		{"s.yaml", "penstock: {spec: 1}\nlocals:\n  a: \"x\u2028y\u0085z\"\nwokers: 5\n"},
		{"s.hcl", "penstock { spec = 1 }\r\nlocals {\r\n  é = 1\r\n}\r\nwokers = 5\r\n"},
	} {
		spec, l := lang.Parse(map[string][]byte{c.name: []byte(c.src)}, ".", lang.Options{})
		found := false
		for _, d := range l {
			checkSound(t, spec, d)
			found = found || covered(spec, d.Subject) == "wokers" && d.Subject.Start.Column == 1
		}
		if !found {
			t.Errorf("%q: got %s, want one over wokers in column 1", c.src, codes(spec, l))
		}
	}
}
