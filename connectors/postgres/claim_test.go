package postgres

import (
	"context"
	"testing"

	"penstock/connectors"
	"penstock/connectors/postgres/postgrestest"
)

// What a role needs is what docs/postgres.md says, and no more.
func TestOrdinaryRoleLoadsAndTakesOver(t *testing.T) {
	ctx := context.Background()
	d := postgrestest.Shared(t).Database(t)
	d.Exec(t, "DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN; CREATE SCHEMA mine; GRANT USAGE, CREATE ON SCHEMA mine TO plain")
	t.Cleanup(func() { d.Exec(t, "DROP OWNED BY plain; DROP ROLE plain") })
	config := configOf(d)
	config.User, config.Schema = "plain", "mine"
	tg := openTest(t, config)
	l, made := presetLoad(t, "big_table", "copy")
	w := beginTest(t, tg, l, 2)
	if _, err := loadChunk(w, marker(l, 1), presetBatch(made, 1, 100)); err != nil {
		t.Fatal(err)
	}
	// The owner dies with a chunk open.
	if _, err := w.Begin(ctx, marker(l, 2)); err != nil {
		t.Fatal(err)
	}
	endControl(t, config, "p")
	second := openTest(t, config)
	v, err := second.OpenLoad(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := loadChunk(v, marker(l, 2), presetBatch(made, 101, 100)); err != nil {
		t.Fatal(err)
	}
	if err := second.Finish(ctx, l); err != nil {
		t.Fatal(err)
	}
	if got := d.Ask(t, "SELECT count(*), count(DISTINCT id) FROM mine.big_table"); got != "200|200" {
		t.Errorf("rows and distinct rows: %s", got)
	}
	// Emptied and loaded again, with its key in place.
	l.Existing = connectors.ExistingTruncate
	l = explained(l)
	if err := second.Begin(ctx, l, connectors.Start{Generation: 2, Chunks: pending(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := loadChunk(v, connectors.Marker{Table: l.Source, Generation: 2, Chunk: 1}, presetBatch(made, 1, 50)); err != nil {
		t.Fatal(err)
	}
	if err := second.Finish(ctx, l); err != nil {
		t.Fatal(err)
	}
	config.Triggers = "skip"
	if _, err := openTarget(ctx, config, connectors.Env{Pipeline: "q"}); connectors.ClassOf(err) != connectors.Permission {
		t.Errorf("triggers = skip without the right to: %v, want permission", err)
	}
}

// An owner whose control session is lost gets a new one by itself, and keeps
// the claim; one whose pipeline was claimed meanwhile does not.
func TestOwnerWhoseControlSessionIsLostKeepsItsClaim(t *testing.T) {
	d := postgrestest.Shared(t).Database(t)
	config := configOf(d)
	tg := openTest(t, config).(*target)
	const owners = "SELECT count(*) FROM penstock_owner o JOIN pg_stat_activity a USING (pid)"
	endControl(t, config, "p")
	tg.speak(t.Context()) // finds it lost
	tg.speak(t.Context()) // opens it anew
	if got := d.Ask(t, owners); got != "1" {
		t.Fatalf("the owner's row names %s living sessions", got)
	}
	other, err := openTarget(context.Background(), config, connectors.Env{Pipeline: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Claim(context.Background(), connectors.Owner{}); connectors.ClassOf(err) != connectors.Held {
		t.Fatalf("claiming what is held: %v", err)
	}
	endControl(t, config, "p")
	if _, err := other.Claim(context.Background(), connectors.Owner{}); err != nil {
		t.Fatal(err)
	}
	tg.speak(t.Context())
	tg.speak(t.Context())
	l := loadOf(t, "t", "copy", connectors.TargetColumn{Name: "id", Native: "integer"})
	if err := tg.Begin(context.Background(), l, connectors.Start{Generation: 1}); connectors.ClassOf(err) != connectors.Fenced {
		t.Errorf("the former owner begins a table: %v, want fenced", err)
	}
}
