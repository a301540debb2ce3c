package planner

import (
	"slices"

	"penstock/connectors"
	"penstock/lang"
	"penstock/planner/plan"
)

// stages lays out what runs, what it waits for and what runs beside it:
//
//	before_load -> prepare log (streams) -> prepare T -> extract T + apply -> finish T -> after_load
//	                                                     extract log + apply changes (streams)
//
// A table is prepared, read and finished without waiting for another one.
func (p *pipeline) stages(source *catalog) {
	var first []string
	if s := p.spec.BeforeLoad; len(s) > 0 {
		p.add(plan.Stage{ID: plan.BeforeLoad, Kind: plan.StagePrepare, Parallel: 1, Statements: asStatements(s), NotBuilt: p.target.def.Target.Explain == nil})
		first = []string{plan.BeforeLoad}
	}
	if p.stream {
		first = p.prepareLog(source, first)
	}
	var prepared, extracts, finished []string
	for i := range p.out.Tables {
		t := &p.out.Tables[i]
		prepared = append(prepared, p.prepare(t, first))
	}
	if p.loads {
		for i := range p.out.Tables {
			extracts = append(extracts, p.extract(&p.out.Tables[i], source))
		}
		p.applyStage(extracts, first)
		for i := range p.out.Tables {
			finished = append(finished, p.finish(&p.out.Tables[i]))
		}
	}
	done := finished
	if !p.loads {
		done = prepared
	}
	if s := p.spec.AfterLoad; len(s) > 0 {
		p.add(plan.Stage{ID: plan.AfterLoad, Kind: plan.StageFinish, Parallel: 1, After: done, Statements: asStatements(s), NotBuilt: p.target.def.Target.Explain == nil})
		done = []string{plan.AfterLoad}
	}
	if p.stream {
		p.streamStages(done)
	}
}

func (p *pipeline) add(s plan.Stage) { p.out.Stages = append(p.out.Stages, s) }

// notBuilt stands where this build has no statements to show, and the runner
// refuses it.
func notBuilt() []connectors.Statement {
	return []connectors.Statement{{SQL: connectors.NotBuilt}}
}

// lacks reports statements that a connector has no text for yet.
func lacks(statements []connectors.Statement) bool {
	return slices.ContainsFunc(statements, func(s connectors.Statement) bool { return s.SQL == connectors.NotBuilt })
}

func (p *pipeline) prepare(t *plan.Table, after []string) string {
	s := plan.Stage{ID: "prepare " + t.Source.String(), Kind: plan.StagePrepare, Table: t.Source.String(), After: after, Parallel: 1}
	if x := p.target.def.Target.Explain; x != nil {
		s.Statements = x.Prepare(t.Facts())
		s.NotBuilt = lacks(s.Statements)
	} else {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
	return s.ID
}

func (p *pipeline) extract(t *plan.Table, source *catalog) string {
	name := t.Source.String()
	s := plan.Stage{
		ID: "extract " + name, Kind: plan.StageExtract, Table: name, After: []string{"prepare " + name}, With: []string{plan.ApplyLoad},
		Parallel: min(p.readers(t), p.out.Resources.Readers), Ranges: t.Range.Count,
	}
	if x := p.source.def.Source.Explain; x != nil {
		s.Statements = x.Read(connectors.Extract{Table: source.exact[name], Columns: t.ReadNames(), Split: t.SourceSplit(), Encoded: t.Encoded})
	} else {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
	return s.ID
}

func (p *pipeline) applyStage(extracts, after []string) {
	s := plan.Stage{ID: plan.ApplyLoad, Kind: plan.StageApply, After: after, With: extracts, Parallel: p.out.Resources.Writers}
	if p.stream {
		s.Parallel = p.writers()
	}
	x := p.target.def.Target.Explain
	for i := range p.out.Tables {
		if x == nil {
			break
		}
		t := &p.out.Tables[i]
		s.Loads = append(s.Loads, plan.TableStatements{Table: t.Source.String(), Statements: x.Insert(t.Facts())})
	}
	if x == nil {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
}

func (p *pipeline) finish(t *plan.Table) string {
	name := t.Source.String()
	s := plan.Stage{ID: "finish " + name, Kind: plan.StageFinish, Table: name, After: []string{"extract " + name}, Parallel: 1}
	if x := p.target.def.Target.Explain; x != nil {
		s.Statements = x.Finish(t.Facts())
		s.NotBuilt = lacks(s.Statements)
		s.Parallel = p.builders(s.Statements)
	} else {
		s.Statements, s.NotBuilt = notBuilt(), true
	}
	p.add(s)
	return s.ID
}

// builders is how many indexes of a table are made at once.
func (p *pipeline) builders(statements []connectors.Statement) int {
	n := 0
	for _, s := range statements {
		if s.Beside {
			n++
		}
	}
	return min(max(n, 1), p.out.Workers)
}

// asStatements are the spec's own statements, as they stand.
func asStatements(sql []lang.Text) []connectors.Statement {
	var out []connectors.Statement
	for _, s := range sql {
		out = append(out, connectors.Statement{SQL: s.V, Comment: "from the spec"})
	}
	return out
}
