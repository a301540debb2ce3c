package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"penstock/planner/plan"

	"github.com/mattn/go-runewidth"
)

// graph is a drawing of a pipeline's stages: what is prepared, then the rows'
// way from the source through ranges and writers to the target, then what
// finishes. Lengths are in pixels of a drawing of its own size.
type graph struct {
	Title         string
	Width, Height int
	Labels        []label
	Pipes         []pipe // drawn first
	Boxes         []box
}

// box is a stage or an endpoint.
type box struct {
	X, Y, W, H int
	Class      string
	Link       string // fragment of what it stands for; "" for none
	Title      string // whole, for those who point at it
	Lines      []label
	Cells      []cell // ranges, lanes
}

type label struct {
	X, Y  int
	Class string
	Text  string
}

type cell struct{ X, Y, W, H int }

type pipe struct{ Path, Class string }

// Columns of the wide drawing.
const (
	prepareX, prepareW = 0, 160
	sourceX, sourceW   = 212, 104
	extractX, extractW = 370, 214
	applyX, applyW     = 664, 120
	targetX, targetW   = 850, 104
	finishX, finishW   = 1006, 160
	wideW              = finishX + finishW

	headH  = 26 // of the column's names
	rowH   = 62
	boxH   = 46
	charW  = 7 // of the small monospaced letters, a little more than they are
	maxRow = 10
	maxBar = 32 // cells that ranges are drawn as, at most
)

// row is a group of tables in the drawing, or what has no table.
type row struct {
	prepare, extract, finish *plan.StageOutline
	table                    *tableView
	more                     int // tables that are not drawn
}

// parts sorts the stages of a pipeline into the drawing's places.
type parts struct {
	before, after      *plan.StageOutline // the spec's own statements
	rows               []row
	load, log, changes *plan.StageOutline
}

func partsOf(l *pipelineView) parts {
	var p parts
	at := map[string]*row{}
	for i := range l.Groups {
		p.rows = append(p.rows, row{table: &l.Groups[i]})
	}
	for i := range p.rows {
		at[p.rows[i].table.Tables[0].Source.String()] = &p.rows[i]
	}
	for i := range l.Stages {
		s := &l.Stages[i]
		r := at[s.Stages[0].Table]
		switch {
		case s.Kind == plan.StagePrepare && r != nil:
			r.prepare = s
		case s.Kind == plan.StagePrepare:
			p.before = s
		case s.Kind == plan.StageExtract && r != nil:
			r.extract = s
		case s.Kind == plan.StageExtract:
			p.log = s
		case s.Kind == plan.StageApply && s.Stages[0].Lanes > 0:
			p.changes = s
		case s.Kind == plan.StageApply:
			p.load = s
		case s.Kind == plan.StageFinish && r != nil:
			r.finish = s
		case s.Kind == plan.StageFinish:
			p.after = s
		}
	}
	if n := len(p.rows); n > maxRow+1 {
		more := 0
		for _, r := range p.rows[maxRow:] {
			more += len(r.table.Tables)
		}
		p.rows = append(p.rows[:maxRow], row{more: more})
	}
	return p
}

// has reports whether a box of this kind is drawn.
func (p *parts) has(kind plan.StageKind) bool {
	if kind == plan.StagePrepare && p.before != nil || kind == plan.StageFinish && p.after != nil {
		return true
	}
	for _, r := range p.rows {
		if kind == plan.StagePrepare && r.prepare != nil || kind == plan.StageFinish && r.finish != nil {
			return true
		}
	}
	return false
}

