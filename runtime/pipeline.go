package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"penstock/connectors"
	"penstock/internal/event"
	"penstock/internal/schema"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

// pipeline is one pipeline while it runs.
type pipeline struct {
	choice   *choice
	plan     *plan.Pipeline
	o        *Options
	result   *PipelineResult
	source   connectors.Source
	caps     connectors.SourceCapabilities
	splits   func(*schema.Table) []connectors.SplitKind
	target   connectors.Target
	work     *work
	belt     *belt
	crew     crew // the writers
	throttle *rate.Limiter
	discards *discards
	again    sync.Mutex               // one chunk at a time is read again
	loaded   chan *table              // all of its chunks are committed
	log      *connectors.ChangeStream // what the stream follows; nil: there is none
	parse    connectors.ChangeExplainer
}

// runPipeline runs one pipeline from its claim to its report.
func runPipeline(ctx context.Context, p *plan.Plan, c *choice, o *Options) *PipelineResult {
	pl := &pipeline{choice: c, plan: c.plan, o: o, result: &PipelineResult{
		Name: c.plan.Name, Source: c.plan.Source, Target: c.plan.Target, Delivery: c.plan.Delivery,
		Started: time.Now().UTC(), OneState: true,
	}}
	err := pl.run(ctx, p)
	if errors.Is(err, errDrained) {
		pl.result.Drained, err = true, nil
	}
	pl.result.Ended = time.Now().UTC()
	pl.result.Cancelled = errors.Is(err, context.Canceled)
	pl.result.Error, pl.result.Exit = errorResult(err), ExitCode(err)
	if err == nil && pl.bad() > 0 {
		pl.result.Exit = ExitFindings
	}
	e := event.PipelineFinished{Pipeline: c.plan.Name, Exit: pl.result.Exit}
	if pl.result.Error != nil {
		e.Error = pl.result.Error.Message
	}
	o.Events.Emit(e)
	return pl.result
}

// bad counts the bad rows of the loads that this run had a part in.
func (p *pipeline) bad() (n int64) {
	for _, t := range p.result.Tables {
		if t.Action != checkpoint.Loaded.String() {
			n += t.Bad + t.BadBefore
		}
	}
	return n
}

func (p *pipeline) run(ctx context.Context, pn *plan.Plan) (err error) {
	ends, err := p.find(pn)
	if err != nil {
		return err
	}
	if p.work, err = arrange(p.plan, p.choice.tables); err != nil {
		return err
	}
	for _, t := range p.work.tables {
		p.result.Tables = append(p.result.Tables, t.result)
	}
	if err := p.open(ctx, ends); err != nil {
		return err
	}
	defer func() {
		// A context that has ended must not keep the claim from being given back.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, p.close(ctx))
	}()
	state, err := p.claim(ctx)
	if err != nil {
		return err
	}
	if err := p.decide(ctx, state); err != nil {
		return err
	}
	if p.discards, err = openDiscards(p.plan, p.o.Dir, state, p.work.tables); err != nil {
		return err
	}
	defer func() {
		p.result.Discards = p.discards.name()
		err = errors.Join(err, p.discards.close())
	}()
	if p.anew() {
		if err := p.script(ctx, "before_load", p.work.before, state); err != nil {
			return err
		}
	}
	if !p.plan.Loads() {
		if err := p.prepareTables(ctx); err != nil {
			return err
		}
	} else if err := p.move(ctx); err != nil || p.result.Drained || !p.allLoaded(state) {
		return err
	}
	if err := p.script(ctx, "after_load", p.work.after, state); err != nil || !p.plan.Follows() {
		return err
	}
	return p.follow(ctx, state)
}

// anew reports whether a table is begun, so that before_load is due.
func (p *pipeline) anew() bool {
	return slices.ContainsFunc(p.work.tables, func(t *table) bool {
		return t.task.Action == checkpoint.Begin || t.task.Action == checkpoint.Restart
	})
}

// allLoaded reports whether every table of the pipeline is loaded, also those
// that --only left out, so that after_load is due.
func (p *pipeline) allLoaded(state connectors.State) bool {
	for _, name := range p.others() {
		if s := state.Tables[name]; s == nil || !s.Loaded {
			return false
		}
	}
	return true
}

