package sqlserver

import (
	"slices"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
)

func TestGrantsNameEachTableAndWhatTheModeReads(t *testing.T) {
	use := connectors.Use{Reads: []connectors.Extract{{Table: &schema.Table{Name: schema.Name{Schema: "dbo", Name: "odd]name"}}}}}
	texts := func(list []connectors.Statement) (out []string) {
		for _, s := range list {
			out = append(out, s.SQL)
		}
		return out
	}
	want := []string{"GRANT CONNECT TO [penstock]", "GRANT SELECT ON [dbo].[odd]]name] TO [penstock]"}
	if got := texts(grants(&SourceConfig{User: "penstock"}, use)); !slices.Equal(got, want) {
		t.Errorf("a snapshot: got %q, want %q", got, want)
	}
	use.Stream = true
	want = append(want, "GRANT SELECT ON SCHEMA::[cdc] TO [penstock]", "GRANT VIEW DATABASE STATE TO [penstock]")
	if got := texts(grants(&SourceConfig{User: "penstock"}, use)); !slices.Equal(got, want) {
		t.Errorf("a stream: got %q, want %q", got, want)
	}
}
