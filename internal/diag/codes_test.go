package diag

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

func TestDocsOfDiagnosticsAreCurrent(t *testing.T) {
	got, err := os.ReadFile(filepath.FromSlash("../../docs/diagnostics.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, Markdown()) {
		t.Error("docs/diagnostics.md is not what the codes say: run `go generate ./internal/diag`")
	}
}

// declared lists the constants of type Code in this package, by name.
func declared(t *testing.T) map[string]Code {
	t.Helper()
	paths, _ := filepath.Glob("codes_*.go")
	out := map[string]Code{}
	for _, p := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 || len(v.Names) != 1 {
				return true
			}
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Code" {
				s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out[v.Names[0].Name] = Code(s)
			}
			return true
		})
	}
	return out
}

func TestEveryCodeIsDocumentedOnce(t *testing.T) {
	docs := map[Code]Doc{}
	form := regexp.MustCompile(`^PEN0\d{3}$`)
	for _, d := range Codes() {
		if _, twice := docs[d.Code]; twice {
			t.Errorf("%s is documented twice", d.Code)
		}
		docs[d.Code] = d
		if !form.MatchString(string(d.Code)) || d.Title == "" || d.Meaning == "" || (d.Bad == "") != (d.Good == "") {
			t.Errorf("%s: got %+v, want a title, a meaning, and both fragments or none", d.Code, d)
		}
	}
	names := map[Code]string{}
	for name, c := range declared(t) {
		if other, twice := names[c]; twice {
			t.Errorf("%s and %s are both %s", name, other, c)
		}
		names[c] = name
		if _, ok := docs[c]; !ok {
			t.Errorf("%s (%s) is not documented", name, c)
		}
	}
}
