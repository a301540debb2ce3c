package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
)

// Options are what a spec is read with.
type Options struct {
	Vars      map[string]string           // --var name=value
	VarFiles  []string                    // --var-file, in order; a later one beats an earlier one
	LookupEnv func(string) (string, bool) // where PENSTOCK_VAR_x is looked up; nil: nowhere
	// Connectors are the connectors that a spec may name. With none, every kind
	// of endpoint is accepted.
	Connectors []Connector
	// ReadFile reads files; nil: os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// Connector is what the language knows of a connector: its name, and a config
// struct, or a pointer to one, for each part that it plays. Their tags (see
// Endpoint.Decode) say which settings there are.
type Connector struct {
	Kind   string
	Source any // nil: it is never a source
	Target any // nil: it is never a target
	Table  any // its block inside a table; nil: it has none
}

func (o Options) readFile(path string) ([]byte, error) {
	read := o.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	b, err := read(path)
	var pe *fs.PathError
	if errors.As(err, &pe) { // it names the path again
		err = pe.Err
	}
	return b, err
}

// Load reads a spec: a file, or the .hcl, .yaml and .yml files of a directory
// as one. However faulty it is, the result is what could be made of it.
func Load(path string, o Options) (*Spec, diag.List) {
	fail := func(at, summary, detail string, code diag.Code) (*Spec, diag.List) {
		var l diag.List
		r := hcl.Range{Filename: at, Start: hcl.InitialPos, End: hcl.InitialPos}
		l.Errorf(code, r, summary, "%s", detail)
		return &Spec{Path: path, Dir: filepath.Dir(path), Files: map[string][]byte{at: nil}, Range: r}, l
	}
	info, err := os.Stat(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fail(path, "Spec can't be read", capital(err.Error())+". Give a .hcl, .yaml or .yml file, or a folder of them.", diag.CannotRead)
	}
	files, dir := map[string][]byte{}, path
	paths := []string{path}
	if info.IsDir() {
		if paths, err = specFiles(path, o.VarFiles); err != nil {
			return fail(path, "Folder can't be read", capital(err.Error())+".", diag.CannotRead)
		}
		if len(paths) == 0 {
			return fail(path, "No spec in this folder", "It holds no .hcl, .yaml or .yml file.", diag.NoSpecFiles)
		}
	} else {
		dir = filepath.Dir(path)
		if !isSpecFile(path) {
			return fail(path, "Not a spec file", "The name of a spec ends in .hcl, .yaml or .yml, which says how to read it.", diag.NotASpecFile)
		}
	}
	for _, p := range paths {
		b, err := o.readFile(p)
		if err != nil {
			return fail(p, "Spec can't be read", capital(err.Error())+".", diag.CannotRead)
		}
		files[p] = b
	}
	spec, l := Parse(files, dir, o)
	spec.Path = path
	return spec, l
}

func isSpecFile(name string) bool {
	return slices.Contains([]string{".hcl", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

// Files lists the files of a spec: of a folder those that Load reads, in their
// order, else the path itself. varFiles are no part of it.
func Files(path string, varFiles []string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	return specFiles(path, varFiles)
}

// specFiles lists the files of a folder's spec, sorted. Hidden ones and those
// given as variable files are no part of it.
func specFiles(dir string, varFiles []string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !isSpecFile(e.Name()) ||
			slices.ContainsFunc(varFiles, func(v string) bool { return filepath.Clean(v) == p }) {
			continue
		}
		out = append(out, p)
	}
	return out, nil
}

// parse reads one file by its name. The body is nil when nothing can be made of it.
func parse(name string, src []byte) (hcl.Body, diag.List) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return parseYAML(name, src)
	}
	return parseHCL(name, src)
}

// Parse reads a spec from memory: its files by name, in the order of their
// names, and the folder that relative paths in it are relative to.
func Parse(files map[string][]byte, dir string, o Options) (*Spec, diag.List) {
	spec := &Spec{Dir: dir, Files: map[string][]byte{}, Sensitive: map[string]func() (string, bool){}}
	r := &reader{scope: newScope(spec.Files, o)}
	order := make([]string, 0, len(files))
	for n := range files {
		order = append(order, n)
	}
	slices.Sort(order)
	var bodies []hcl.Body
	for i, n := range order {
		r.keep(n, files[n])
		if i == 0 {
			spec.Path, spec.Range = n, r.sources[n].rng(0, 0)
		}
		b, l := parse(n, files[n])
		r.diags = append(r.diags, l...)
		if b != nil {
			bodies = append(bodies, b)
		}
	}
	syntax := r.diags.HasErrors()
	before := len(r.diags)
	r.spec(spec, bodies, o)
	if syntax {
		// What is missing behind a syntax error would be reported as missing.
		// Once the syntax is right the rest is said.
		r.diags = r.diags[:before]
		spec.Partial = true
	}
	return spec, r.finished(spec.Range)
}

// finished is what the reader found, fit to be shown: each diagnostic points
// into a file that was read, and none repeats a secret.
func (r *reader) finished(elsewhere hcl.Range) diag.List {
	for i := range r.diags {
		d := &r.diags[i]
		switch s := r.sources[d.Subject.Filename]; {
		case s == nil:
			d.Subject = elsewhere
		case d.Subject.End.Byte > len(s.buf) || d.Subject.Start.Byte > d.Subject.End.Byte:
			d.Subject = s.rng(min(d.Subject.Start.Byte, len(s.buf)), min(d.Subject.End.Byte, len(s.buf)))
		}
		r.scrub(d)
	}
	return r.diags.Sorted()
}

func newScope(files map[string][]byte, o Options) *scope {
	s := &scope{sources: map[string]*source{}, masked: files, vars: map[string]*variable{}, locals: map[string]*local{}}
	options := map[string]*shape{}
	var kinds []string
	for _, c := range o.Connectors {
		kinds = append(kinds, c.Kind)
		for _, part := range []struct {
			noun   string
			config any
		}{{"source " + c.Kind, c.Source}, {"target " + c.Kind, c.Target}} {
			if part.config != nil {
				s.configs = append(s.configs, shapeOf(part.noun, part.config))
			}
		}
		if c.Table != nil {
			options[c.Kind] = shapeOf(fmt.Sprintf("the %s block of a table", c.Kind), c.Table)
		}
	}
	slices.Sort(kinds)
	s.root = language(kinds, options)
	return s
}

// keep remembers a file's bytes, and what of them may be shown.
func (s *scope) keep(name string, src []byte) {
	if (name == commandLine || name == environment) && len(src) == 0 {
		return
	}
	s.sources[name] = newSource(name, src)
	s.masked[name] = masked(src)
}
