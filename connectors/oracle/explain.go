package oracle

import "penstock/connectors"

// explainer writes the statements that the run executes.
type explainer struct{}

var _ connectors.SourceExplainer = explainer{}

// Read is the statement of a chunk, behind those that find the chunks' edges.
func (explainer) Read(x connectors.Extract) []connectors.Statement {
	q, err := newRead(x)
	if err != nil {
		return []connectors.Statement{{SQL: connectors.NotBuilt, Comment: err.Error()}}
	}
	sql, _ := q.statement(true, true)
	main := connectors.Statement{SQL: sql}
	point := connectors.Statement{SQL: sqlPoint, Comment: "the SCN that every chunk is read at, before extents or keys are looked at"}
	switch q.kind {
	case connectors.SplitBlocks:
		main.Comment = "once for each segment that a chunk lies in"
		return []connectors.Statement{main, point, {SQL: sqlExtents, Comment: "where the blocks lie; it needs SELECT on DBA_EXTENTS"}}
	case connectors.SplitKey:
		main.Comment = "the first chunk leaves out :lo, the last one :hi"
		return []connectors.Statement{main, point, {SQL: q.count(), Comment: "how many rows there are to cut"}, {SQL: q.edges(), Comment: "the keys that chunks begin at"}}
	}
	return []connectors.Statement{main, point}
}