// others are the tables that --only left out.
func (p *pipeline) others() (names []string) {
	for i := range p.plan.Tables {
		name := p.plan.Tables[i].Source.String()
		if !slices.ContainsFunc(p.work.tables, func(t *table) bool { return t.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// script runs the spec's own statements, once for each sum of the tables'
// generations: a run after a crash finds their record, and a table that is
// begun anew raises the sum.
func (p *pipeline) script(ctx context.Context, name string, statements []string, state connectors.State) error {
	if len(statements) == 0 {
		return nil
	}
	sum := 0
	for _, t := range p.work.tables {
		sum += t.task.Generation
	}
	for name, s := range state.Tables {
		if !slices.ContainsFunc(p.work.tables, func(t *table) bool { return t.name == name }) {
			sum += s.Generation
		}
	}
	return p.persist(ctx, func() error {
		return p.target.Script(ctx, connectors.Script{Name: name, Generation: sum, Statements: statements})
	})
}

// persist does something that is one transaction of the target, or nothing,
// and again after transient errors: each of these steps can be done twice.
func (p *pipeline) persist(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil {
			return nil
		}
		if err := p.o.Backoff.wait(ctx, p.o.Drain, attempt, err, func(e event.Retrying) {
			e.Pipeline = p.plan.Name
			p.o.Events.Emit(e)
		}); err != nil {
			return err
		}
	}
}

// ends are the endpoints of a pipeline with their connectors.
type ends struct {
	source, target       *plan.Endpoint
	sourceDef, targetDef *connectors.Definition
}

// find looks both ends up. A connector that this build can only plan for is
// refused before anything else is said of its stages.
func (p *pipeline) find(pn *plan.Plan) (e ends, err error) {
	if e.source, e.sourceDef, err = p.endpoint(pn, p.plan.Source); err != nil {
		return e, err
	}
	if e.target, e.targetDef, err = p.endpoint(pn, p.plan.Target); err != nil {
		return e, err
	}
	if e.sourceDef.Source == nil || e.sourceDef.Source.Open == nil {
		return e, &UsageError{fmt.Sprintf("%s: this version of penstock plans for %s and can't read from it yet", e.source.ID, e.sourceDef.Kind)}
	}
	if e.targetDef.Target == nil || e.targetDef.Target.Open == nil {
		return e, &UsageError{fmt.Sprintf("%s: this version of penstock plans for %s and can't load into it yet", e.target.ID, e.targetDef.Kind)}
	}
	return e, nil
}

// open connects both ends.
func (p *pipeline) open(ctx context.Context, e ends) error {
	source, target := e.sourceDef.Source.Config(), e.targetDef.Target.Config()
	if err := settings(e.source, source); err != nil {
		return err
	}
	if err := settings(e.target, target); err != nil {
		return err
	}
	var err error
	if p.source, err = e.sourceDef.Source.Open(ctx, source, p.env(e.source)); err != nil {
		return fmt.Errorf("open %s: %w", e.source.ID, err)
	}
	p.parse = e.sourceDef.Source.Changes
	p.caps, p.splits = e.sourceDef.Source.Capabilities, e.sourceDef.Source.Splits
	if n := e.source.Throttle; n > 0 {
		p.throttle = rate.NewLimiter(rate.Limit(n), int(max(n, 1<<20)))
	}
	if p.target, err = e.targetDef.Target.Open(ctx, target, p.env(e.target)); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", e.target.ID, err), p.close(ctx))
	}
	return nil
}

// endpoint finds an end of the pipeline in the plan and its connector here.
func (p *pipeline) endpoint(pn *plan.Plan, id string) (*plan.Endpoint, *connectors.Definition, error) {
	e := pn.Endpoint(id)
	if e == nil {
		return nil, nil, &UsageError{fmt.Sprintf("pipeline %s uses %s, which the plan does not describe", p.plan.Name, id)}
	}
	def := p.o.Registry.Find(e.Connector)
	if def == nil {
		return nil, nil, &UsageError{fmt.Sprintf("%s is of connector %s, which this penstock does not have", id, e.Connector)}
	}
	return e, def, nil
}

// settings reads an endpoint's config out of the plan.
func settings(e *plan.Endpoint, into any) error {
	if err := e.Settings(into); err != nil {
		return &UsageError{err.Error()}
	}
	return nil
}

func (p *pipeline) env(e *plan.Endpoint) connectors.Env {
	takes := p.plan.Resources.TargetConnections
	if e.ID == p.plan.Source {
		takes = p.plan.Resources.SourceConnections
	}
	return connectors.Env{Dir: p.o.Dir, Pipeline: p.plan.Name, TLS: e.TLS, TLSCA: e.TLSCA, Secrets: p.o.Secrets, Log: p.o.Log,
		Connections: takes,
		Tell:        func(text string) { p.o.Events.Emit(event.Notice{Pipeline: p.plan.Name, Text: text}) }}
}

// close gives everything back, whatever state the pipeline is in.
func (p *pipeline) close(ctx context.Context) error {
	var errs []error
	if p.work != nil {
		errs = append(errs, p.closeSnapshots())
	}
	if p.target != nil {
		errs = append(errs, p.target.Release(ctx), p.target.Close())
		p.target = nil
	}
	if p.source != nil {
		errs = append(errs, p.source.Close())
		p.source = nil
	}
	return errors.Join(errs...)
}

func (p *pipeline) closeSnapshots() error {
	var errs []error
	for _, s := range p.work.snapshots {
		errs = append(errs, s.Close())
	}
	p.work.snapshots = nil
	return errors.Join(errs...)
}

// claim takes the pipeline in the target and reads what earlier runs did.
func (p *pipeline) claim(ctx context.Context) (connectors.State, error) {
	var claim connectors.Claim
	owner := self()
	err := p.persist(ctx, func() (err error) {
		claim, err = p.target.Claim(ctx, owner)
		return err
	})
	if err != nil {
		return connectors.State{}, err
	}
	p.result.Epoch = claim.Epoch
	state, err := p.target.State(ctx)
	if err != nil {
		return state, fmt.Errorf("read the state of pipeline %s: %w", p.plan.Name, err)
	}
	resumed := false
	for _, t := range p.work.tables {
		if s := state.Tables[t.name]; s != nil && !s.Loaded {
			resumed = true
		}
	}
	p.o.Events.Emit(event.PipelineStarted{Pipeline: p.plan.Name, Epoch: claim.Epoch, Tables: len(p.work.tables), Resumed: resumed})
	return state, nil
}

// decide settles what every table needs before anything is changed: a table
// that can't be carried on stops the pipeline while nothing has been done.
func (p *pipeline) decide(ctx context.Context, state connectors.State) error {
	read := false
	for _, t := range p.work.tables {
		task, err := checkpoint.Decide(state.Tables[t.name], checkpoint.Want{
			Digest: t.load.Digest, Definition: t.load.Definition, Durable: p.caps.Durable, Reload: p.choice.reload[t.name],
		})
		if err != nil {
			return fmt.Errorf("table %s: %w. Put it back, or load the table again with --reload %s", t.name, err, t.name)
		}
		if task.Action == checkpoint.Restart && t.load.Existing == connectors.ExistingAppend {
			return &UsageError{fmt.Sprintf(`table %s was loaded with existing = "append": its rows can't be told from those that were there, so it can't be emptied and loaded again. Take its rows out by hand, delete the pipeline's rows of this table from penstock_table and penstock_chunk, and run again`, t.name)}
		}
		t.task = task
		t.result.Action = task.Action.String()
		t.result.Generation, t.result.Point = task.Generation, task.Point.String()
		t.result.Chunks, t.result.ChunksDone = task.Chunks, task.Done
		t.result.Before, t.result.BadBefore, t.result.LoadedAt = task.Rows, task.Bad, task.LoadedAt
		switch task.Action {
		case checkpoint.Loaded:
			t.result.State = "loaded"
		case checkpoint.Continue, checkpoint.Complete:
			t.result.State = "unfinished"
		}
		read = read || task.Action < checkpoint.Complete
	}
	target, err := p.target.Catalog(ctx)
	if err != nil {
		return fmt.Errorf("read the catalog of %s: %w", p.plan.Target, err)
	}
	if err := p.stillThere(target); err != nil {
		return err
	}
	if !read && !p.plan.Follows() {
		return nil
	}
	live, err := p.source.Catalog(ctx)
	if err != nil {
		return fmt.Errorf("read the catalog of %s: %w", p.plan.Source, err)
	}
	if err := p.drift(live, target, state); err != nil {
		return err
	}
	splits := p.splits
	if !p.plan.Loads() {
		splits = nil // none is cut
	}
	for _, t := range p.work.tables {
		if t.task.Action < checkpoint.Complete || p.plan.Follows() {
			if err := t.bind(live, splits); err != nil {
				return err
			}
		}
	}
	if p.plan.Follows() {
		p.followed(state)
	}
	return nil
}

// stillThere makes sure that the target tables which the state tells of exist:
// what was loaded can have been dropped since.
func (p *pipeline) stillThere(have *schema.Catalog) error {
	for _, t := range p.work.tables {
		if t.known() && have.Find(t.load.Table) == nil {
			return &connectors.Error{Op: "check", Table: t.load.Table.String(), Class: connectors.Schema,
				Err:  fmt.Errorf("%s has been loaded into it, in part or whole, and it is gone from %s", t.name, p.plan.Target),
				Hint: fmt.Sprintf("--reload %s makes it anew.", t.name)}
		}
	}
	return nil
}

// drift compares what the plan uses with both ends as they are: for tables that
// have rows to read. It also tells which target tables the load makes.
func (p *pipeline) drift(source, target *schema.Catalog, state connectors.State) error {
	var found []plan.Difference
	for _, t := range p.work.tables {
		if t.task.Action >= checkpoint.Complete && !p.plan.Follows() {
			continue
		}
		found = append(found, p.plan.Drift(t.plan, source, target)...)
		have, was := target.Find(t.plan.Target), state.Tables[t.name]
		t.created = have == nil || have.Name != t.plan.Target || was != nil && was.Created && plan.TargetOf(was.Definition) == t.plan.Target
	}
	if found != nil {
		return &connectors.Error{Op: "pipeline", Table: p.plan.Name, Class: connectors.Schema, Err: &plan.DriftError{Differences: found}, Hint: "Plan it again."}
	}
	return nil
}

// move runs the stages: prepare all tables, then readers, writers and the
// finishing steps side by side. Goroutines: one a reader, one a writer, one
// for the finishing steps, and this one.
func (p *pipeline) move(ctx context.Context) error {
	res := p.plan.Resources
	p.belt = newBelt(res.Slots, res.SlotBytes, res.Writers == 1)
	p.loaded = make(chan *table, len(p.work.tables))
	if p.draining() {
		p.belt.drain()
	}
	if p.o.Drain != nil {
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			select {
			case <-p.o.Drain:
				p.belt.drain()
			case <-ended:
			}
		}()
	}
	if err := p.prepareAll(ctx); err != nil {
		return err
	}
	whole := ctx
	g, ctx := errgroup.WithContext(ctx)
	defer p.belt.watch(ctx)()
	var readers sync.WaitGroup
	for range res.Readers {
		readers.Add(1)
		g.Go(func() error { defer readers.Done(); p.reader(ctx); return nil })
	}
	writers, wctx := errgroup.WithContext(ctx)
	for range res.Writers {
		writers.Go(func() error {
			err := p.writer(wctx)
			if err != nil {
				p.belt.stop(err) // the others must not wait for a belt that is stuck
			}
			return err
		})
	}
	g.Go(func() error {
		err := writers.Wait()
		close(p.loaded)
		if err == nil { // what the source keeps for us is not kept while indexes are made
			readers.Wait()
			err = p.closeSnapshots()
		}
		return err
	})
	g.Go(func() error { return p.finisher(ctx) })
	err := g.Wait()
	if err == nil && whole.Err() != nil && !p.done() {
		err = fmt.Errorf("stopped before all was done: %w", whole.Err())
	}
	p.result.Idle = IdleSeconds{Readers: p.belt.idle.readers.Seconds(), Writers: p.belt.idle.writers.Seconds()}
	p.result.Idle.Workers, p.result.Idle.Share = p.crew.report()
	p.result.OneState = p.oneState()
	for _, t := range p.work.tables {
		t.report()
		if t.result.State != "loaded" && err == nil {
			p.result.Drained = true
		}
	}
	return err
}

// done reports whether every table is loaded.
func (p *pipeline) done() bool {
	return !slices.ContainsFunc(p.work.tables, func(t *table) bool { return t.result.State != "loaded" })
}

func (p *pipeline) draining() bool {
	select {
	case <-p.o.Drain:
		return true
	default:
		return false
	}
}

// self describes this process for the claim.
func self() connectors.Owner {
	o := connectors.Owner{Run: rand.Text(), Host: "unknown", Boot: "unknown", PID: os.Getpid(), Started: started.Format(time.RFC3339Nano)}
	if h, err := os.Hostname(); err == nil {
		o.Host = h
	}
	// Linux only; elsewhere owners are told apart by host, pid and start.
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		o.Boot = strings.TrimSpace(string(b))
	}
	return o
}

// started is when this process began, near enough to tell two of one pid apart.
var started = time.Now().UTC()
