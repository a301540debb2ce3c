package oracle

import (
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"
)

func TestGrantsNameEachTableAndWhatTheModeReads(t *testing.T) {
	use := connectors.Use{Reads: []connectors.Extract{{Table: &schema.Table{Name: schema.Name{Schema: "SHOP", Name: "ORDERS"}}, Split: connectors.Split{Kind: connectors.SplitBlocks}}}}
	write := func(list []connectors.Statement) string {
		var lines []string
		for _, s := range list {
			lines = append(lines, s.SQL)
		}
		return strings.Join(lines, "\n")
	}
	got := write(grants(&SourceConfig{User: "penstock"}, use))
	want := `GRANT CREATE SESSION TO penstock
GRANT SELECT, FLASHBACK ON "SHOP"."ORDERS" TO penstock
GRANT SELECT ON SYS.V_$DATABASE TO penstock
GRANT SELECT ON SYS.DBA_EXTENTS TO penstock`
	if got != want {
		t.Errorf("a snapshot by blocks:\n%s\nwant\n%s", got, want)
	}
	use.Reads[0].Split.Kind, use.Stream = connectors.SplitKey, true
	got = write(grants(&SourceConfig{User: "c##penstock"}, use))
	for _, line := range []string{"GRANT LOGMINING TO c##penstock", "GRANT SELECT ON SYS.V_$LOGMNR_CONTENTS TO c##penstock", "GRANT SET CONTAINER TO c##penstock"} {
		if !strings.Contains(got, line) {
			t.Errorf("a stream lacks %s:\n%s", line, got)
		}
	}
	if strings.Contains(got, "DBA_EXTENTS") || strings.Count(got, "V_$DATABASE") != 1 {
		t.Errorf("a stream by key takes too much:\n%s", got)
	}
	if got := user("odd name"); got != `"odd name"` {
		t.Errorf("user: got %s", got)
	}
}
