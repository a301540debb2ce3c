package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner/plan"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// samplePlan has n tables, no two alike, in each of three pipelines: a load, a
// load with a stream behind it, and a stream.
func samplePlan(n int, name string) *plan.Plan {
	out := &plan.Plan{FormatVersion: 1, Endpoints: []plan.Endpoint{
		{ID: "source." + name, Connector: name, Config: json.RawMessage(`{}`), TLSCA: name, TLS: "verify", Built: true},
		{ID: "target.b", Connector: "sqlite", Config: json.RawMessage(`{"path":"b.db"}`), Built: true},
	}, Warnings: []plan.Warning{{Code: "PEN0605", Object: "load." + name, Summary: name, Detail: "see `" + name + "` of " + name}}}
	for _, mode := range []string{"snapshot", "snapshot+cdc", "cdc"} {
		p := plan.Pipeline{Name: mode + name, Source: "source." + name, Target: "target.b", Mode: mode, Workers: 2, BadRows: plan.BadRows{Action: "discard", File: name}}
		statement := []connectors.Statement{{SQL: "CREATE '" + name + "'\n", Comment: name, Locks: name, Rows: 2}}
		apply := plan.Stage{ID: "apply", Kind: plan.StageApply, Parallel: 2, Statements: statement}
		p.Stages = append(p.Stages, plan.Stage{ID: "before_load", Kind: plan.StagePrepare, Statements: statement})
		for i := range n {
			t := plan.Table{
				Source: schema.Name{Schema: name, Name: fmt.Sprintf("%s%d", name, i)}, Target: schema.Name{Name: fmt.Sprintf("%s%d", name, i)}, Filter: name,
				Read:    []plan.Read{{Name: name, Native: name}},
				Columns: []plan.Column{{Name: fmt.Sprintf("%s%d", name, i), Native: "bigint", Source: name, Decision: "checked", Reason: name}, {Name: "v", Value: name, New: true, Decision: "exact"}},
				Key:     []string{name}, Range: plan.Range{Count: 40, Split: connectors.SplitBlocks}, Apply: plan.Apply{Mode: "copy"},
				NotCarried: []string{name}, Estimates: &plan.Estimates{Rows: 10, From: "counted"},
			}
			p.Tables = append(p.Tables, t)
			id := t.Source.String()
			p.Stages = append(p.Stages, plan.Stage{ID: "prepare " + id, Kind: plan.StagePrepare, Table: id, Statements: statement})
			if mode != "cdc" {
				p.Stages = append(p.Stages, plan.Stage{ID: "extract " + id, Kind: plan.StageExtract, Table: id, Parallel: 2, Ranges: 40},
					plan.Stage{ID: "finish " + id, Kind: plan.StageFinish, Table: id})
			}
			apply.Loads = append(apply.Loads, plan.TableStatements{Table: id, Statements: statement})
		}
		if mode != "cdc" {
			p.Stages = append(p.Stages, apply)
		}
		if mode != "snapshot" {
			p.Stages = append(p.Stages, plan.Stage{ID: "extract log", Kind: plan.StageExtract, Parallel: 1}, plan.Stage{ID: "apply changes", Kind: plan.StageApply, Parallel: 2, Lanes: 20})
		}
		p.Stages = append(p.Stages, plan.Stage{ID: "after_load", Kind: plan.StageFinish, Statements: statement})
		out.Pipelines = append(out.Pipelines, p)
	}
	return out
}

