// Package sqlserver reads SQL Server databases: tables in snapshot
// transactions, and the changes that change data capture recorded.
package sqlserver

import (
	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// SourceConfig is a sqlserver source block.
type SourceConfig struct {
	Host     string     `spec:"host,required" json:"host" doc:"Name or address of the server." example:"db.example.net"`
	Port     int        `spec:"port" min:"1" json:"port,omitempty" doc:"TCP port; 1433 when neither it nor an instance is given."`
	Instance string     `spec:"instance" json:"instance,omitempty" doc:"Named instance, whose port the SQL Server Browser tells."`
	Database string     `spec:"database,required" json:"database" doc:"Database to read." example:"shop"`
	User     string     `spec:"user,required" json:"user" doc:"SQL login." example:"penstock"`
	Password secret.Ref `spec:"password,required" json:"password" doc:"Password of the login."`
	Join     string     `spec:"join" oneof:"exact window" default:"exact" json:"join" doc:"How a load meets the changes after it: exact locks each table for milliseconds; window takes no lock and repeats the changes made while the load began."`
	Capture  string     `spec:"capture" oneof:"agent self" default:"agent" json:"capture" doc:"Who runs the capture scan: the SQL Server Agent, or Penstock itself where there is no agent."`
	ReadOnly bool       `spec:"read_only" default:"false" json:"read_only,omitempty" doc:"Connects to a readable secondary; needs join = \"window\"."`
}

// defaultPort is where a default instance listens.
const defaultPort = 1433

// port is where to connect, 0 when the browser has to tell.
func (c *SourceConfig) port() int {
	if c.Port == 0 && c.Instance == "" {
		return defaultPort
	}
	return c.Port
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "sqlserver",
		Summary: "SQL Server 2016 SP1 and later: tables in snapshot transactions, and changes from change data capture",
		Types:   types{},
		Source: &connectors.SourceDef{
			Config: func() any { return &SourceConfig{} },
			Check:  check,
			// A snapshot transaction ends with its session: the same point can't be
			// read again after a restart.
			Capabilities: connectors.SourceCapabilities{CDC: true,
				Holds:  "one snapshot transaction a reader, until its last chunk is read: tempdb keeps the versions of rows that change meanwhile",
				Values: connectors.Values{FirstYear: 1, LastYear: 9999}},
			Remark: remark,
			Splits: splits,
			Grants: grants,
		},
	}
}

func check(config any) []connectors.Problem {
	c := config.(*SourceConfig)
	var out []connectors.Problem
	if c.Port != 0 && c.Instance != "" {
		out = append(out, connectors.Problem{Path: "instance", Detail: "a port already says which instance is meant: leave one of them out"})
	}
	if c.ReadOnly && c.Join == "exact" {
		out = append(out, connectors.Problem{Path: "read_only", Detail: "a secondary takes no lock and no savepoint, which the exact join needs: write `join = \"window\"`"})
	}
	if c.ReadOnly && c.Capture == "self" {
		out = append(out, connectors.Problem{Path: "capture", Detail: "the capture scan runs on the primary alone: leave it to the agent there"})
	}
	return out
}

// splits: a row's physical place moves under activity, so that blocks can't be
// sought; a heap without a key is read whole.
func splits(t *schema.Table) []connectors.SplitKind {
	if t.DefaultKey() == nil {
		return []connectors.SplitKind{connectors.SplitNone}
	}
	return []connectors.SplitKind{connectors.SplitKey, connectors.SplitNone}
}
