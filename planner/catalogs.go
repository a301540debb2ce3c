package planner

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/schema"

	"github.com/hashicorp/hcl/v2"
)

// sourceCatalog gives the tables of a source: what the caller has, else the
// file that the spec names, else what a local source says of itself.
func (c *compiler) sourceCatalog(e *endpoint, at hcl.Range) *catalog {
	return c.catalogOf(e, func() (*schema.Catalog, bool) {
		local := e.def.Source.Local
		if local == nil {
			c.diags.Errorf(diag.NoCatalog, at, "Source has no catalog",
				"%s is planned without connecting, and no file says which tables it has. Write catalog = \"catalog/%s.json\" into its block and record it with: penstock catalog pull SPEC %s. A plan with --live asks the database itself, as a run does.",
				e.id, e.spec.Name.V, e.id)
			return nil, false
		}
		if e.faulty {
			return nil, false
		}
		have, err := local(c.ctx, e.config, c.env())
		if err != nil {
			c.diags.Errorf(diag.BadCatalog, e.spec.DefRange, "Catalog of "+e.id+" can't be had", "%s.", sentence(err))
			return nil, false
		}
		return have, true
	})
}

// targetCatalog gives the tables of a target. Where neither the caller nor the
// spec has a catalog the target is planned as empty: no file of it is opened,
// so that the plan is the same before and after a run.
func (c *compiler) targetCatalog(e *endpoint) *catalog {
	return c.catalogOf(e, func() (*schema.Catalog, bool) { return &schema.Catalog{Kind: e.def.Kind}, true })
}

func (c *compiler) catalogOf(e *endpoint, otherwise func() (*schema.Catalog, bool)) *catalog {
	if e.loaded {
		return e.catalog
	}
	e.loaded = true
	have, ok := c.options.Catalogs[e.id]
	switch {
	case ok:
	case e.spec.Catalog.Set:
		have, ok = c.recorded(e)
	default:
		have, ok = otherwise()
	}
	if ok {
		e.catalog = index(have)
	}
	return e.catalog
}

// recorded reads the catalog file of an endpoint.
func (c *compiler) recorded(e *endpoint) (*schema.Catalog, bool) {
	path := e.spec.Catalog.V
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(c.spec.Dir, filepath.FromSlash(path))
	}
	src, err := c.options.ReadFile(full)
	if err != nil {
		why := err.Error()
		var p *fs.PathError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			why = "there is no such file"
		case errors.As(err, &p):
			why = p.Err.Error()
		}
		c.diags.Errorf(diag.BadCatalog, e.spec.Catalog.Range, "Catalog can't be read",
			"The catalog %s of %s can't be read: %s. The path is relative to the spec's folder.", path, e.id, why)
		return nil, false
	}
	have, err := schema.ParseCatalog(src, e.def.Kind, e.def.Types.Parse)
	if err != nil {
		c.diags.Errorf(diag.BadCatalog, e.spec.Catalog.Range, "Catalog can't be read",
			"The file %s is no catalog for %s: %s. Record it again from the database.", path, e.id, err)
		return nil, false
	}
	return have, true
}

func (c *compiler) env() connectors.Env {
	return connectors.Env{Dir: c.spec.Dir, Log: slog.New(slog.DiscardHandler)}
}
