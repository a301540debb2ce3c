package postgres

import (
	"penstock/connectors"
	"penstock/internal/change"
)

// laneExplainer writes what a lane of a stream runs.
type laneExplainer struct{}

var _ connectors.StreamExplainer = laneExplainer{}

// Begin opens a lane's transaction with its checkpoint.
func (laneExplainer) Begin() []connectors.Statement {
	return []connectors.Statement{
		{SQL: "BEGIN"},
		{SQL: moveCheckpoint, Comment: "the lane's checkpoint, from where this run knows it to be", Locks: "the checkpoint's row"},
	}
}

// End commits once every count is what was sent.
func (laneExplainer) End() []connectors.Statement {
	return []connectors.Statement{{SQL: "COMMIT", Comment: "once every count is what was sent"}}
}

// Changes are the statements for one table, of which a transaction has those that
// it has changes for.
func (laneExplainer) Changes(s connectors.StreamTable, mode string) []connectors.Statement {
	if mode != "array" || len(s.Key) == 0 {
		return []connectors.Statement{{SQL: connectors.NotBuilt}}
	}
	t := newLaneTable(s)
	all := change.Whole(len(s.Columns))
	return []connectors.Statement{
		{SQL: t.statement(change.NetDelete, all), Comment: "deletes; a parameter is the values of a column", Locks: "ROW EXCLUSIVE"},
		{SQL: t.statement(change.NetUpdate, all), Comment: "updates; one statement for each set of columns that changes set"},
		{SQL: t.statement(change.NetInsert, all), Comment: "inserts"},
	}
}