// newGraph is the drawing for screens as wide as it.
func newGraph(l *pipelineView) graph {
	p := partsOf(l)
	g := graph{Width: wideW, Title: fmt.Sprintf("Stages of %s: %s to %s", l.Name, l.Source.ID, l.Target.ID)}
	for _, c := range []struct {
		x, w int
		text string
		on   bool
	}{
		{prepareX, prepareW, "prepare", p.has(plan.StagePrepare)}, {sourceX, sourceW, "source", true}, {extractX, extractW, "extract", true},
		{applyX, applyW, "apply", true}, {targetX, targetW, "target", true}, {finishX, finishW, "finish", p.has(plan.StageFinish)},
	} {
		if c.on {
			g.Labels = append(g.Labels, label{c.x + c.w/2, 14, "head", c.text})
		}
	}
	y := headH
	if p.before != nil || p.after != nil {
		if p.before != nil {
			g.stage(l, p.before, prepareX, y, prepareW, boxH, "prepare", "before_load", "")
		}
		y += rowH
	}
	top := headH
	first, last := y, y
	for i := range p.rows {
		g.row(l, &p, &p.rows[i], y)
		last = y
		y += rowH
	}
	if len(p.rows) == 0 {
		y += rowH
	}
	loadH := last + boxH - first
	if p.load != nil {
		g.lanes(l, p.load, applyX, first, loadH, "writer", p.load.Stages[0].Parallel)
	}
	if p.log != nil && p.changes != nil {
		if p.load == nil { // a stream alone: its reader stands beside all that is prepared
			g.stream(l, &p, first, loadH)
		} else {
			g.Labels = append(g.Labels, label{extractX, y + 8, "note", "then, from the same point, the changes"})
			y += 20
			g.stream(l, &p, y, boxH+8)
			y += rowH + 8
		}
	}
	if p.after != nil {
		g.stage(l, p.after, finishX, y, finishW, boxH, "finish", "after_load", "")
		y += rowH
	}
	bottom := y - (rowH - boxH)
	g.Height = bottom + 2
	g.endpoint(l.Source, sourceX, sourceW, top, bottom)
	g.endpoint(l.Target, targetX, targetW, top, bottom)
	return g
}

// row draws a table's stages beside each other.
func (g *graph) row(l *pipelineView, p *parts, r *row, y int) {
	mid := y + boxH/2
	loads := p.load != nil
	if r.more > 0 {
		text := fmt.Sprintf("and %d more tables", r.more)
		for _, c := range []struct {
			x, w int
			on   bool
		}{{prepareX, prepareW, true}, {extractX, extractW, loads}, {finishX, finishW, loads}} {
			if c.on {
				g.Boxes = append(g.Boxes, box{X: c.x, Y: y, W: c.w, H: boxH, Class: "more", Link: l.ID + "-tables", Title: text,
					Lines: []label{{c.x + c.w/2, mid + 4, "mid", text}}})
			}
		}
	}
	name := ""
	if r.table != nil {
		name = r.table.Name
		if n := r.table.Tables; len(n) == 1 && runewidth.StringWidth(name) > (extractW-16)/charW {
			name = n[0].Source.Name
		}
	}
	if r.prepare != nil {
		g.stage(l, r.prepare, prepareX, y, prepareW, boxH, "prepare", r.target(), what(r.prepare, "nothing to do"))
	}
	if r.prepare != nil || r.more > 0 {
		g.arrow(prepareX+prepareW, mid, sourceX)
	}
	if r.extract != nil {
		sub := plural(r.extract.Stages[0].Ranges, "range")
		if r.table.Count != "" {
			sub += ", " + r.table.Count
		}
		b := g.stage(l, r.extract, extractX, y, extractW, boxH, "extract", name, sub)
		b.Cells = bars(extractX+10, y+boxH-9, extractW-20, 4, r.extract.Stages[0].Ranges)
	}
	if r.extract != nil || r.more > 0 && loads {
		g.flow(sourceX+sourceW, mid, extractX, mid, "flow")
		g.flow(extractX+extractW, mid, applyX, mid, "flow")
	}
	if r.finish != nil {
		g.stage(l, r.finish, finishX, y, finishW, boxH, "finish", r.target(), what(r.finish, "mark it loaded"))
	}
	if r.finish != nil || r.more > 0 && loads {
		g.arrow(targetX+targetW, mid, finishX)
	}
}

// target is the name of the target's table, without its schema where both
// would be too long.
func (r *row) target() string {
	if len(r.table.Tables) > 1 {
		return r.table.Target
	}
	t := r.table.Tables[0].Target
	if s := t.String(); runewidth.StringWidth(s) <= (prepareW-16)/charW {
		return s
	}
	return t.Name
}

