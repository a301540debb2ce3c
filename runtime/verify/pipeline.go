package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/schema"
	"penstock/planner/plan"
	"penstock/runtime"

	"golang.org/x/time/rate"
)

// pipeline is one pipeline while it is compared.
type pipeline struct {
	plan    *plan.Pipeline
	find    *plan.Finder
	o       *Options
	report  *Pipeline
	dialect *connectors.Dialect

	sourceDef *connectors.SourceDef
	targetDef *connectors.Definition
	source    connectors.Source
	loaded    connectors.Source // the target, to read from
	throttle  *rate.Limiter
	state     connectors.State
	have      *schema.Catalog // of the target, as it is read
	reads     []*schema.Table // of the source, that are compared
	kept      []*schema.Table // of the target
	live      *schema.Catalog // of the source

	sources map[string]connectors.Snapshot // by the point that was asked for
	target  connectors.Snapshot
	closers []func() error
}

func (p *pipeline) run(ctx context.Context, pn *plan.Plan, only map[string]bool) {
	err := p.compare(ctx, pn, only)
	for i := len(p.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, p.closers[i]())
	}
	p.report.Error, p.report.Exit = runtime.ErrorOf(err), runtime.ExitCode(err)
	for _, t := range p.report.Tables {
		if err == nil && (t.State == Differs || t.State == Absent) {
			p.report.Exit = runtime.ExitFindings
		}
	}
}

func (p *pipeline) compare(ctx context.Context, pn *plan.Plan, only map[string]bool) error {
	var tables []*plan.Table
	for i := range p.plan.Tables {
		t := &p.plan.Tables[i]
		name := t.Source.String()
		if only != nil && !only[name] {
			continue
		}
		if p.plan.DigestOf(t) != t.Digest {
			return usage("table %s: its digest does not fit what the plan says of it (the file was edited); plan it again", name)
		}
		tables = append(tables, t)
		p.report.Tables = append(p.report.Tables, &Table{Name: name, Target: t.Target.String(), Key: t.Key, State: NotCompared, Rows: []*Row{}})
	}
	if err := p.open(ctx, pn); err != nil {
		return err
	}
	for _, t := range tables {
		a, b := p.live.Find(t.Source), p.have.Find(t.Target)
		if a != nil && b != nil {
			p.reads, p.kept = append(p.reads, a), append(p.kept, b)
		}
	}
	for i, t := range tables {
		began := time.Now()
		r := p.report.Tables[i]
		if err := p.table(ctx, t, r); err != nil {
			return err
		}
		r.Seconds = time.Since(began).Seconds()
		p.o.Events.Emit(event.Compared{Pipeline: p.plan.Name, Table: r.Name, State: string(r.State), Rows: r.SourceSide.Rows, Missing: r.Missing, Extra: r.Extra, Different: r.Different})
	}
	return nil
}

// open connects both ends and reads what the target remembers. Nothing is
// claimed: a run may be going on.
func (p *pipeline) open(ctx context.Context, pn *plan.Plan) error {
	source, sourceDef, err := p.endpoint(pn, p.plan.Source)
	if err != nil {
		return err
	}
	target, targetDef, err := p.endpoint(pn, p.plan.Target)
	if err != nil {
		return err
	}
	p.sourceDef, p.targetDef = sourceDef.Source, targetDef
	switch {
	case sourceDef.Source == nil || sourceDef.Source.Open == nil:
		return usage("%s: this version of penstock plans for %s and can't read from it yet", source.ID, sourceDef.Kind)
	case targetDef.Target == nil || targetDef.Target.Open == nil || targetDef.Target.Read == nil || targetDef.Source == nil:
		return usage("%s: this version of penstock can't read %s back, so there is nothing to compare with", target.ID, targetDef.Kind)
	case p.o.FixSQL && targetDef.Target.Dialect == nil:
		return usage("--fix-sql: %s (%s) takes no SQL; penstock run --reload TABLE loads a table again", target.ID, targetDef.Kind)
	}
	p.dialect = targetDef.Target.Dialect
	sc, tc := sourceDef.Source.Config(), targetDef.Target.Config()
	if err := errors.Join(source.Settings(sc), target.Settings(tc)); err != nil {
		return usage("%v", err)
	}
	if err := p.remember(ctx, target, tc); err != nil {
		return err
	}
	if p.source, err = sourceDef.Source.Open(ctx, sc, p.env(source)); err != nil {
		return fmt.Errorf("open %s: %w", source.ID, err)
	}
	p.closers = append(p.closers, p.source.Close)
	if n := source.Throttle; n > 0 {
		p.throttle = rate.NewLimiter(rate.Limit(n), int(max(n, 1<<20)))
	}
	if p.live, err = p.source.Catalog(ctx); err != nil {
		return fmt.Errorf("read the catalog of %s: %w", source.ID, err)
	}
	if len(p.have.Tables) == 0 {
		return nil // there may be nothing to open yet
	}
	if p.loaded, err = targetDef.Target.Read(ctx, tc, p.env(target)); err != nil {
		return fmt.Errorf("open %s: %w", target.ID, err)
	}
	p.closers = append(p.closers, p.loaded.Close)
	if p.have, err = p.loaded.Catalog(ctx); err != nil {
		return fmt.Errorf("read the catalog of %s: %w", target.ID, err)
	}
	return nil
}

