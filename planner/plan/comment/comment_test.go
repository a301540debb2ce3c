package comment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/planner/plan"

	"pgregory.net/rapid"
)

// samplePlan has n tables, no two alike, each with these names.
func samplePlan(n int, schemaName, table, column, sql string) *plan.Plan {
	p := plan.Pipeline{Name: "p", Source: "source.a", Target: "target.b", Mode: "snapshot", Workers: 2, BadRows: plan.BadRows{Action: "stop"}}
	apply := plan.Stage{ID: "apply", Kind: plan.StageApply, Parallel: 1}
	for i := range n {
		name := fmt.Sprintf("%s%d", table, i)
		t := plan.Table{
			Source: schema.Name{Schema: schemaName, Name: name}, Target: schema.Name{Name: name}, Create: true, Filter: column + " > 1",
			Read:    []plan.Read{{Name: column, Native: "NUMBER"}},
			Columns: []plan.Column{{Name: fmt.Sprintf("%s%d", column, i), Native: "bigint", Source: column, Decision: "checked", Reason: "every " + column + " must fit"}},
			Key:     []string{column}, Range: plan.Range{Count: 2, Split: connectors.SplitBlocks}, Existing: "truncate", Apply: plan.Apply{Mode: "copy"},
			NotCarried: []string{"index " + column}, Estimates: &plan.Estimates{Rows: 10, From: "counted"},
		}
		p.Tables = append(p.Tables, t)
		id := t.Source.String()
		p.Stages = append(p.Stages, plan.Stage{ID: "prepare " + id, Kind: plan.StagePrepare, Table: id, Statements: []connectors.Statement{{SQL: sql, Comment: "for " + column}}})
		apply.Loads = append(apply.Loads, plan.TableStatements{Table: id, Statements: []connectors.Statement{{SQL: sql, Rows: 256}}})
	}
	p.Stages = append(p.Stages, apply)
	return &plan.Plan{FormatVersion: 1, Pipelines: []plan.Pipeline{p}, Endpoints: []plan.Endpoint{
		{ID: "source.a", Connector: "sqlite", Config: json.RawMessage(`{"path":"a.db"}`), Built: true}, {ID: "target.b", Connector: "sqlite", Config: json.RawMessage(`{}`), Built: true},
	}, Warnings: []plan.Warning{{Code: "PEN0605", Object: "p." + schemaName + "." + table, Summary: "columns of " + table, Detail: "see `" + column + "` of " + table}}}
}

func write(t testing.TB, c Comment) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	calls    = regexp.MustCompile(`@|#\d|GH-\d`)
	markdown = regexp.MustCompile("[`*_\\[\\]~$]|://|www\\.")
	ourTags  = regexp.MustCompile(`^</?(code|details|summary|b|i|sub|br)>`)
	codeSpan = regexp.MustCompile(`<code>[^<]*</code>`)
	entity   = regexp.MustCompile(`&#\d+;`)
)

// withoutFences takes blocks of code out, as CommonMark ends them: by a line of
// at least as many backticks as they began with.
func withoutFences(md string) (string, error) {
	var out []string
	fence := ""
	for _, line := range strings.Split(md, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
			out = append(out, "")
		case fence == "":
			out = append(out, line)
		case len(ticks) >= len(fence) && strings.Trim(line, "` ") == "":
			fence = ""
		case strings.TrimSpace(strings.TrimLeft(line, " ")) != "" && strings.HasPrefix(strings.TrimLeft(line, " "), fence):
			return "", fmt.Errorf("a fence of %d is closed by %q", len(fence), line)
		}
	}
	if fence != "" {
		return "", fmt.Errorf("a fence of %d stays open", len(fence))
	}
	return strings.Join(out, "\n"), nil
}

// sound finds what a reader of GitHub's Markdown could take for more than text.
func sound(md string) error {
	if n := len(md); n > Limit {
		return fmt.Errorf("%d bytes, the limit is %d", n, Limit)
	}
	md, err := withoutFences(md)
	if err != nil {
		return err
	}
	open := map[string]int{}
	for i, line := range strings.Split(md, "\n") {
		if i == 0 {
			if line != Marker {
				return fmt.Errorf("the first line is %q", line)
			}
			continue
		}
		for at, r := range line {
			if r != '<' {
				continue
			}
			m := ourTags.FindString(line[at:])
			if m == "" {
				return fmt.Errorf("a tag that is not ours in line %d: %q", i+1, line)
			}
			switch {
			case m == "<br>":
			case m[1] == '/':
				open[m[2:]]--
			default:
				open[m[1:]]++
			}
		}
		bare := entity.ReplaceAllString(codeSpan.ReplaceAllString(line, ""), "")
		if calls.MatchString(bare) {
			return fmt.Errorf("line %d calls somebody: %q", i+1, line)
		}
		if markdown.MatchString(strings.NewReplacer("> [!CAUTION]", "", "**", "").Replace(entity.ReplaceAllString(line, ""))) {
			return fmt.Errorf("line %d has Markdown of others: %q", i+1, line)
		}
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| table") {
			if n := strings.Count(line, "|"); n != 4 && n != 5 && n != 7 {
				return fmt.Errorf("line %d has %d cells: %q", i+1, n-1, line)
			}
		}
	}
	for tag, n := range open {
		if n != 0 {
			return fmt.Errorf("%d tags %s are not closed", n, tag)
		}
	}
	return nil
}

