package lang_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/lang"

	"golang.org/x/tools/txtar"
)

func TestFormatMovesWhiteSpaceAlone(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"indentation and equals signs", "source \"sqlite\" \"in\" {\npath=\"a.db\"\n    busy_timeout  = \"1s\"\n}\n", "source \"sqlite\" \"in\" {\n  path         = \"a.db\"\n  busy_timeout = \"1s\"\n}\n"},
		{"comments stay", "# head\nlocals {\n  a = 1 // one\n    /* two */ bb = 2 # more\n}\n", "# head\nlocals {\n  a            = 1 // one\n  /* two */ bb = 2 # more\n}\n"},
		{"heredocs stay as they are", "locals {\na = <<-E\n    x   y\n      E\n}\n", "locals {\n  a = <<-E\n    x   y\n      E\n}\n"},
		{"line ends of Windows stay", "locals {\r\na=1\r\n}\r\n", "locals {\r\n  a = 1\r\n}\r\n"},
		{"byte order mark stays", "\xef\xbb\xbflocals {\na=1\n}\n", "\xef\xbb\xbflocals {\n  a = 1\n}\n"},
		{"one line blocks stay", "penstock {spec=1}\n", "penstock { spec = 1 }\n"},
	} {
		got, l := lang.Format("spec.hcl", []byte(c.src))
		if len(l) > 0 || string(got) != c.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.name, messages(l), got, c.want)
		}
	}
}

func TestFormatLeavesBadSyntaxAlone(t *testing.T) {
	for _, src := range []string{"locals {\n a = \n}\n", "locals {\n", "", "a = \"x\n"} {
		if got, l := lang.Format("spec.hcl", []byte(src)); got != nil || !l.HasErrors() {
			t.Errorf("%q: got %q and %q, want an error and nothing", src, got, messages(l))
		}
	}
}

// sourcesOf are all specs of the tests and the examples in a syntax.
func sourcesOf(t testing.TB, ext string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"testdata/bad/*.txtar", "../planner/testdata/bad/*.txtar"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			ar, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range ar.Files {
				if strings.HasSuffix(f.Name, ext) {
					out[p+"/"+f.Name] = f.Data
				}
			}
		}
	}
	paths, _ := filepath.Glob("../examples/*/*" + ext)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[p] = b
	}
	if len(out) < 60 {
		t.Fatalf("got %d files, want at least 60", len(out))
	}
	return out
}

// What a spec means, and what is wrong with it, does not depend on its layout,
// and laying it out twice is laying it out once.
func TestFormatKeepsTheMeaning(t *testing.T) {
	moved := 0
	for name, src := range sourcesOf(t, ".hcl") {
		out, l := lang.Format("spec.hcl", src)
		if out == nil {
			if !l.HasErrors() {
				t.Errorf("%s: nothing, and no error", name)
			}
			continue
		}
		again, _ := lang.Format("spec.hcl", out)
		if !bytes.Equal(again, out) {
			t.Errorf("%s: laid out twice it is\n%s\nnot\n%s", name, again, out)
		}
		if !bytes.Equal(out, src) {
			moved++
		}
		before, after := summaries(src), summaries(out)
		if before != after {
			t.Errorf("%s: it gave\n%s\nand gives\n%s", name, before, after)
		}
	}
	if moved == 0 {
		t.Error("no file was laid out anew")
	}
}

func summaries(src []byte) string {
	spec, l := lang.Parse(map[string][]byte{"spec.hcl": src}, ".", lang.Options{Connectors: connectors})
	_, l = decodeAll(spec, l)
	var out []string
	for _, d := range l {
		out = append(out, string(d.Code)+" "+d.Summary)
	}
	return strings.Join(out, "\n")
}

func FuzzFormat(f *testing.F) {
	for _, src := range sourcesOf(f, ".hcl") {
		f.Add(string(src))
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, l := lang.Format("spec.hcl", []byte(src))
		if out == nil {
			if !l.HasErrors() {
				t.Error("nothing, and no error")
			}
			return
		}
		if strings.Join(strings.Fields(string(out)), "") != strings.Join(strings.Fields(src), "") {
			t.Errorf("%q became %q", src, out)
		}
	})
}
