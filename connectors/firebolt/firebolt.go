// Package firebolt writes to Firebolt: staged uploads and net changes by MERGE,
// over its HTTP interface.
package firebolt

import (
	"net/url"

	"penstock/connectors"
	"penstock/internal/secret"
)

// TargetConfig is a firebolt target block: an engine of an account, or an
// engine of one's own at a URL.
type TargetConfig struct {
	Account      string     `spec:"account" json:"account,omitempty" doc:"Account of the managed service." example:"my-account"`
	Engine       string     `spec:"engine" json:"engine,omitempty" doc:"Engine of the account." example:"my_engine"`
	ClientID     string     `spec:"client_id" json:"client_id,omitempty" doc:"Service account that connects." example:"my-service-account"`
	ClientSecret secret.Ref `spec:"client_secret" json:"client_secret,omitzero" doc:"Secret of the service account." example:"env"`
	URL          string     `spec:"url" json:"url,omitempty" doc:"An engine of your own (Firebolt Core), as in http://host:3473; instead of account, engine, client_id and client_secret."`
	Database     string     `spec:"database,required" json:"database" doc:"Database to write to." example:"shop"`
	Location     string     `spec:"location" json:"location,omitempty" doc:"A LOCATION object of the database, for the transport s3."`
	Staging      string     `spec:"staging" json:"staging,omitempty" doc:"Bucket and prefix that the location points to, as in s3://bucket/prefix."`
}

// Options is the firebolt block of a table.
type Options struct {
	Transport string `spec:"transport" oneof:"auto arrow parquet s3 values" default:"auto" json:"transport" doc:"How rows reach the engine: an upload of Arrow or Parquet, Parquet in a bucket, or INSERT statements; auto takes the first that the engine has."`
	Vacuum    int    `spec:"vacuum" min:"0" default:"0" json:"vacuum,omitempty" doc:"Runs VACUUM after so many batches of changes; 0 leaves it to the engine."`
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "firebolt",
		Summary: "Firebolt: staged uploads, net changes by MERGE in one transaction",
		Types:   types{},
		Target: &connectors.TargetDef{
			Config:  func() any { return &TargetConfig{} },
			Check:   check,
			Options: func() any { return &Options{} },
			Capabilities: connectors.TargetCapabilities{
				// Two transactions on one table may defeat each other at commit,
				// whatever rows they touch: chunks commit one after another.
				Writers:  1,
				Modes:    []string{"copy", "array"},
				Changes:  []string{"merge", "append"},
				Lanes:    connectors.LanesTable,
				Names:    "lower",
				Delivery: "applied exactly once",
				// Every commit makes a tablet of each table it touches, and the engine
				// reads tablets: few and large ones.
				CommitRows: 100_000, CommitBytes: 128 << 20, CommitEvery: "10s",
				Values: connectors.Values{FirstYear: 1, LastYear: 9999, NaN: true},
			},
			SplitName: connectors.SplitDotted,
		},
	}
}

func check(config any) []connectors.Problem {
	c := config.(*TargetConfig)
	var out []connectors.Problem
	problem := func(path, detail string) { out = append(out, connectors.Problem{Path: path, Detail: detail}) }
	managed := []struct {
		path    string
		missing bool
	}{{"account", c.Account == ""}, {"engine", c.Engine == ""}, {"client_id", c.ClientID == ""}, {"client_secret", c.ClientSecret.IsZero()}}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			problem("url", "it must be http:// or https:// with a host and a port, and nothing else: http://host:3473")
		}
		for _, s := range managed {
			if !s.missing {
				problem(s.path, "an engine at a `url` of its own has no account and asks for no login: leave out `"+s.path+"`, or the url")
			}
		}
	} else {
		for _, s := range managed {
			if s.missing {
				problem(s.path, "it is missing: the managed service needs account, engine, client_id and client_secret, an engine of your own `url` instead")
			}
		}
	}
	if (c.Location == "") != (c.Staging == "") {
		problem("staging", "location and staging say the same place, to the engine and to Penstock: write both or none")
	}
	if c.Staging != "" {
		if u, err := url.Parse(c.Staging); err != nil || u.Scheme != "s3" || u.Host == "" {
			problem("staging", "it must be a bucket and a prefix: s3://bucket/prefix")
		}
	}
	return out
}