func TestHostileNamesStayText(t *testing.T) {
	for _, s := range []string{
		"a|b", "a\nb", "</code><script>alert(1)</script>", "`x` ``` @octocat", "[x](http://example.com)", "www.example.com",
		"<!-- -->", "a\\|b", "*b* _i_ ~~s~~ #1 GH-1", "$x$", "\u202eabc", "</details>", "\x1b[31m", "> [!NOTE]", "&lt;b&gt;", "\xff",
	} {
		md := write(t, Comment{Command: "plan", Of: s, Plan: samplePlan(3, s, s, s, "SELECT '"+s+"'\n```\n</details>"), Run: "penstock run " + s, Baseline: s, Changes: []string{s, "- " + s}})
		if err := sound(md); err != nil {
			t.Errorf("%q: %v\n%s", s, err, md)
		}
		md = write(t, Comment{Command: "plan", Of: s, Diagnostics: []diag.Record{{Code: "PEN0301", Severity: "error", Summary: "Unknown " + s, Detail: s + " `" + s + "`", Range: diag.Span{Filename: s}, Fixes: []diag.EditRecord{{Title: s}}}}})
		if err := sound(md); err != nil {
			t.Errorf("%q: %v\n%s", s, err, md)
		}
		if err := sound(Failure(s)); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestAnyPlanFitsAComment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		long := func(label string) string {
			return strings.Repeat(text.Draw(t, label), rapid.SampledFrom([]int{1, 1, 1, 1, 50, 300}).Draw(t, label+" times"))
		}
		p := samplePlan(rapid.SampledFrom([]int{0, 1, 2, 15}).Draw(t, "tables"), text.Draw(t, "schema"), long("table"), long("column"), long("sql"))
		var b bytes.Buffer
		if err := Write(&b, Comment{Command: "plan", Of: long("of"), Plan: p, Run: long("run"), Baseline: long("baseline"), Changes: slices.Repeat([]string{long("change")}, rapid.SampledFrom([]int{0, 1, 400}).Draw(t, "changes"))}); err != nil {
			t.Fatal(err)
		}
		if err := sound(b.String()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestValidateIsAboutFindingsAlone(t *testing.T) {
	md := write(t, Comment{Command: "validate", Of: "x.hcl", Plan: samplePlan(2, "S", "T", "C", "CREATE TABLE t"), Diagnostics: []diag.Record{{Code: "PEN0702", Severity: "warning", Summary: "Connection is not encrypted"}}})
	if !strings.Contains(md, "1 pipeline · 2 tables · 1 warning") || !strings.Contains(md, "Connection is not encrypted") || strings.Contains(md, "CREATE TABLE") {
		t.Errorf("got\n%s", md)
	}
}

func TestChangesStandBeforeWhatTheyAreIn(t *testing.T) {
	c := Comment{Command: "plan", Of: "x.hcl", Plan: samplePlan(1, "S", "T", "C", "X"), Baseline: "old.json", Changes: []string{"the filter was a, is b"}}
	md := write(t, c)
	if a, b := strings.Index(md, "<code>the filter was a, is b</code>"), strings.Index(md, "#### <code>p</code>"); a < 0 || b < a {
		t.Errorf("changes at %d, the pipeline at %d:\n%s", a, b, md)
	}
	c.Changes = nil
	if md := write(t, c); !strings.Contains(md, "Nothing is otherwise than in <code>old.json</code>.") {
		t.Errorf("it does not say that nothing changed:\n%s", md)
	}
	c.Baseline = ""
	if md := write(t, c); strings.Contains(md, "otherwise") {
		t.Errorf("it speaks of a baseline that was not given:\n%s", md)
	}
}

// The last step of folding must fit whatever comes; the first shows all.
func TestLongPlansFoldAndSaySo(t *testing.T) {
	small := write(t, Comment{Command: "plan", Of: "x.hcl", Plan: samplePlan(3, "S", "T", "C", "CREATE TABLE t")})
	if strings.Contains(small, "Cut to") || !strings.Contains(small, "CREATE TABLE t") {
		t.Errorf("a small plan is not whole:\n%s", small)
	}
	last := len(small)
	for _, n := range []int{10, 200, 2000} {
		md := write(t, Comment{Command: "plan", Of: "x.hcl", Plan: samplePlan(n, "S", "T", "C", strings.Repeat("CREATE TABLE t ", 40))})
		if err := sound(md); err != nil {
			t.Errorf("%d tables: %v", n, err)
		}
		if len(md) < last/2 || n >= 200 && (!strings.Contains(md, "Cut to") || !strings.Contains(md, fmt.Sprintf("%d tables", n))) {
			t.Errorf("%d tables in %d bytes: want much of them, and that some are left out:\n%.600s", n, len(md), md)
		}
	}
	findings := make([]diag.Record, 5000)
	for i := range findings {
		findings[i] = diag.Record{Code: "PEN0301", Severity: "error", Summary: strings.Repeat("<", 3000), Detail: strings.Repeat("|", 3000), Range: diag.Span{Filename: strings.Repeat("@", 3000)}}
	}
	if err := sound(write(t, Comment{Command: "validate", Of: strings.Repeat("&", 70_000), Diagnostics: findings})); err != nil {
		t.Error(err)
	}
	many := &plan.Plan{}
	for i := range 300 {
		p := samplePlan(30, strings.Repeat("<", 500), strings.Repeat("|", 500), strings.Repeat("*", 500), "x")
		p.Pipelines[0].Name = fmt.Sprintf("%s%d", strings.Repeat("_", 40), i)
		many.Pipelines = append(many.Pipelines, p.Pipelines...)
		many.Endpoints = append(many.Endpoints, p.Endpoints...)
		many.Warnings = append(many.Warnings, plan.Warning{Code: "PEN0702", Object: strings.Repeat("@", 900), Summary: strings.Repeat("#", 900), Detail: fmt.Sprint(i, strings.Repeat("`", 900))})
	}
	if err := sound(write(t, Comment{Command: "plan", Of: "x", Plan: many, Run: strings.Repeat("'", 90_000)})); err != nil {
		t.Error(err)
	}
}
