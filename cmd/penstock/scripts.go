package main

import (
	"fmt"
	"io"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner"
	"penstock/planner/plan"
)

// writeDDL writes what a run creates and alters, as scripts for the client of
// each target: psql, sqlite3. Penstock's own tables come first, and each
// statement that finds its object there already does nothing.
func (a *app) writeDDL(c *compiled) error {
	var b strings.Builder
	seen := map[string]bool{}
	for i := range c.plan.Pipelines {
		p := &c.plan.Pipelines[i]
		e := c.plan.Endpoint(p.Target)
		def := a.registry.Find(e.Connector).Target
		if !seen[e.ID] {
			seen[e.ID] = true
			fmt.Fprintf(&b, "-- %s (%s)\n", e.ID, e.Connector)
			if def.Own != nil {
				b.WriteString("-- Penstock's own tables: a run makes them where they are absent.\n")
				script(&b, def.Own(a.config(c, e.ID)))
			}
		}
		var before, after []connectors.Statement
		for _, s := range p.Stages {
			switch {
			case s.Table == "" || s.NotBuilt:
			case s.Kind == plan.StagePrepare:
				before = append(before, ddl(s.Statements)...)
			case s.Kind == plan.StageFinish:
				after = append(after, ddl(s.Statements)...)
			}
		}
		if before == nil && after == nil {
			fmt.Fprintf(&b, "-- Pipeline %s creates and alters nothing here.\n", p.Name)
		}
		if before != nil {
			fmt.Fprintf(&b, "-- Pipeline %s, before the rows.\n", p.Name)
			script(&b, before)
		}
		if after != nil {
			fmt.Fprintf(&b, "-- Pipeline %s, behind the rows. A run does this itself for tables that it makes; for tables that this script made, you do.\n", p.Name)
			script(&b, after)
		}
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// ddl keeps statements that change what there is, not what is in it. What only
// a second load does would take from the tables of the first.
func ddl(list []connectors.Statement) []connectors.Statement {
	var out []connectors.Statement
	for _, s := range list {
		if strings.HasPrefix(s.Comment, connectors.OnlyAgain) {
			continue
		}
		word, _, _ := strings.Cut(s.SQL, " ")
		switch word {
		case "CREATE", "ALTER", "DROP", "COMMENT":
			out = append(out, s)
		}
	}
	return out
}

func script(b *strings.Builder, list []connectors.Statement) {
	for _, s := range list {
		if s.Comment != "" {
			fmt.Fprintf(b, "-- %s\n", s.Comment)
		}
		fmt.Fprintf(b, "%s;\n", strings.TrimSuffix(s.SQL, ";"))
	}
}

// config is an endpoint's config, as the spec has it.
func (a *app) config(c *compiled, id string) any {
	ends := planner.Ends(c.spec, a.registry, planner.Options{})
	for i := range ends {
		if ends[i].ID == id {
			return ends[i].Config
		}
	}
	panic("penstock: the plan has an endpoint that its spec has not: " + id)
}

// writeGrants writes what the plan needs to be allowed, a script an endpoint.
func (a *app) writeGrants(c *compiled) error {
	var b strings.Builder
	for i := range c.plan.Endpoints {
		e := &c.plan.Endpoints[i]
		def := a.registry.Find(e.Connector)
		source := strings.HasPrefix(e.ID, "source.")
		give := map[string]bool{}
		fmt.Fprintf(&b, "-- %s (%s)\n", e.ID, e.Connector)
		known := false
		for j := range c.plan.Pipelines {
			p := &c.plan.Pipelines[j]
			var list []connectors.Statement
			switch {
			case source && p.Source == e.ID && def.Source.Grants != nil:
				list, known = def.Source.Grants(a.config(c, e.ID), a.use(c, p)), true
			case !source && p.Target == e.ID && def.Target.Grants != nil:
				list, known = def.Target.Grants(a.config(c, e.ID), a.use(c, p)), true
			}
			var fresh []connectors.Statement
			for _, s := range list {
				if !give[s.SQL] { // two pipelines often need the same
					give[s.SQL] = true
					fresh = append(fresh, s)
				}
			}
			script(&b, fresh)
		}
		switch {
		case known:
		case e.TLS == "":
			b.WriteString("-- There is nothing to grant: it is in files or in this process.\n")
		default:
			b.WriteString("-- What it needs is not known to this version.\n")
		}
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// use is what a pipeline does with its ends, by the plan alone.
func (a *app) use(c *compiled, p *plan.Pipeline) connectors.Use {
	source := a.registry.Find(c.plan.Endpoint(p.Source).Connector).Source
	u := connectors.Use{Pipeline: p.Name, Durable: source.Capabilities.Durable, Stream: p.Mode != "snapshot"}
	f := p.Finder()
	for i := range p.Tables {
		t := &p.Tables[i]
		u.Loads = append(u.Loads, f.Load(t))
		u.Reads = append(u.Reads, connectors.Extract{Table: &schema.Table{Name: t.Source, Columns: t.ReadColumns()}, Columns: t.ReadNames(), Split: t.SourceSplit()})
	}
	return u
}
