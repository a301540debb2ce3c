package delimited

import (
	"fmt"
	"strings"

	"penstock/connectors"
)

// explainer writes the lines that stand for statements: there is no SQL here.
type explainer struct{}

var (
	_ connectors.SourceExplainer = explainer{}
)

// Read says which records an extract reads.
func (explainer) Read(x connectors.Extract) []connectors.Statement {
	columns := strings.Join(x.Columns, ", ")
	if x.Split.Kind == connectors.SplitNone {
		return []connectors.Statement{{SQL: fmt.Sprintf("all records of the files of %s: %s", x.Table.Name, columns), Comment: "one file after another, in the order of their names"}}
	}
	return []connectors.Statement{{
		SQL:     fmt.Sprintf("records from :lo to :hi of the files of %s: %s", x.Table.Name, columns),
		Comment: "file, byte and line; found at the ends of records, outside of quotes; :hi is not included",
	}}
}
