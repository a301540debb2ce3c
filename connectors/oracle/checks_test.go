package oracle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
	"penstock/internal/schema"
)

// findings are those of a check, with what mends them.
func findings(t *testing.T, s *oracletest.Server, name string, u connectors.Use) string {
	t.Helper()
	src := open(t, s)
	defer src.Close()
	for _, c := range oracle.Definition().Source.Live {
		if c.Name != name {
			continue
		}
		list, err := c.Run(context.Background(), src, u)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range list {
			out = append(out, fmt.Sprintf("%v %s | %s", f.Warning, f.What, strings.Join(f.Mend, "; ")))
		}
		return strings.Join(out, "\n")
	}
	t.Fatalf("there is no check %q", name)
	return ""
}

// Each grant that the plan lists is missed by name, and the statement that mends
// it is the one that the plan lists.
func TestEachMissingGrantIsNamed(t *testing.T) {
	db := oracletest.NewDatabase()
	conformanceTables(db)
	s := double(t, db)
	src := open(t, s)
	defer src.Close()
	cat, err := src.Catalog(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tableOf := func(name string) *schema.Table { return cat.Find(schema.Name{Schema: "SCOTT", Name: name}) }
	u := connectors.Use{Reads: []connectors.Extract{
		{Table: tableOf("HEAP"), Split: connectors.Split{Kind: connectors.SplitBlocks}},
		{Table: tableOf("IOT"), Split: connectors.Split{Kind: connectors.SplitKey}},
	}}
	if got := findings(t, s, "privileges", u); got != "" {
		t.Errorf("with all rights: got %s, want nothing", got)
	}
	for _, c := range []struct {
		withheld, denied []string
		want             []string // findings, each by a part of what it says and its mend
	}{
		{withheld: []string{"SELECT ON SCOTT.HEAP"}, want: []string{`may not read SCOTT.HEAP. | GRANT SELECT, FLASHBACK ON "SCOTT"."HEAP" TO ` + s.User}},
		{withheld: []string{"FLASHBACK ON SCOTT.IOT"}, want: []string{`may not read SCOTT.IOT as of an SCN. | GRANT FLASHBACK ON "SCOTT"."IOT" TO ` + s.User}},
		{denied: []string{"DBA_EXTENTS"}, want: []string{`split = "key" } does without. | GRANT SELECT ON SYS.DBA_EXTENTS TO ` + s.User}},
		{denied: []string{"V$DATABASE"}}, // DBMS_FLASHBACK tells the SCN
		{denied: []string{"V$DATABASE", "DBMS_FLASHBACK"}, withheld: []string{"SELECT ON SCOTT.IOT"}, want: []string{
			"may not read the current SCN. | GRANT SELECT ON SYS.V_$DATABASE TO " + s.User,
			`may not read SCOTT.IOT. | GRANT SELECT, FLASHBACK ON "SCOTT"."IOT" TO ` + s.User}},
	} {
		for _, w := range c.withheld {
			s.Withheld[w] = true
		}
		for _, d := range c.denied {
			s.Denied[d] = true
		}
		got := findings(t, s, "privileges", u)
		lines := strings.Split(got, "\n")
		if got == "" {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Errorf("without %v %v: got %d findings, want %d:\n%s", c.withheld, c.denied, len(lines), len(c.want), got)
		}
		for i, want := range c.want {
			if i < len(lines) && !strings.Contains(lines[i], want) {
				t.Errorf("without %v %v: got %q, want %q", c.withheld, c.denied, lines[i], want)
			}
		}
		clear(s.Withheld)
		clear(s.Denied)
	}
}

func TestOldVersionsAreRefused(t *testing.T) {
	s := double(t, oracletest.NewDatabase())
	for version, ok := range map[string]bool{"11.2.0.4.0": false, "12.1.0.2.0": false, "12.2.0.1.0": true, "19.0.0.0.0": true, "23.0.0.0.0": true} {
		s.Version = version
		if got := findings(t, s, "version", connectors.Use{}); (got == "") != ok || !ok && !strings.Contains(got, version) {
			t.Errorf("%s: got %q, want accepted %v", version, got, ok)
		}
	}
}

func TestConnectionsAreHeldAgainstTheLimits(t *testing.T) {
	s := double(t, oracletest.NewDatabase())
	for _, c := range []struct {
		limits oracletest.Limits
		hidden bool
		want   string
	}{
		{oracletest.Limits{Used: 40, Processes: 300}, false, ""},
		{oracletest.Limits{Used: 295, Processes: 300}, false, "ALTER SYSTEM SET PROCESSES = 304 SCOPE = SPFILE"},
		{oracletest.Limits{Used: 295, Processes: 300}, true, ""},
		{oracletest.Limits{Used: 40, Processes: 300, SessionsPerUser: 4}, true, "allows 4 (SESSIONS_PER_USER)"},
	} {
		s.Limits = c.limits
		clear(s.Denied)
		if c.hidden {
			s.Denied["V$RESOURCE_LIMIT"] = true
		}
		if got := findings(t, s, "connections", connectors.Use{Connections: 10}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v, hidden %v: got %q, want %q", c.limits, c.hidden, got, c.want)
		}
	}
}

// The retention is held against what an earlier run took, and against nothing
// else.
func TestUndoIsHeldAgainstAnEarlierRun(t *testing.T) {
	s := double(t, oracletest.NewDatabase())
	for took, want := range map[time.Duration]string{0: "", 10 * time.Minute: "", time.Hour: "ALTER SYSTEM SET UNDO_RETENTION = 3601"} {
		if got := findings(t, s, "undo", connectors.Use{Took: took}); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("a run of %s: got %q, want %q", took, got, want)
		}
	}
	s.Denied["V$PARAMETER"] = true
	if got := findings(t, s, "undo", connectors.Use{Took: time.Hour}); got != "" {
		t.Errorf("hidden: got %q, want nothing", got)
	}
}