// what is a stage's work in two words.
func what(s *plan.StageOutline, none string) string {
	switch n := len(s.Statements); {
	case s.NotBuilt:
		return "not built yet"
	case n == 0:
		return none
	case n == 1:
		return "1 statement"
	default:
		return fmt.Sprintf("%d statements", n)
	}
}

// lanes draws the writers, or lanes, that share a place, with a pipe of each
// into the target.
func (g *graph) lanes(l *pipelineView, s *plan.StageOutline, x, y, h int, one string, n int) {
	g.stage(l, s, x, y, applyW, h, "apply", plural(n, one), "")
	drawn := min(n, max(1, h/9))
	for i := range drawn {
		at := y + (2*i+1)*h/(2*drawn)
		g.flow(x+applyW, at, targetX, at, "lane")
	}
}

// stream draws the reader of the log and the lanes.
func (g *graph) stream(l *pipelineView, p *parts, y, h int) {
	mid := y + h/2
	g.flow(sourceX+sourceW, mid, extractX, mid, "flow")
	g.flow(extractX+extractW, mid, applyX, mid, "flow")
	g.stage(l, p.log, extractX, y, extractW, h, "extract", "the log", "1 reader, in commit order")
	g.lanes(l, p.changes, applyX, y, h, "lane", p.changes.Stages[0].Lanes)
}

// stage adds the box of a stage, with two lines of words in its middle, and
// gives it back for what else is in it.
func (g *graph) stage(l *pipelineView, s *plan.StageOutline, x, y, w, h int, class, name, sub string) *box {
	room := (w - 16) / charW
	b := box{X: x, Y: y, W: w, H: h, Class: class, Link: l.StageID(s.Number), Title: strings.Join(append([]string{fmt.Sprintf("%d. %s", s.Number, s.Title)}, s.Facts()...), "\n")}
	mid := y + h/2
	if sub == "" {
		b.Lines = []label{{x + w/2, mid + 4, "mid name", cut(name, room)}}
	} else {
		b.Lines = []label{{x + w/2, mid - 6, "mid name", cut(name, room)}, {x + w/2, mid + 9, "mid sub", cut(sub, room+2)}}
	}
	g.Boxes = append(g.Boxes, b)
	return &g.Boxes[len(g.Boxes)-1]
}

func (g *graph) endpoint(e plan.EndpointOutline, x, w, top, bottom int) {
	room, mid := (w-10)/charW, (top+bottom)/2
	_, name, _ := strings.Cut(e.ID, ".")
	g.Boxes = append(g.Boxes, box{X: x, Y: top, W: w, H: bottom - top, Class: "end", Title: e.String(), Lines: []label{
		{x + w/2, mid - 3, "mid name", cut(name, room)}, {x + w/2, mid + 13, "mid sub", cut(e.Connector, room)},
	}})
}

// arrow is "and then".
func (g *graph) arrow(x, y, to int) {
	g.Pipes = append(g.Pipes, pipe{fmt.Sprintf("M%d %dH%dm-6 -4l6 4l-6 4", x+3, y, to-3), "then"})
}

// flow is rows on their way.
func (g *graph) flow(x, y, toX, toY int, class string) {
	bend := (x + toX) / 2
	g.Pipes = append(g.Pipes, pipe{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y, bend, y, bend, toY, toX, toY), class})
}

// bars draws n ranges side by side, as many as can be told apart.
func bars(x, y, w, h, n int) []cell {
	n = min(n, maxBar)
	var out []cell
	for i := range n {
		a, b := x+i*w/n, x+(i+1)*w/n
		out = append(out, cell{a, y, max(1, b-a-2), h})
	}
	return out
}

// cut shortens a name to n columns, in its middle, where names differ least.
func cut(s string, n int) string {
	if runewidth.StringWidth(s) <= n {
		return s
	}
	head := runewidth.Truncate(s, n-n/3-1, "")
	tail := s
	for runewidth.StringWidth(tail) > n/3 {
		_, size := utf8.DecodeRuneInString(tail)
		tail = tail[size:]
	}
	return head + "…" + tail
}