// remember reads what the target knows of the pipeline, and its tables.
func (p *pipeline) remember(ctx context.Context, e *plan.Endpoint, config any) (err error) {
	t, err := p.targetDef.Target.Open(ctx, config, p.env(e))
	if err != nil {
		return fmt.Errorf("open %s: %w", e.ID, err)
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if p.state, err = t.State(ctx); err != nil {
		return fmt.Errorf("read the state of pipeline %s: %w", p.plan.Name, err)
	}
	if p.have, err = t.Catalog(ctx); err != nil {
		return fmt.Errorf("read the catalog of %s: %w", e.ID, err)
	}
	return nil
}

func (p *pipeline) endpoint(pn *plan.Plan, id string) (*plan.Endpoint, *connectors.Definition, error) {
	e := pn.Endpoint(id)
	if e == nil {
		return nil, nil, usage("pipeline %s uses %s, which the plan does not describe", p.plan.Name, id)
	}
	def := p.o.Registry.Find(e.Connector)
	if def == nil {
		return nil, nil, usage("%s is of connector %s, which this penstock does not have", id, e.Connector)
	}
	return e, def, nil
}

func (p *pipeline) env(e *plan.Endpoint) connectors.Env {
	return connectors.Env{Dir: p.o.Dir, Pipeline: p.plan.Name, TLS: e.TLS, TLSCA: e.TLSCA, Secrets: p.o.Secrets, Log: p.o.Log,
		Tell: func(text string) { p.o.Events.Emit(event.Notice{Pipeline: p.plan.Name, Text: text}) }}
}

func usage(format string, args ...any) error {
	return &runtime.UsageError{Text: fmt.Sprintf(format, args...)}
}

// sourceAt opens a snapshot of the source at the point of a load, where it can
// still be read at, else as it is now; tables of one point share it.
func (p *pipeline) sourceAt(ctx context.Context, s *connectors.TableState) (connectors.Snapshot, error) {
	o := connectors.SnapshotOptions{Readers: p.readers(), Tables: p.reads}
	if s != nil && p.sourceDef.Capabilities.Durable {
		o.At = s.Point
	}
	if have := p.sources[string(o.At)]; have != nil {
		return have, nil
	}
	at := string(o.At)
	n, err := p.source.Snapshot(ctx, o)
	if err != nil && o.At != nil && connectors.ClassOf(err) == connectors.LostPosition {
		o.At = nil
		n, err = p.source.Snapshot(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("begin a snapshot of %s: %w", p.plan.Source, err)
	}
	p.closers = append(p.closers, n.Close)
	if p.sources == nil {
		p.sources = map[string]connectors.Snapshot{}
	}
	p.sources[at] = n
	return n, nil
}

// targetNow opens the one snapshot of the target.
func (p *pipeline) targetNow(ctx context.Context) (connectors.Snapshot, error) {
	if p.target != nil {
		return p.target, nil
	}
	n, err := p.loaded.Snapshot(ctx, connectors.SnapshotOptions{Readers: p.readers(), Tables: p.kept})
	if err != nil {
		return nil, fmt.Errorf("begin a snapshot of %s: %w", p.plan.Target, err)
	}
	p.closers = append(p.closers, n.Close)
	p.target = n
	return n, nil
}

func (p *pipeline) readers() int { return max(p.plan.Resources.Readers, 1) }
