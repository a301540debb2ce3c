package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
)

// configOf is a target in a database, over its unix socket.
func configOf(d *postgrestest.Database) *TargetConfig {
	return &TargetConfig{Connection: Connection{Host: d.Socket, Port: d.Port, Database: d.Name, User: postgrestest.User}, Schema: "public", Triggers: "fire"}
}

// databaseOf is the database of a config that configOf made.
func databaseOf(t testing.TB, config any) *postgrestest.Database {
	return &postgrestest.Database{Server: postgrestest.Shared(t), Name: config.(*TargetConfig).Database}
}

func TestTargetConforms(t *testing.T) {
	conformance.Target(t, conformance.TargetHarness{
		Definition: Definition(),
		Config:     func(t testing.TB) any { return configOf(postgrestest.Shared(t).Database(t)) },
		Read:       readText,
		Lose:       endControl,
		Keys:       true,
		Refused: func(typ schema.Type, value string) bool {
			return typ.Kind == schema.Text && strings.ContainsRune(value, 0)
		},
	})
}

// readText reads a table back by the server's own output functions.
func readText(t testing.TB, config any, l connectors.Load) [][]string {
	t.Helper()
	d := databaseOf(t, config)
	c := d.Conn(t)
	defer closeNow(c)
	r := c.Exec(t.Context(), "SET TimeZone = 'UTC'; SELECT "+selectList(l)+" FROM "+quoteName(l.Table))
	results, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, v := range results[1].Rows {
		row := make([]string, len(v))
		for i, b := range v {
			row[i] = canonical(l.Columns[i].Type, b)
		}
		rows = append(rows, row)
	}
	return rows
}

func selectList(l connectors.Load) string {
	var names []string
	for _, c := range l.Columns {
		names = append(names, c.Name)
	}
	return quoteList(names)
}

// canonical turns what the server writes into the canonical text of package batch.
func canonical(typ schema.Type, v []byte) string {
	switch s := string(v); {
	case v == nil:
		return conformance.Null
	case typ.Kind == schema.Bool && s == "t":
		return "true"
	case typ.Kind == schema.Bool:
		return "false"
	case typ.Kind == schema.TimestampTZ:
		return s + ":00" // +00
	default:
		return s
	}
}

// endControl ends the owner's control session, as the server does with one
// whose process has died, and waits until it is gone.
func endControl(t testing.TB, config any, pipeline string) {
	t.Helper()
	d := databaseOf(t, config)
	of := fmt.Sprintf(" FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'penstock/%s/control' AND pid IN (SELECT pid FROM %s.penstock_owner)", pipeline, quote(config.(*TargetConfig).Schema))
	d.Exec(t, "SELECT pg_terminate_backend(pid)"+of)
	for deadline := time.Now().Add(20 * time.Second); d.Ask(t, "SELECT count(*)"+of) != "0"; {
		if time.Now().After(deadline) {
			t.Fatal("the control session does not end")
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// openTarget opens a target with the patience of a run.
func openTarget(ctx context.Context, config any, env connectors.Env) (connectors.Target, error) {
	return usual.openTarget(ctx, config, env)
}

// openSource does the same for a source.
func openSource(ctx context.Context, config any, env connectors.Env) (connectors.Source, error) {
	return usual.openSource(ctx, config, env)
}
