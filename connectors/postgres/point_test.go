package postgres

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"penstock/connectors/postgres/postgrestest"
	"penstock/internal/schema"
)

// A snapshot's point is exact, however many write meanwhile: what was committed
// up to it is in the snapshot, and what was committed after it is what a slot's
// stream gives from there. No row is in both or in neither.
func TestPointDividesWhatIsReadFromWhatFollows(t *testing.T) {
	d := postgrestest.Logical(t).Database(t)
	d.Exec(t, "CREATE TABLE t (id bigint PRIMARY KEY, v text)")
	d.Exec(t, "SELECT pg_create_logical_replication_slot('watch_"+d.Name+"', 'test_decoding')")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			c, err := d.Connect(t.Context(), d.Name)
			if err != nil {
				t.Error(err)
				return
			}
			defer closeNow(c)
			for id := int64(w); ; {
				select {
				case <-stop:
					return
				default:
				}
				sql := "BEGIN"
				for range 1 + r.IntN(3) {
					sql += fmt.Sprintf("; INSERT INTO t VALUES (%d, repeat('x', %d))", id, r.IntN(300))
					id += 4
				}
				if r.IntN(4) == 0 {
					sql += "; SAVEPOINT s; INSERT INTO t VALUES (-1 - " + fmt.Sprint(id) + ", 'taken back'); ROLLBACK TO s"
				}
				end := "; COMMIT"
				if r.IntN(8) == 0 {
					end = "; ROLLBACK"
				}
				if _, err := run(t.Context(), c, sql+end); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	type taken struct {
		point uint64
		rows  map[string]bool
	}
	var snapshots []taken
	for range 6 {
		s := stateOf(t, d)
		p, err := s.snap.Position(s.cat.Find(schema.Name{Name: "t"}))
		if err != nil || len(p) != 8 {
			t.Fatalf("point %x, %v: it is not known", p, err)
		}
		rows, _ := s.read(t, "t")
		got := taken{point: binary.BigEndian.Uint64(p), rows: map[string]bool{}}
		for _, r := range rows {
			got.rows[r[0]] = true
		}
		if err := s.snap.Close(); err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, got)
	}
	close(stop)
	writers.Wait()
	ends := committed(t, d)
	if len(ends) < 50 || fmt.Sprint(len(ends)) != d.Ask(t, "SELECT count(*) FROM t") {
		t.Fatalf("the stream has %d rows, the table %s", len(ends), d.Ask(t, "SELECT count(*) FROM t"))
	}
	for k, s := range snapshots {
		before := 0
		for id, end := range ends {
			if in := end <= s.point; in {
				before++
				if !s.rows[id] {
					t.Errorf("snapshot %d: row %s ended at %X, up to the point %X, and is not there", k, id, end, s.point)
				}
			} else if s.rows[id] {
				t.Errorf("snapshot %d: row %s ended at %X, after the point %X, and is there: the stream would give it again", k, id, end, s.point)
			}
		}
		if len(s.rows) != before {
			t.Errorf("snapshot %d has %d rows, %d ended up to its point", k, len(s.rows), before)
		}
		t.Logf("snapshot %d at %X: %d rows in it, %d after", k, s.point, before, len(ends)-before)
	}
}

// committed are the rows that the watching slot gives, each with where the commit
// record of its transaction ends.
func committed(t *testing.T, d *postgrestest.Database) map[string]uint64 {
	t.Helper()
	ends := map[string]uint64{}
	var open []string
	for _, r := range d.Query(t, "SELECT lsn, data FROM pg_logical_slot_get_changes('watch_"+d.Name+"', NULL, NULL)") {
		data := string(r[1])
		switch {
		case strings.HasPrefix(data, "BEGIN"):
			open = nil
		case strings.HasPrefix(data, "COMMIT"):
			end, err := parseLSN(string(r[0]))
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range open {
				ends[id] = end
			}
		default:
			_, rest, ok := strings.Cut(data, "id[bigint]:")
			if !ok {
				t.Fatalf("the stream gave %q", data)
			}
			id, _, _ := strings.Cut(rest, " ")
			open = append(open, id)
		}
	}
	d.Exec(t, "SELECT pg_drop_replication_slot('watch_"+d.Name+"')")
	return ends
}
