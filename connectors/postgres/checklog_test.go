package postgres

import (
	"context"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
)

// logFindings are what all checks of a source but that of connections, which are
// few here, find: a line each with what mends it.
func logFindings(t *testing.T, c *SourceConfig, u connectors.Use) string {
	t.Helper()
	src, err := openSource(context.Background(), c, connectors.Env{Pipeline: u.Pipeline})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out []string
	for _, check := range sourceChecks {
		if check.Name == "connections" {
			continue
		}
		found, err := check.Run(context.Background(), src, u)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			out = append(out, f.What+" | "+strings.Join(f.Mend, "; "))
		}
	}
	return strings.Join(out, "\n")
}

// What a stream lacks is named, each with the statement that mends it; played,
// the statements mend it.
func TestAStreamsNeedsAreNamedWithWhatMendsThem(t *testing.T) {
	s, err := postgrestest.Start(postgrestest.Options{Settings: map[string]string{"wal_level": "logical", "max_replication_slots": "1", "max_wal_senders": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // behind that of its databases
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	d := s.Database(t)
	d.Exec(t, `CREATE ROLE reader LOGIN REPLICATION; CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE "b""c" (v text); CREATE TABLE n (id int PRIMARY KEY); ALTER TABLE n REPLICA IDENTITY NOTHING;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`)
	c := sourceOf(d)
	c.User = "reader"
	u := connectors.Use{Pipeline: "p", Stream: true}
	for _, name := range []string{"a", `b"c`, "n"} {
		u.Reads = append(u.Reads, connectors.Extract{Table: &schema.Table{Name: schema.Name{Name: name}}})
	}
	d.Exec(t, `SELECT pg_create_logical_replication_slot('other', 'pgoutput')`)
	got := logFindings(t, c, u)
	for _, want := range []string{
		"max_replication_slots = 1 are taken, and a stream takes one. Drop one that nobody reads (pg_replication_slots), or raise the setting, which takes effect when the server is started again. | ALTER SYSTEM SET max_replication_slots = 2",
		`| ALTER TABLE public."b""c" REPLICA IDENTITY FULL`,
		`| ALTER TABLE public.n REPLICA IDENTITY FULL`,
		`| CREATE PUBLICATION "penstock_p" FOR TABLE ONLY "public"."a", ONLY "public"."b""c", ONLY "public"."n"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it %s", got, want)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 4 {
		t.Errorf("%d findings, want 4:\n%s", n, got)
	}

	d.Exec(t, `SELECT pg_drop_replication_slot('other'); ALTER TABLE "public"."b""c" REPLICA IDENTITY FULL; ALTER TABLE "public"."n" REPLICA IDENTITY FULL;
CREATE PUBLICATION "penstock_p" FOR TABLE "public"."a", "public"."n"`)
	if got, want := logFindings(t, c, u), `| ALTER PUBLICATION "penstock_p" ADD TABLE ONLY "public"."b""c"`; !strings.HasSuffix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got %s, want %s", got, want)
	}
	d.Exec(t, `ALTER PUBLICATION "penstock_p" ADD TABLE "public"."b""c"`)
	if got := logFindings(t, c, u); got != "" {
		t.Errorf("with all that it takes: got %s, want nothing", got)
	}
	// Its own slot is there already: that is the one it takes.
	d.Exec(t, `SELECT pg_create_logical_replication_slot('penstock_p', 'pgoutput')`)
	if got := logFindings(t, c, u); got != "" {
		t.Errorf("with its slot: got %s, want nothing", got)
	}
	d.Exec(t, `DROP PUBLICATION penstock_p; SELECT pg_drop_replication_slot('penstock_p')`)
	owner := sourceOf(d) // who may make the publication needs none
	if got := logFindings(t, owner, u); got != "" {
		t.Errorf("of the owner: got %s, want nothing", got)
	}
}

func TestALogOfAnotherLevelIsRefused(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	u := connectors.Use{Pipeline: "p", Stream: true}
	if got, want := logFindings(t, sourceOf(d), u), "ALTER SYSTEM SET wal_level = logical"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	u.Stream = false
	if got := logFindings(t, sourceOf(d), u); got != "" {
		t.Errorf("of a snapshot: got %s, want nothing", got)
	}
}
