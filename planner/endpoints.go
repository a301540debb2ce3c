package planner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// endpoint is a source or target block with its connector.
type endpoint struct {
	id     string // source.erp
	spec   *lang.Endpoint
	def    *connectors.Definition
	config any
	used   bool
	faulty bool // its settings have errors: it can't be asked for anything

	loaded  bool // the catalog was asked for
	catalog *catalog
}

// decodeEndpoints reads the settings of every endpoint, used or not, into its
// connector's config struct.
func (c *compiler) decodeEndpoints() {
	for _, e := range c.spec.Endpoints {
		ep := &endpoint{id: string(e.Role) + "." + e.Name.V, spec: e, def: c.reg.Find(e.Kind.V)}
		if ep.def == nil {
			c.diags.Errorf(diag.UnknownConnector, e.Kind.Range, "Unknown connector", "There is no connector %q. The connectors are: %s.%s",
				e.Kind.V, strings.Join(c.reg.Kinds(), ", "), didYouMean(e.Kind.V, c.reg.Kinds()))
			continue
		}
		var make func() any
		var check func(any) []connectors.Problem
		switch {
		case e.Role == lang.Source && ep.def.Source != nil:
			make, check = ep.def.Source.Config, ep.def.Source.Check
		case e.Role == lang.Target && ep.def.Target != nil:
			make, check = ep.def.Target.Config, ep.def.Target.Check
		default:
			c.diags.Errorf(diag.UnknownConnector, e.Kind.Range, "Connector can't be used here", "%s is never a %s. %s",
				e.Kind.V, e.Role, c.kindsOf(e.Role))
			continue
		}
		ep.config = make()
		decoded, problems := e.Decode(ep.config)
		c.diags = append(c.diags, problems...)
		ep.faulty = problems.HasErrors()
		if !problems.HasErrors() && check != nil {
			for _, p := range check(ep.config) {
				ep.faulty = true
				c.diags.Errorf(diag.BadSetting, decoded.Range(p.Path), "Settings of "+ep.id+" don't fit together", "%s", p.Detail)
			}
		}
		c.endpoints = append(c.endpoints, ep)
	}
}

func (c *compiler) kindsOf(role lang.Role) string {
	var kinds []string
	for _, k := range c.reg.Kinds() {
		if d := c.reg.Find(k); role == lang.Source && d.Source != nil || role == lang.Target && d.Target != nil {
			kinds = append(kinds, k)
		}
	}
	return "The " + string(role) + "s are: " + strings.Join(kinds, ", ") + "."
}

// endpoint finds what a reference means. It is nil where an error was reported.
func (c *compiler) endpoint(r lang.Ref, role lang.Role) *endpoint {
	if r.Role != role {
		return nil
	}
	for _, e := range c.endpoints {
		if e.spec.Role == r.Role && e.spec.Name.V == r.Name {
			if !e.used {
				e.used = true
				c.checkTLS(e)
			}
			return e
		}
	}
	return nil
}

// names is how names are folded at a target.
func (e *endpoint) names() string {
	if e.spec.Names.Set {
		return e.spec.Names.V
	}
	return e.def.Target.Capabilities.Names
}

// local reports an endpoint that nothing is connected to: it is in this
// process or in files.
func (e *endpoint) local() bool {
	if e.spec.Role == lang.Source {
		return e.def.Source.Local != nil
	}
	return e.def.Target.Local != nil
}

func (e *endpoint) built() bool {
	if e.spec.Role == lang.Source {
		return e.def.Source.Open != nil && e.def.Source.Explain != nil
	}
	return e.def.Target.Open != nil && e.def.Target.Explain != nil
}

// checkTLS warns of a connection in the clear to another machine, and of TLS
// settings where there is no connection.
func (c *compiler) checkTLS(e *endpoint) {
	if e.local() {
		for _, x := range []struct {
			name string
			set  bool
			at   hcl.Range
		}{{"tls", e.spec.TLS.Set, e.spec.TLS.Range}, {"tls_ca", e.spec.TLSCA.Set, e.spec.TLSCA.Range}} {
			if x.set {
				c.warn(diag.WithoutEffect, x.at, e.id, "Setting without effect", "`"+x.name+"` has no effect: "+e.id+" is in files or in this process, and nothing is connected to.")
			}
		}
		return
	}
	if e.spec.TLS.V != "off" || loopback(e.config) {
		return
	}
	c.warn(diag.TLSOff, e.spec.TLS.Range, e.id, "Connection is not encrypted",
		"tls = \"off\" sends the password and every row of "+e.id+" in the clear. Leave it out to have the server's certificate verified; name your own authority with `tls_ca`.")
}

// loopback reports a config whose `host` is this machine, by name, by address
// or as a unix socket's folder.
func loopback(config any) bool {
	host := hostOf(config)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || socket(config) || err == nil && addr.IsLoopback()
}

// socket reports a config whose `host` is the folder of a unix socket, over
// which there is no TLS.
func socket(config any) bool { return strings.HasPrefix(hostOf(config), "/") }

func hostOf(config any) string {
	var at struct {
		Host string `json:"host"`
	}
	b, err := json.Marshal(config)
	if err != nil || json.Unmarshal(b, &at) != nil {
		return ""
	}
	return at.Host
}

// usedEndpoints is the plan's list of endpoints, by id.
func (c *compiler) usedEndpoints() []plan.Endpoint {
	var out []plan.Endpoint
	for _, e := range c.endpoints {
		if !e.used {
			continue
		}
		p := plan.Endpoint{
			ID: e.id, Connector: e.def.Kind, Config: rawJSON(e.config),
			Throttle: int64(e.spec.Throttle.V), Catalog: e.spec.Catalog.V, Probe: e.spec.Probe.V, Built: e.built(),
		}
		if !e.local() && !socket(e.config) {
			p.TLS, p.TLSCA = cmp.Or(e.spec.TLS.V, "verify"), e.spec.TLSCA.V
		}
		p.Checks = liveChecks(e)
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b plan.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// rawJSON is a config or options struct as it stands in a plan. They hold
// strings, numbers, booleans and references to secrets, so it can't fail.
func rawJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("planner: config does not marshal: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// sentence is an error as the beginning of a sentence, without its full stop.
func sentence(err error) string {
	s := strings.TrimSuffix(err.Error(), ".")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
