package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/secret"
	"penstock/lang"
	"penstock/planner"
	"penstock/planner/plan"
	"penstock/runtime"
)

// compiled is a spec and what the planner made of it. plan is nil when the
// diagnostics have errors.
type compiled struct {
	spec *lang.Spec
	plan *plan.Plan
	diag diag.List
	// changes says what is otherwise than in the plan of --baseline; baseline is
	// that plan's file, where they were compared.
	changes  []string
	baseline string
}

// compile reads and plans a spec, offline. load and plan are the one way from a
// file to a plan: every command gives the same findings.
func (a *app) compile(ctx context.Context, path string, o planner.Options) (*compiled, error) {
	c, err := a.load(path)
	if err != nil {
		return nil, err
	}
	a.plan(ctx, c, o)
	return c, nil
}

// load reads a spec. What the language finds is in the diagnostics.
func (a *app) load(path string) (*compiled, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, noSuchFile(path, err)
	}
	if isPlan(path) {
		return nil, &runtime.UsageError{Text: fmt.Sprintf("%s: a spec is a .hcl, .yaml or .yml file, or a folder of them; a plan is shown by: %s show %s", path, a.program, quote(path))}
	}
	vars, err := a.variables()
	if err != nil {
		return nil, err
	}
	c := &compiled{}
	c.spec, c.diag = lang.Load(path, lang.Options{
		Vars: vars, VarFiles: a.varFiles, LookupEnv: a.lookupEnv, Connectors: planner.Connectors(a.registry),
	})
	return c, nil
}

// plan adds the plan to a spec that was loaded, and what the planner finds.
// What the language refused is planned as far as it goes, so that one run tells
// all that is wrong.
func (a *app) plan(ctx context.Context, c *compiled, o planner.Options) {
	var found diag.List
	c.plan, found = planner.Compile(ctx, c.spec, a.registry, o)
	c.diag = append(slices.Clone(c.diag), found.Apart(c.diag)...).Sorted()
	if c.diag.HasErrors() {
		c.plan = nil
	}
}

func noSuchFile(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &runtime.UsageError{Text: fmt.Sprintf("%s: there is no such file", path)}
	}
	return &runtime.UsageError{Text: fmt.Sprintf("%s: %v", path, cause(err))}
}

// cause is an error of a file without the file's name.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (a *app) writeJSON(v any) error { return plan.Encode(a.stdout, v) }

// isPlan tells a plan file from a spec, by its name: specs are .hcl, .yaml,
// .yml files or folders.
func isPlan(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// readPlanToShow reads a plan to look at, whatever version wrote it, with notes
// on what a run would refuse.
func readPlanToShow(path string) (*plan.Plan, []string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, noSuchFile(path, err)
	}
	p, notes, err := plan.ParseToShow(b)
	if err != nil {
		return nil, nil, &runtime.UsageError{Text: fmt.Sprintf("%s: %v", path, err)}
	}
	return p, notes, nil
}

// readPlan reads a plan that `plan --out` wrote.
func readPlan(path string) (*plan.Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, noSuchFile(path, err)
	}
	p, err := plan.Parse(b)
	if err != nil {
		return nil, &runtime.UsageError{Text: fmt.Sprintf("%s: %v", path, err)}
	}
	return p, nil
}

// secrets resolves the references of a spec's plan; sensitive variables only
// where a spec was read.
func (a *app) secrets(dir string, spec *lang.Spec) secret.Resolver {
	return secret.Resolver{
		Env: a.lookupEnv,
		Open: func(path string) ([]byte, error) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			return os.ReadFile(path)
		},
		Vars: func(name string) (string, bool) {
			if spec != nil {
				if f := spec.Sensitive[name]; f != nil {
					return f()
				}
				return "", false
			}
			for _, v := range a.vars {
				if n, value, ok := strings.Cut(v, "="); ok && n == name {
					return value, true
				}
			}
			return a.lookupEnv("PENSTOCK_VAR_" + name)
		},
	}
}

// pipelines reads a spec for a command that asks its databases what earlier runs
// left, and writes what is found in it. An error has been told already.
func (a *app) pipelines(ctx context.Context, command, path string, only []string) (*compiled, *plan.Plan, error) {
	c, err := a.load(path)
	if err != nil {
		return nil, nil, err
	}
	p, found := planner.Pipelines(ctx, c.spec, a.registry, planner.Options{Only: only})
	c.diag = append(c.diag, found.Apart(c.diag)...).Sorted()
	if p == nil || c.diag.HasErrors() {
		if err := a.report(command, path, "", c); err != nil {
			return nil, nil, err
		}
		return nil, nil, exitError(runtime.ExitSpec)
	}
	return c, p, diag.WriteWithin(a.stderr, c.diag, c.spec.Files, a.color, a.columns())
}
