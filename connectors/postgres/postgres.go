// Package postgres reads and writes PostgreSQL databases: tables under one
// exported snapshot, changes from logical replication, rows by binary COPY.
package postgres

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/failpoint"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// Kind is the connector's word in a spec.
const Kind = "postgres"

// Connection is how a server is reached, by a source and a target alike.
type Connection struct {
	Host     string     `spec:"host,required" json:"host" doc:"Name or address of the server, or the folder of its unix socket." example:"db.example.net"`
	Port     int        `spec:"port" default:"5432" min:"1" json:"port" doc:"Port of the server."`
	Database string     `spec:"database,required" json:"database" doc:"Database to read or to write to." example:"shop"`
	User     string     `spec:"user,required" json:"user" doc:"Who connects." example:"penstock"`
	Password secret.Ref `spec:"password" json:"password,omitzero" doc:"Password of the user; none where the server asks for none." example:"env"`
}

// SourceConfig is a postgres source block.
type SourceConfig struct {
	Connection
	Schema      string `spec:"schema" default:"public" json:"schema" doc:"Where tables without a schema in their name are."`
	Slot        string `spec:"slot" json:"slot,omitempty" doc:"Replication slot; by default penstock_ and the pipeline's name."`
	Publication string `spec:"publication" json:"publication,omitempty" doc:"Publication; by default penstock_ and the pipeline's name, made for its tables."`
}

// TargetConfig is a postgres target block.
type TargetConfig struct {
	Connection
	Schema   string `spec:"schema" default:"public" json:"schema" doc:"Where tables without a schema in their name go, and Penstock's own tables."`
	Triggers string `spec:"triggers" oneof:"fire skip" default:"fire" json:"triggers" doc:"skip loads with session_replication_role = replica: triggers and foreign keys are then not checked. It needs the right to set it."`
}

// Definition is the connector.
func Definition() *connectors.Definition { return usual.definition() }

// definition is the connector with a patience of its own.
func (p patience) definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    Kind,
		Summary: "PostgreSQL 15 and later: loads by binary COPY, changes by logical replication",
		Types:   types{},
		Twin:    twin,
		Passes:  passes,
		Special: special,
		Source: &connectors.SourceDef{
			Config: func() any { return &SourceConfig{} },
			Check:  checkSource,
			// An exported snapshot ends with the session that holds it.
			Capabilities: connectors.SourceCapabilities{CDC: true, Durable: failpoint.Off("point"),
				Holds:  "one transaction, from the first table's cut until the last chunk is read: VACUUM keeps what was deleted or updated since, in the whole database, and each table has an ACCESS SHARE lock",
				Values: connectors.Values{FirstYear: -4712, LastYear: 294276, Infinite: true, NaN: true, NaNDecimals: true}},
			Remark: remark,
			Splits: splits,
			Place:  func(config any, _ connectors.Env) string { return placeOf(config.(*SourceConfig).Connection) },
			Live:   sourceChecks,
			Grants: func(config any, u connectors.Use) []connectors.Statement {
				return grants(sourceNeeds(config.(*SourceConfig), u))
			},
			LogAll:  func(_ any, t schema.Name) string { return "ALTER TABLE " + quoteName(t) + " REPLICA IDENTITY FULL" },
			Explain: sourceExplainer{},
			Changes: changeExplainer{},
			Open:    p.openSource,
		},
		Target: &connectors.TargetDef{
			Config: func() any { return &TargetConfig{} },
			Check:  checkTarget,
			Capabilities: connectors.TargetCapabilities{
				Modes:    []string{"copy", "array", "row"},
				Changes:  []string{"array", "row", "append"},
				Lanes:    connectors.LanesKeys,
				Names:    "lower",
				Carry:    []string{"indexes", "foreign_keys", "defaults", "comments"},
				Delivery: "applied exactly once",
				// The cost of a net change falls until about 10,000 keys; a second is
				// what a reader of the target waits at most.
				CommitRows: 10_000, CommitBytes: 8 << 20, CommitEvery: "1s",
				// Years from 4713 BC on: only a file can have earlier ones, and they
				// are refused as they are written.
				Values: connectors.Values{NaN: true},
			},
			Takes:     takes,
			SplitName: splitName,
			Objects:   objectsOf,
			Carry:     carry,
			Compute:   compute,
			Home:      func(config any) string { return config.(*TargetConfig).Schema },
			Place:     func(config any, _ connectors.Env) string { return placeOf(config.(*TargetConfig).Connection) },
			Live:      targetChecks,
			Grants: func(config any, u connectors.Use) []connectors.Statement {
				return grants(targetNeeds(config.(*TargetConfig), u, false))
			},
			Own:     own,
			Explain: explainer{},
			Stream:  laneExplainer{},
			Open:    p.openTarget,
			Read:    p.openLoaded,
			Dialect: &dialect,
		},
	}
}

// maxName is how long PostgreSQL lets an identifier be, in octets; it cuts
// longer ones without an error.
const maxName = 63

func checkSource(config any) []connectors.Problem {
	c := config.(*SourceConfig)
	var out []connectors.Problem
	if len(c.Slot) > maxName || strings.Trim(c.Slot, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		out = append(out, connectors.Problem{Path: "slot", Detail: "a replication slot's name has at most 63 of the characters a-z, 0-9 and _"})
	}
	if len(c.Publication) > maxName {
		out = append(out, connectors.Problem{Path: "publication", Detail: "a name has at most 63 octets"})
	}
	return out
}

func checkTarget(config any) []connectors.Problem {
	c := config.(*TargetConfig)
	if len(c.Schema) > maxName {
		return []connectors.Problem{{Path: "schema", Detail: "a name has at most 63 octets"}}
	}
	return nil
}

// splitName takes a target name apart, and refuses names that PostgreSQL would
// cut and those of our own tables.
func splitName(name string) (schema.Name, error) {
	n, err := connectors.SplitDotted(name)
	switch {
	case err != nil:
		return n, err
	case len(n.Name) > maxName || len(n.Schema) > maxName:
		return n, fmt.Errorf("PostgreSQL cuts names after %d octets", maxName)
	case strings.ContainsRune(name, 0):
		return n, fmt.Errorf("the name holds a zero octet")
	case isStateTable(n.Name):
		return n, fmt.Errorf("%s is where Penstock keeps its own state: choose another name", n.Name)
	}
	return n, nil
}

// Storage words of the catalog.
const (
	storageHeap        = "heap"        // blocks can be sought by ctid
	storagePartitioned = "partitioned" // a parent: its rows lie in its partitions, whose ctids repeat
	storageForeign     = "foreign"     // rows of another server
)
