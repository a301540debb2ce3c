package postgres

import (
	"fmt"
	"testing"

	"penstock/connectors/postgres/postgrestest"
)

// One of 100 tables holds 60% of the rows, and the workers are done together,
// within a few chunks of some 200.
func TestSkewedTablesKeepAllWorkersBusyToTheEnd(t *testing.T) {
	const rows, workers = 60_000, 2
	from := postgrestest.Shared(t).Database(t)
	from.Exec(t, fmt.Sprintf(`DO $$ BEGIN FOR i IN 1..99 LOOP
  EXECUTE 'CREATE TABLE s' || i || ' (id integer PRIMARY KEY, v text)';
  EXECUTE 'INSERT INTO s' || i || ' SELECT k, md5(k::text) FROM generate_series(1, ' || %d * i / 4950 || ') k';
END LOOP; END $$; CREATE TABLE big (id integer PRIMARY KEY, v text); INSERT INTO big SELECT k, md5(k::text) FROM generate_series(1, %d) k; ANALYZE`, rows*2/3, rows))
	load := func(big string) (idle float64, missed int) {
		t.Helper()
		to := postgrestest.Shared(t).Database(t)
		l := leg{from: "postgres " + blockOf(from), to: "postgres " + blockOf(to), more: `memory = "1MiB"`, dir: t.TempDir(), tables: "table \"s*\" {}\ntable \"big\" {\n" + big + "\n}"}
		res := l.run(t).Pipelines[0]
		if len(res.Tables) != 100 || len(res.Idle.Workers) != workers {
			t.Fatalf("%d tables by %d workers, want 100 by %d", len(res.Tables), len(res.Idle.Workers), workers)
		}
		for _, table := range []string{"big", "s1", "s99"} {
			if got, want := sum(t, to, table), sum(t, from, table); got != want {
				t.Errorf("%s has %s, want %s", table, got, want)
			}
		}
		for i, w := range res.Idle.Workers {
			t.Logf("worker %d: %d chunks, waited %.2f s, idle at the end %.2f s, missed %d chunks", i+1, w.Chunks, w.Waited, w.Idle, w.Missed)
			missed = max(missed, w.Missed)
		}
		t.Logf("idle: %.1f%%", 100*res.Idle.Share)
		return res.Idle.Share, missed
	}
	idle, missed := load("")
	for try := 1; idle >= 0.10 && try < 3; try++ { // a machine that stood still in the last chunk
		idle, missed = load("")
	}
	// A worker that waits for rows may see another take them.
	if missed > 5 || idle >= 0.10 {
		t.Errorf("a worker had ended %d chunks before the others, idle %.1f%%", missed, 100*idle)
	}
}
