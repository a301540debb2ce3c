package main

import (
	"bytes"
	"context"
	"database/sql"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"penstock/connectors/all"
)

// What the quickstart must load. connectors/synthetic/testdata/expect.py has
// computed it from the published formula, sharing no code with this program.
const (
	wantRows      = 750186
	wantIDs       = 375156809786
	wantSmall     = 1501088
	wantBig       = 3787712265
	wantLength    = 22518600
	wantBytes     = 1702980349
	wantWeighted  = 851445380212719 // sum over rows of id x byte sum, modulo 2^61-1
	wantFirstDay  = 20089           // days since 1970-01-01
	wantLastDay   = 20454
	wantDays      = 15207393350
	mersenne61    = 1<<61 - 1
	secondsPerDay = 86400
)

func TestQuickstartLoadsExactlyTheRowsThatTheIndependentScriptCounts(t *testing.T) {
	for _, form := range []string{"quickstart.hcl", "quickstart.yaml"} {
		t.Run(form, func(t *testing.T) {
			dir := t.TempDir()
			spec := filepath.Join(dir, form)
			text, err := os.ReadFile(filepath.Join(repoRoot, "examples", "quickstart", form))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, spec, string(text))
			var stdout, stderr bytes.Buffer
			a := &app{registry: all.Registry(), stdout: &stdout, stderr: &stderr, lookupEnv: func(string) (string, bool) { return "", false }}
			if code := a.execute(context.Background(), []string{"run", spec}); code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr.String())
			}
			checkQuickstart(t, filepath.Join(dir, "quickstart.db"))
		})
	}
}

func checkQuickstart(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT id, small_number, big_number, short_string, CAST(created_date AS TEXT) || '' FROM big_table")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var n, ids, small, sum, length, byteSum, days int64
	first, last := int64(1<<62), int64(0)
	weighted := new(big.Int)
	for rows.Next() {
		var id, s, b int64
		var text, created string
		if err := rows.Scan(&id, &s, &b, &text, &created); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.DateTime, created)
		if err != nil || at.Unix()%secondsPerDay != 0 {
			t.Fatalf("id %d: created_date %q is not a whole day (%v)", id, created, err)
		}
		day := at.Unix() / secondsPerDay
		ofRow := int64(0)
		for _, c := range []byte(text) {
			ofRow += int64(c)
		}
		n, ids, small, sum = n+1, ids+id, small+s, sum+b
		length, byteSum, days = length+int64(len(text)), byteSum+ofRow, days+day
		first, last = min(first, day), max(last, day)
		weighted.Add(weighted, new(big.Int).Mul(big.NewInt(id), big.NewInt(ofRow)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	weighted.Mod(weighted, big.NewInt(mersenne61))
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"rows", n, wantRows}, {"sum of id", ids, wantIDs}, {"sum of small_number", small, wantSmall}, {"sum of big_number", sum, wantBig},
		{"bytes of short_string", length, wantLength}, {"sum of the bytes of short_string", byteSum, wantBytes},
		{"sum of id times bytes", weighted.Int64(), wantWeighted}, {"first day", first, wantFirstDay}, {"last day", last, wantLastDay}, {"sum of days", days, wantDays},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, c.got, c.want)
		}
	}
}
