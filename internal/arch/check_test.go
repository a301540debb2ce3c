package arch

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// rules says what a tree may look like. Paths are relative to the module.
type rules struct {
	module      string
	top         []string          // the folders at the top, all of them
	table       []row             // the imports of ours that a package may have
	refused     map[string]string // imports of others that none may have: path (and all below) to reason
	blank       []row             // the imports for side effects that a package may have
	environment []string          // the packages that may read the environment
	names       []string          // what no package may be called
}

// row allows the packages that fit a pattern the imports that fit its patterns.
type row struct {
	packages string
	imports  []string
}

// source is a Go file that is not a test.
type source struct {
	name string // its path
	dir  string
	file *ast.File
	// crash is true for a file that only builds for crash tests have. It is in
	// no program that anybody is given, so it may read the environment.
	crash bool
}

// check reads every Go file of the tree, in this process: the test cache knows
// the files that a test opens, but not those that a `go list` beside it reads,
// and would serve a stale pass. It returns a line a fault, and the packages seen.
func (r rules) check(tree fs.FS) (faults, packages []string) {
	fset := token.NewFileSet()
	report := func(at token.Pos, format string, args ...any) {
		p := fset.Position(at)
		faults = append(faults, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}

	faults = append(faults, r.layout(tree)...)
	sources, broken := read(tree, fset)
	faults = append(faults, broken...)
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.name, b.name) })

	commented := map[string]bool{}
	for _, s := range sources {
		if !slices.Contains(packages, s.dir) {
			packages = append(packages, s.dir)
			if _, ok := first(r.table, s.dir); !ok {
				faults = append(faults, s.dir+": no row of the import table fits it; give it one here and in DESIGN.md")
			}
		}
		commented[s.dir] = commented[s.dir] || s.file.Doc != nil
		r.imports(s, report)
		r.declarations(s, report)
	}
	for _, dir := range packages {
		if !commented[dir] {
			faults = append(faults, dir+": no package comment; open it with one sentence that could stand in the README")
		}
	}
	return append(faults, r.called(sources)...), packages
}

// layout compares the folders at the top with those that are meant to be there.
func (r rules) layout(tree fs.FS) (faults []string) {
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return []string{err.Error()}
	}
	var there []string
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir() && !passedOver(name):
			there = append(there, name)
			if !slices.Contains(r.top, name) {
				faults = append(faults, name+": not in the layout; put it below one of "+strings.Join(r.top, ", "))
			}
		case !e.IsDir() && strings.HasSuffix(name, ".go"):
			faults = append(faults, name+": no Go files at the top; programs stand in cmd")
		}
	}
	for _, name := range r.top {
		if !slices.Contains(there, name) {
			faults = append(faults, name+": in the layout but not there")
		}
	}
	return faults
}

// passedOver says which folders hold no code of ours.
func passedOver(name string) bool {
	return name == "bin" || name == "testdata" || name != "." && strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// read parses what is neither a test nor a program that `go run` alone builds.
func read(tree fs.FS, fset *token.FileSet) (sources []source, faults []string) {
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && passedOver(e.Name()):
			return fs.SkipDir
		case e.IsDir() || path.Dir(name) == "." || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			faults = append(faults, err.Error())
			return nil
		}
		if needs(file, "ignore") {
			return nil
		}
		sources = append(sources, source{name: name, dir: path.Dir(name), file: file, crash: needs(file, "failpoints")})
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return sources, faults
}

// needs reports whether a file is built only where this tag is set.
func needs(file *ast.File, tag string) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			return err == nil && demands(expr, tag)
		}
	}
	return false
}

func demands(e constraint.Expr, tag string) bool {
	switch e := e.(type) {
	case *constraint.TagExpr:
		return e.Tag == tag
	case *constraint.AndExpr:
		return demands(e.X, tag) || demands(e.Y, tag)
	case *constraint.OrExpr:
		return demands(e.X, tag) && demands(e.Y, tag)
	}
	return false // a negation is content without it
}

type reporter func(at token.Pos, format string, args ...any)

func (r rules) imports(s source, report reporter) {
	allowed, _ := first(r.table, s.dir)
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(spec.Pos(), "%v", err)
			continue
		}
		ours, isOurs := strings.CutPrefix(imported, r.module+"/")
		if isOurs && !fitsAny(allowed, ours) {
			report(spec.Pos(), "%s may not import %s; the import table in DESIGN.md says what it may", s.dir, ours)
		}
		for refused, why := range r.refused {
			if fits(refused+"/...", imported) {
				report(spec.Pos(), "import of %s: %s", imported, why)
			}
		}
		switch {
		case spec.Name == nil:
		case spec.Name.Name == ".":
			report(spec.Pos(), "dot import of %s; name what is used by its package", imported)
		case spec.Name.Name == "_" && !slices.ContainsFunc(r.blank, func(b row) bool {
			return fits(b.packages, s.dir) && fitsAny(b.imports, imported)
		}):
			report(spec.Pos(), "blank import of %s; call what it offers, or give the exception a reason here", imported)
		}
	}
}

func (r rules) declarations(s source, report reporter) {
	if s.crash {
		return
	}
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			report(f.Pos(), "func init; build the value where it is used and pass it on")
		}
	}
	std := nameOf(s.file, "os")
	if std == "" || fitsAny(r.environment, s.dir) {
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok || x.Name != std {
			return true
		}
		switch sel.Sel.Name {
		case "Getenv", "LookupEnv", "Environ", "ExpandEnv":
			report(sel.Pos(), "os.%s outside of programs; take the value, or a func to look it up, as an argument", sel.Sel.Name)
		}
		return true
	})
}

// called finds bad names, of a folder or in a package clause, once a package.
func (r rules) called(sources []source) (faults []string) {
	for _, s := range sources {
		for _, name := range append(strings.Split(s.dir, "/"), s.file.Name.Name) {
			fault := s.dir + ": a package may not be called " + name + "; call it after what it holds"
			if slices.Contains(r.names, name) && !slices.Contains(faults, fault) {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// nameOf is what a file calls an imported package, "" when it does not import it.
func nameOf(file *ast.File, imported string) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != strconv.Quote(imported) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(imported)
	}
	return ""
}

func first(table []row, dir string) ([]string, bool) {
	for _, r := range table {
		if fits(r.packages, dir) {
			return r.imports, true
		}
	}
	return nil, false
}

func fitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
}

// fits matches a whole path: "a/..." is a and all below it, "..." is all, and
// "*" stops at a slash.
func fits(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		parts := strings.Split(name, "/")
		depth := min(len(parts), 1+strings.Count(above, "/"))
		pattern, name = above, strings.Join(parts[:depth], "/")
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
