package planner

import (
	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// pipeline is a pipeline on its way into the plan.
type pipeline struct {
	spec   *lang.Pipeline
	source *endpoint
	target *endpoint
	caps   connectors.TargetCapabilities
	loads  bool // mode snapshot, snapshot+cdc
	stream bool // mode cdc, snapshot+cdc
	slot   int64
	out    plan.Pipeline

	reported map[report]bool
}

// report tells findings apart that a block gives for each of its tables: the
// spec is mended once for all of them.
type report struct {
	code diag.Code
	at   hcl.Range
	what string
}

// table is a table on its way into the plan.
type table struct {
	*pipeline
	c    *compiler
	spec *lang.Table
	src  *schema.Table
	dst  *schema.Table // nil: absent at the target
	out  plan.Table

	nullKeys []string // target columns that are checked for NULL alone, as part of the key
	computed []string // source columns that values of others are computed from
	filtered []string // source columns that the filter looks at
}

// errorf reports a fault of this table about what (a column, a setting), once
// for all tables of its block.
func (t *table) errorf(code diag.Code, at hcl.Range, what, summary, detail string, args ...any) *diag.Diagnostic {
	if t.seen(code, at, what) {
		return &diag.Diagnostic{}
	}
	return t.c.diags.Errorf(code, at, summary, detail, args...)
}

// warn is errorf for a warning; the plan keeps it for every table.
func (t *table) warn(code diag.Code, at hcl.Range, what, summary, detail string) {
	n := len(t.c.diags)
	t.c.warn(code, at, t.object(), summary, detail)
	if t.seen(code, at, what) {
		t.c.diags = t.c.diags[:n]
	}
}

// object is how warnings name the table: pipeline.TABLE, as --only does.
func (t *table) object() string { return t.pipeline.spec.Name.V + "." + t.src.Name.String() }

func (t *table) seen(code diag.Code, at hcl.Range, what string) bool {
	r := report{code, at, what}
	if t.reported[r] {
		return true
	}
	t.reported[r] = true
	return false
}

// compile decides everything about the table, in an order in which each step
// stands on the ones before.
func (t *table) compile(target *catalog) {
	t.out.Source = t.src.Name
	if !t.name(target) {
		return
	}
	t.out.Create = t.dst == nil
	t.out.Existing = t.spec.Existing.V
	t.out.OnNUL, t.out.OnInvalid = t.spec.OnNUL.V, t.spec.OnInvalidText.V
	if t.stream {
		t.out.Operations = t.spec.Operations.V
	} else if t.spec.Operations.Set {
		t.withoutEffect(t.spec.Operations.Range, "operations", "a snapshot has rows only, no inserts, updates and deletes")
	}
	t.columns()
	t.key()
	t.checkedNote()
	t.split()
	t.apply()
	t.commit()
	t.special()
	t.travel()
	t.logged()
	t.outside()
	t.connectorOptions()
	t.chunk()
	t.estimate()
}

// name decides the target table. Parts of the source's name are folded by the
// target's `names`; what the spec writes out stands as it is written.
func (t *table) name(target *catalog) bool {
	names := t.target.names()
	folded := foldName(t.src.Name, names)
	text, at := folded.String(), t.spec.DefRange
	if t.spec.To.IsSet() {
		at = t.spec.To.Range()
		to, problems := t.spec.To.Eval(folded)
		t.c.diags = append(t.c.diags, problems...)
		if problems.HasErrors() {
			return false
		}
		text = to.V
	}
	name, err := t.target.def.Target.SplitName(text)
	if err != nil {
		t.errorf(diag.BadTargetName, at, text, "Target name can't be used", "%s can't be a table of %s: %s. Write a name that it can have as `to`.", text, t.target.id, err)
		return false
	}
	if home := t.target.def.Target.Home; home != nil && !t.target.faulty && name.Schema == home(t.target.config) {
		name.Schema = ""
	}
	t.out.Target = name
	if target != nil {
		switch have := target.find(name.String()); len(have) {
		case 1:
			t.dst, t.out.Target = have[0], have[0].Name
			if t.c.options.Created[t.pipeline.spec.Name.V][t.src.Name.String()] == t.out.Target {
				t.dst = nil
			}
		case 0:
		default:
			t.errorf(diag.AmbiguousName, at, text, "Name fits more than one table", "%s fits %s of %s. Write the one that is meant as `to`.",
				text, list(tableNames(have), "and"), t.target.id)
			return false
		}
	}
	t.c.writes = append(t.c.writes, write{target: t.target, name: t.out.Target, source: t.src.Name.String(), at: at})
	return true
}

// connectorOptions decodes the target connector's own block of this table.
func (t *table) connectorOptions() {
	make := t.target.def.Target.Options
	for kind, o := range t.spec.Options {
		if kind != t.target.def.Kind {
			t.errorf(diag.ForeignOptions, o.DefRange, kind, "Options of another connector", "%q are options of another connector: the target %s is %s.", kind, t.target.id, t.target.def.Kind)
		}
	}
	if make == nil {
		return
	}
	options := make()
	if o := t.spec.Options[t.target.def.Kind]; o != nil {
		_, problems := o.Decode(options)
		if problems.HasErrors() && t.seen(diag.BadSetting, o.DefRange, "options") {
			return
		}
		t.c.diags = append(t.c.diags, problems...)
		t.out.Options = rawJSON(options)
	}
}

// withoutEffect warns of a setting that means nothing here.
func (t *table) withoutEffect(at hcl.Range, setting, why string) {
	t.warn(diag.WithoutEffect, at, setting, "Setting without effect", "`"+setting+"` has no effect: "+why+".")
}

// estimate copies the source's statistics. They decide nothing.
func (t *table) estimate() {
	s := t.src.Stats
	if s == nil {
		return
	}
	e := &plan.Estimates{Rows: s.Rows, Bytes: s.Bytes, From: "statistics"}
	switch {
	case s.Exact:
		e.From = "counted"
	case s.Analyzed != "":
		e.From = "statistics of " + s.Analyzed
	}
	if n := t.out.Chunk.Rows; n > 0 && t.loads {
		e.Chunks = chunkCount(s.Rows, n, t.out.Range)
	}
	t.out.Estimates = e
}

// chunkCount is how many chunks the rows give, if ranges come out even.
func chunkCount(rows, size int64, r plan.Range) int64 {
	parts := func(n int64) int64 { return max(1, (n+size-1)/size) }
	switch r.Split {
	case connectors.SplitNone:
		return 1
	case connectors.SplitHash: // each stretch of the scan is dealt to all ranges
		return parts(rows) * int64(r.Count)
	}
	// Each range is cut by itself; fewer rows than ranges leave some empty.
	count := max(1, min(int64(r.Count), rows))
	return count * parts((rows+count-1)/count)
}