func write(t testing.TB, p *plan.Plan, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parsed is what a browser makes of a page.
type parsed struct {
	tags   map[string]int
	ids    map[string]int
	links  []string
	text   string // of all elements but script and style
	script string
	style  string
	policy string
	faults []string
}

func parse(t testing.TB, src string) *parsed {
	t.Helper()
	root, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	p := &parsed{tags: map[string]int{}, ids: map[string]int{}}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			switch n.Parent.DataAtom {
			case atom.Script:
				p.script += n.Data
			case atom.Style:
				p.style += n.Data
			default:
				p.text += n.Data + "\n"
			}
		case html.CommentNode:
			p.faults = append(p.faults, "a comment: "+n.Data)
		case html.ElementNode:
			p.tags[n.Data]++
			if !slices.Contains(strings.Fields("html head meta title style body header div p h1 h2 h3 span a nav ul li main section b code details summary dl dt dd figure svg path g rect text figcaption label input table thead tbody tr th td pre footer script"), n.Data) {
				p.faults = append(p.faults, "an element "+n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"src", "srcset", "style", "action", "data", "poster", "background", "xlink:href"}, a.Key):
					p.faults = append(p.faults, fmt.Sprintf("an attribute %s=%q", a.Key, a.Val))
				case a.Key == "href":
					if !strings.HasPrefix(a.Val, "#") {
						p.faults = append(p.faults, "a link to "+a.Val)
					}
					p.links = append(p.links, strings.TrimPrefix(a.Val, "#"))
				case a.Key == "id":
					p.ids[a.Val]++
				case a.Key == "content" && strings.Contains(a.Val, "default-src"):
					p.policy = a.Val
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	for id, n := range p.ids {
		if n > 1 {
			p.faults = append(p.faults, "the id "+id+" stands twice")
		}
	}
	for _, l := range p.links {
		if p.ids[l] == 0 {
			p.faults = append(p.faults, "a link to #"+l+", which is not there")
		}
	}
	// Each element is closed where it was opened: a browser would write the same.
	z, open := html.NewTokenizer(strings.NewReader(src)), []string{}
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			if len(open) > 0 || z.Err() != io.EOF {
				p.faults = append(p.faults, fmt.Sprintf("at the end %v are open: %v", open, z.Err()))
			}
			return p
		case html.StartTagToken:
			name, _ := z.TagName()
			if !slices.Contains([]string{"meta", "input"}, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				p.faults = append(p.faults, fmt.Sprintf("</%s> while %v are open", name, open))
				return p
			}
			open = open[:len(open)-1]
		}
	}
}

func TestHostileNamesStayTextAndThePageLoadsNothing(t *testing.T) {
	for _, name := range []string{
		"ordinary", "</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</style><b>", "' onclick='x", "javascript:alert(1)",
		"<!-- -->", "&lt;b&gt;&amp;", "</title></svg>", "https://example.com/x.js", "{{.Script}}", "名前とても長い名前とても長い名前とても長い名前", strings.Repeat("long ", 200), "\u202eabc",
	} {
		for _, n := range []int{0, 2} {
			src := write(t, samplePlan(n, name), Options{Of: name, Run: "penstock run " + name, Baseline: name, Changes: []string{name}})
			p := parse(t, src)
			for _, f := range p.faults {
				t.Errorf("%q with %d tables: %s", name, n, f)
			}
			if p.tags["script"] != 1 || p.tags["style"] != 1 || p.script != script || p.style != style {
				t.Errorf("%q: scripts and styles are not the page's own: %v", name, p.tags)
			}
			if strings.Contains(strings.ReplaceAll(src, html.EscapeString(name), ""), "://") && !strings.Contains(name, "://") {
				t.Errorf("%q: an address in the page", name)
			}
			if n > 0 && !strings.Contains(p.text, "CREATE '"+name+"'") {
				t.Errorf("%q: the statement is not in the text", name)
			}
		}
	}
}

// The policy forbids whatever is not in the page, and names what is: a changed
// script that it does not name would not run.
func TestPolicyNamesTheScriptAndTheStyle(t *testing.T) {
	p := parse(t, write(t, samplePlan(1, "a"), Options{}))
	for _, want := range []string{"default-src 'none'", "script-src '" + hash(p.script) + "'", "style-src '" + hash(p.style) + "'"} {
		if !strings.Contains(p.policy, want) {
			t.Errorf("the policy is %q, want %s in it", p.policy, want)
		}
	}
	if p.script == "" || p.style == "" || strings.Contains(p.policy, "unsafe") {
		t.Errorf("policy %q, script of %d bytes, style of %d", p.policy, len(p.script), len(p.style))
	}
}

