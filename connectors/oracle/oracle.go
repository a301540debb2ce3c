// Package oracle reads Oracle databases: tables as of one SCN, and the changes
// after it from the redo log.
package oracle

import (
	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/internal/secret"
)

// SourceConfig is an oracle source block.
type SourceConfig struct {
	Host     string     `spec:"host,required" json:"host" doc:"Name or address of the listener." example:"db.example.net"`
	Port     int        `spec:"port" default:"1521" min:"1" json:"port" doc:"Port of the listener."`
	Service  string     `spec:"service" json:"service,omitempty" doc:"Service name; this or sid." example:"ORCLPDB1"`
	SID      string     `spec:"sid" json:"sid,omitempty" doc:"System identifier, for databases without a service name."`
	User     string     `spec:"user,required" json:"user" doc:"Who connects; a common user (c##name) where the log of a container database is read." example:"PENSTOCK"`
	Password secret.Ref `spec:"password,required" json:"password" doc:"Password of the user."`
	PDB      string     `spec:"pdb" json:"pdb,omitempty" doc:"Pluggable database whose changes are read, where the service is that of the root."`
}

// Definition is the connector.
func Definition() *connectors.Definition {
	return &connectors.Definition{
		Kind:    "oracle",
		Summary: "Oracle Database 12.2 and later: tables as of one SCN, and changes from the redo log",
		Types:   types{},
		Source: &connectors.SourceDef{
			Config: func() any { return &SourceConfig{} },
			Check:  check,
			// An SCN can be read again while the undo of that time is kept.
			Capabilities: connectors.SourceCapabilities{CDC: true, Durable: true,
				Holds:  "nothing by itself: undo must reach back to the SCN that the rows are read at until the last chunk is read (undo_retention)",
				Values: connectors.Values{FirstYear: -4712, LastYear: 9999, NaN: true}},
			Remark:  remark,
			Splits:  splits,
			Grants:  grants,
			Explain: explainer{},
			Open:    openSource,
			Live:    sourceChecks,
			Probe:   probe,
		},
	}
}

func check(config any) []connectors.Problem {
	c := config.(*SourceConfig)
	switch {
	case c.Service == "" && c.SID == "":
		return []connectors.Problem{{Path: "host", Detail: "it does not say which database of the listener is meant: write `service`, or `sid` where there is no service name"}}
	case c.Service != "" && c.SID != "":
		return []connectors.Problem{{Path: "sid", Detail: "service and sid both name the database: leave one out"}}
	}
	return nil
}

// Storage words of the catalog.
const (
	storageHeap     = "heap"     // rows have a ROWID made of file, block and row: blocks can be sought
	storageIOT      = "iot"      // an index-organized table: rows lie in the key's order and move
	storageCluster  = "cluster"  // rows lie between those of other tables
	storageExternal = "external" // rows of files
)

// splits: blocks of a heap are read once each and need no key. An index-organized
// table or a view has none, and an external table has nothing to seek by.
func splits(t *schema.Table) []connectors.SplitKind {
	var out []connectors.SplitKind
	if !t.View && (t.Storage == storageHeap || t.Storage == "") {
		out = append(out, connectors.SplitBlocks)
	}
	if cuttable(t) && t.Storage != storageExternal {
		out = append(out, connectors.SplitKey)
	}
	return append(out, connectors.SplitNone)
}

// cuttable reports whether a table has a key of columns that chunks can be cut by.
func cuttable(t *schema.Table) bool {
	key := t.DefaultKey()
	for _, n := range key {
		if _, err := keyOf(t, n); err != nil {
			return false
		}
	}
	return len(key) > 0
}
