package page

import (
	"fmt"
	"strings"

	"penstock/planner/plan"
)

// Sizes of the narrow drawing.
const (
	narrowW = 340
	stepH   = 50
	stepGap = 26
)

// newColumn is the drawing for narrow screens: one box a kind of stage, from
// top to bottom.
func newColumn(l *pipelineView) graph {
	g := graph{Width: narrowW, Title: fmt.Sprintf("Stages of %s, in short", l.Name)}
	p := partsOf(l)
	firsts := map[plan.StageKind]*plan.StageOutline{}
	tables := 0
	for i := range l.Tables {
		tables += len(l.Tables[i].Tables)
	}
	ranges := 0
	for i := range l.Stages {
		s := &l.Stages[i]
		if s.Stages[0].Table == "" {
			continue
		}
		if firsts[s.Kind] == nil {
			firsts[s.Kind] = s
		}
		if s.Kind == plan.StageExtract {
			for _, x := range s.Stages {
				ranges += x.Ranges
			}
		}
	}
	y := 2
	step := func(s *plan.StageOutline, class, name, sub string) {
		if s == nil {
			return
		}
		if sub == "" {
			sub = what(s, "")
		}
		if y > 2 {
			g.down(y - stepGap)
		}
		g.stage(l, s, 2, y, narrowW-4, stepH, class, name, sub)
		y += stepH + stepGap
	}
	end := func(e plan.EndpointOutline) {
		if y > 2 {
			g.down(y - stepGap)
		}
		room := (narrowW - 20) / charW
		g.Boxes = append(g.Boxes, box{X: 2, Y: y, W: narrowW - 4, H: stepH - 14, Class: "end", Title: e.String(), Lines: []label{
			{narrowW / 2, y + (stepH-14)/2 + 4, "mid name", cut(e.ID+" ("+e.Connector+")", room)}}})
		y += stepH - 14 + stepGap
	}
	of := plural(tables, "table")
	step(p.before, "prepare", "before_load", "")
	step(firsts[plan.StagePrepare], "prepare", "prepare", of)
	end(l.Source)
	step(firsts[plan.StageExtract], "extract", "extract", fmt.Sprintf("%s in %s", of, plural(ranges, "range")))
	if p.load != nil {
		step(p.load, "apply", "apply", plural(p.load.Stages[0].Parallel, "writer"))
	} else if p.log != nil && p.changes != nil {
		step(p.log, "extract", "read the log", "1 reader, in commit order")
		step(p.changes, "apply", "apply changes", plural(p.changes.Stages[0].Lanes, "lane"))
	}
	end(l.Target)
	step(firsts[plan.StageFinish], "finish", "finish", of)
	step(p.after, "finish", "after_load", "")
	if p.load != nil && p.log != nil && p.changes != nil {
		step(p.log, "extract", "then read the log", "1 reader, from the same point on")
		step(p.changes, "apply", "apply changes", plural(p.changes.Stages[0].Lanes, "lane"))
	}
	g.Height = y - stepGap + 2
	return g
}

func (g *graph) down(y int) {
	g.Pipes = append(g.Pipes, pipe{strings.TrimSpace(fmt.Sprintf("M%d %dv%dm-4 -6l4 6l4 -6", narrowW/2, y+3, stepGap-6)), "then"})
}
