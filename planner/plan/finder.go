package plan

import "penstock/connectors"

// Finder finds the stages of a pipeline's tables. It is made once for all of
// them: a plan of 20,000 tables has as many stages of each kind, and looking
// through them for each table would take the square of that.
type Finder struct {
	p      *Pipeline
	stages map[stageKey]*Stage
	loads  map[string]*TableStatements // of the apply stage, by source table
}

type stageKey struct {
	kind  StageKind
	table string
}

// Finder is of the pipeline as it stands: stages that come later are not found.
func (p *Pipeline) Finder() *Finder {
	f := &Finder{p: p, stages: make(map[stageKey]*Stage, len(p.Stages)), loads: make(map[string]*TableStatements, len(p.Tables))}
	for i := range p.Stages {
		s := &p.Stages[i]
		if k := (stageKey{s.Kind, s.Table}); f.stages[k] == nil {
			f.stages[k] = s
		}
	}
	if s := f.Stage(StageApply, ""); s != nil && s.ID == ApplyLoad {
		for i := range s.Loads {
			f.loads[s.Loads[i].Table] = &s.Loads[i]
		}
	}
	return f
}

// Stage returns the stage of this kind for a table ("" for one without), or nil.
func (f *Finder) Stage(kind StageKind, table string) *Stage { return f.stages[stageKey{kind, table}] }

// Load is BareLoad with the plan's statements.
func (f *Finder) Load(t *Table) connectors.Load {
	l, name := f.p.BareLoad(t), t.Source.String()
	if s := f.Stage(StagePrepare, name); s != nil {
		l.Prepare = texts(s.Statements)
	}
	if s := f.Stage(StageFinish, name); s != nil {
		l.Finish, l.Builders = texts(s.Statements), s.Parallel
	}
	if ts := f.loads[name]; ts != nil {
		l.Insert = loading(ts.Statements)
	}
	return l
}