func TestSamePlanGivesTheSameBytes(t *testing.T) {
	first := write(t, samplePlan(25, "a"), Options{Of: "x.hcl"})
	for range 5 {
		if again := write(t, samplePlan(25, "a"), Options{Of: "x.hcl"}); again != first {
			t.Fatal("two pages of one plan differ")
		}
	}
}

// Every stage, statement, column and warning of the examples can be read in
// their pages, also without a script: all of it is in the document.
func TestPagesOfTheExamplesHoldTheirPlans(t *testing.T) {
	files, _ := filepath.Glob("../../../examples/*/*.plan.json")
	if len(files) < 4 {
		t.Fatalf("got %d plans, want at least 4", len(files))
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		page := parse(t, write(t, p, Options{Of: filepath.Base(f)}))
		if len(page.faults) > 0 {
			t.Errorf("%s: %v", f, page.faults)
		}
		o := plan.NewOutline(p, false)
		var want []string
		for _, l := range o.Pipelines {
			want = append(want, l.Name, l.Mode)
			for _, s := range l.Stages {
				want = append(want, s.Title)
				for _, x := range s.Statements {
					if x.SQL != connectors.NotBuilt {
						want = append(want, strings.TrimSpace(x.SQL))
					}
					want = append(want, plan.Notes(x))
				}
			}
			for _, g := range l.Tables {
				for _, m := range g.Mappings {
					want = append(want, m.From, m.To, m.Decision, m.Reason)
				}
				for _, x := range g.Tables {
					want = append(want, x.Source.String(), x.Target.String())
				}
			}
		}
		for _, w := range o.Warnings {
			want = append(append(want, w.Code, w.Summary), w.Objects...)
		}
		for _, w := range want {
			if !strings.Contains(page.text, w) {
				t.Errorf("%s: the page does not say %q", f, w)
			}
		}
	}
}

// Nothing of a drawing stands outside of it, and boxes do not cover each other.
func TestDrawingsHoldTheirBoxesApart(t *testing.T) {
	for _, n := range []int{0, 1, 2, 11, 12, 100} {
		p := samplePlan(n, "table_of_a_long_name_that_is_cut")
		o := plan.NewOutline(p, false)
		for i := range o.Pipelines {
			l := pipelineView{PipelineOutline: &o.Pipelines[i], ID: "p1"}
			for j := range l.Tables {
				l.Groups = append(l.Groups, newTableView(l.Mode, &l.Tables[j], fmt.Sprint(j)))
			}
			for _, g := range []graph{newGraph(&l), newColumn(&l)} {
				if g.Height > 1200 || len(g.Boxes) < 2 {
					t.Errorf("%s with %d tables: %d boxes in a height of %d", l.Mode, n, len(g.Boxes), g.Height)
				}
				for a, x := range g.Boxes {
					if x.X < 0 || x.Y < 0 || x.W <= 0 || x.H <= 0 || x.X+x.W > g.Width || x.Y+x.H > g.Height {
						t.Errorf("%s with %d tables: the box %q lies at %d,%d %dx%d in %dx%d", l.Mode, n, x.Title, x.X, x.Y, x.W, x.H, g.Width, g.Height)
					}
					for _, y := range g.Boxes[a+1:] {
						if x.X < y.X+y.W && y.X < x.X+x.W && x.Y < y.Y+y.H && y.Y < x.Y+x.H {
							t.Errorf("%s with %d tables: %q and %q cover each other", l.Mode, n, x.Title, y.Title)
						}
					}
				}
			}
		}
	}
}

func TestFewDigitsOfANumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 9_999: "9,999", 10_000: "10k", 1_234_567: "1.2M", 200_000_000: "200M", 5_000_000_000_000: "5.0T"} {
		if got := few(n); got != want {
			t.Errorf("few(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestCutKeepsBothEndsOfAName(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"a_long_name_of_a_table", 12, "a_long_…able"}, {"名前名前名前名前", 9, "名前…前"},
	} {
		if got := cut(c.in, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func BenchmarkPage2000Tables(b *testing.B) {
	p := samplePlan(700, "t")
	for b.Loop() {
		if err := Write(io.Discard, p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
