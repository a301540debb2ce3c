package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"penstock/connectors"
)

// Changes says in words how plan is differs from plan was: a line for each
// endpoint, pipeline, table, column, statement and warning that is new, gone or
// otherwise. Estimates don't count. It is empty exactly when nothing else differs.
func Changes(was, is *Plan) []string {
	c := &changes{}
	matched(c, "endpoint", was.Endpoints, is.Endpoints, func(e Endpoint) string { return e.ID }, func(name string, a, b Endpoint) {
		c.fields("endpoint "+name, object(a), object(b))
	})
	matched(c, "pipeline", was.Pipelines, is.Pipelines, func(p Pipeline) string { return p.Name }, c.pipeline)
	c.lists("", "warning", warningLines(was.Warnings), warningLines(is.Warnings))
	if was.FormatVersion != is.FormatVersion {
		c.say("the format was %d, is %d", was.FormatVersion, is.FormatVersion)
	}
	if len(c.out) == 0 && !reflect.DeepEqual(object(bare(was)), object(bare(is))) {
		c.say("its parts are in another order, or statements are repeated otherwise")
	}
	return c.out
}

type changes struct{ out []string }

func (c *changes) say(format string, args ...any) {
	c.out = append(c.out, fmt.Sprintf(format, args...))
}

func byName[T any](list []T, name func(T) string) map[string]T {
	out := map[string]T{}
	for _, x := range list {
		out[name(x)] = x
	}
	return out
}

// matched compares things that have names.
func matched[T any](c *changes, what string, was, is []T, name func(T) string, both func(name string, was, is T)) {
	a, b := byName(was, name), byName(is, name)
	names := map[string]bool{}
	for _, m := range []map[string]T{a, b} {
		for n := range m {
			names[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		x, before := a[n]
		y, after := b[n]
		switch {
		case !before:
			c.say("%s %s is new", what, n)
		case !after:
			c.say("%s %s is gone", what, n)
		default:
			both(n, x, y)
		}
	}
}

func (c *changes) pipeline(name string, a, b Pipeline) {
	at := "pipeline " + name
	matched(c, at+": table", a.Tables, b.Tables, func(t Table) string { return t.Source.String() }, func(table string, x, y Table) {
		c.table(at+", table "+table, x, y)
	})
	c.stages(at, a.Stages, b.Stages)
	a.Tables, b.Tables, a.Stages, b.Stages = nil, nil, nil, nil
	c.fields(at, object(a), object(b))
}

func (c *changes) table(at string, a, b Table) {
	matched(c, at+": source column", a.Read, b.Read, func(r Read) string { return r.Name }, func(n string, x, y Read) {
		if x != y {
			c.say("%s: source column %s was %s, is %s", at, n, nullable(x.Native, x.Nullable), nullable(y.Native, y.Nullable))
		}
	})
	matched(c, at+": target column", a.Columns, b.Columns, func(k Column) string { return k.Name }, func(n string, x, y Column) {
		c.fields(at+": target column "+n, object(x), object(y))
	})
	before := len(c.out)
	r, s, d := a.Read, a.Columns, a.Digest
	a.Read, a.Columns, a.Digest, a.Estimates = nil, nil, "", nil
	other := b
	other.Read, other.Columns, other.Digest, other.Estimates = nil, nil, "", nil
	c.fields(at, object(a), object(other))
	if len(c.out) == before && d != b.Digest && sameNames(r, b.Read, s, b.Columns) {
		c.say("%s: its digest is another: a load that was begun can't go on", at)
	}
}

func sameNames(r, rr []Read, s, ss []Column) bool {
	return reflect.DeepEqual(object(r), object(rr)) && reflect.DeepEqual(object(s), object(ss))
}

func nullable(native string, may bool) string {
	if may {
		return native + " NULL"
	}
	return native + " NOT NULL"
}

// stages compares what runs, in which order and by which statements.
func (c *changes) stages(at string, was, is []Stage) {
	matched(c, at+": stage", was, is, func(s Stage) string { return s.ID }, func(name string, a, b Stage) {
		where := at + ", stage " + name
		c.lists(where, "statement", statements(a), statements(b))
		a.Statements, b.Statements, a.Loads, b.Loads = nil, nil, nil, nil
		c.fields(where, object(a), object(b))
	})
}

// statements are a stage's, each with what is told of it.
func statements(s Stage) []string {
	var out []string
	for _, x := range s.Statements {
		out = append(out, oneLine(x))
	}
	for _, l := range s.Loads {
		for _, x := range l.Statements {
			out = append(out, "for "+l.Table+": "+oneLine(x))
		}
	}
	return out
}

// oneLine is a statement, and what is told of it, on one line.
func oneLine(s connectors.Statement) string {
	sql := strings.Join(strings.Fields(s.SQL), " ")
	if n := Notes(s); n != "" {
		sql += " -- " + n
	}
	return sql
}

func warningLines(list []Warning) []string {
	var out []string
	for _, w := range list {
		out = append(out, strings.TrimSpace(w.Code+" "+w.Object)+": "+w.Summary+". "+w.Detail)
	}
	return out
}

// lists tells what is in one list alone, or how often.
func (c *changes) lists(at, what string, was, is []string) {
	if at != "" {
		at += ": "
	}
	count := map[string]int{}
	for _, x := range was {
		count[x]--
	}
	for _, x := range is {
		count[x]++
	}
	for _, x := range was {
		if count[x] < 0 {
			c.say("%s%s gone: %s", at, what, x)
			count[x]++
		}
	}
	for _, x := range is {
		if count[x] > 0 {
			c.say("%s%s new: %s", at, what, x)
			count[x]--
		}
	}
}

// fields compares the fields of two objects, and of those in them.
func (c *changes) fields(at string, was, is any) {
	a, aok := was.(map[string]any)
	b, bok := is.(map[string]any)
	if !aok || !bok {
		if !reflect.DeepEqual(was, is) {
			c.say("%s was %s, is %s", at, value(was), value(is))
		}
		return
	}
	names := map[string]bool{}
	for k := range a {
		names[k] = true
	}
	for k := range b {
		names[k] = true
	}
	sep := " "
	if !strings.Contains(at, ":") {
		sep = ": "
	}
	for _, k := range slices.Sorted(maps.Keys(names)) {
		c.fields(at+sep+strings.ReplaceAll(k, "_", " "), a[k], b[k])
	}
}

// value is a JSON value for people.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "unset"
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// object is anything of a plan as JSON has it.
func object(v any) any {
	b, err := compact(v)
	if err != nil {
		panic("plan: " + err.Error()) // strings, numbers and booleans only
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic("plan: " + err.Error())
	}
	return out
}

// bare is a plan without estimates, and without comments on statements.
func bare(p *Plan) *Plan {
	q := *p
	q.Pipelines = slices.Clone(p.Pipelines)
	for i := range q.Pipelines {
		l := &q.Pipelines[i]
		l.Tables = slices.Clone(l.Tables)
		for j := range l.Tables {
			l.Tables[j].Estimates = nil
		}
	}
	return &q
}
