package synthetic

import (
	"strings"

	"penstock/connectors"
)

// explainer writes the line that stands for a statement.
type explainer struct{}

var _ connectors.SourceExplainer = explainer{}

// Read says which rows an extract makes, of what, and which columns.
func (explainer) Read(x connectors.Extract) []connectors.Statement {
	rows := "rows :lo to :hi"
	comment := "made here, without any server; :hi is not included"
	if x.Split.Kind == connectors.SplitNone {
		rows, comment = "all rows", "made here, without any server"
	}
	return []connectors.Statement{{
		SQL:     rows + " of " + x.Table.Storage + ": " + strings.Join(x.Columns, ", "),
		Comment: comment,
	}}
}
