package event

import (
	"encoding/json"
	"testing"
	"time"
)

func TestEncodePutsNameAndTimeBeforeTheFields(t *testing.T) {
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	b, err := Encode(at, ChunkCommitted{Pipeline: "p", Table: "t", Chunk: 3, Rows: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	for k, want := range map[string]any{"event": "chunk_committed", "time": "2025-01-02T02:04:05Z", "table": "t", "chunk": 3.0, "rows": 10.0} {
		if got[k] != want {
			t.Errorf("%s is %v, want %v in %s", k, got[k], want, b)
		}
	}
	if b, err := Encode(at, struct{ noFields }{}); err != nil || !json.Valid(b) {
		t.Errorf("an event without fields gives %s, %v", b, err)
	}
}

type noFields struct{}

func (noFields) Name() string { return "nothing" }

func TestTallyCountsOnlyWhatIsCommitted(t *testing.T) {
	var y Tally
	at := time.Unix(1000, 0)
	y.Add(at, TableStarted{Pipeline: "p", Table: "t", Chunks: 4, Done: 1, Rows: 100, Expected: 300})
	y.Add(at, ChunkRead{Pipeline: "p", Table: "t", Read: 100, Filtered: 20, Bytes: 1000})
	now := at.Add(2 * time.Second)
	if x := y.Total(); x.Rate(now) != 0 {
		t.Errorf("rows that are only read give a rate of %f", x.Rate(now))
	}
	if _, ok := y.Total().ETA(now); ok {
		t.Error("an ETA without a committed row")
	}
	y.Add(at, ChunkCommitted{Pipeline: "p", Table: "t", Read: 100, Rows: 80})
	x := y.Total()
	if x.Rate(now) != 50 || x.Rows != 80 || x.Before != 100 || x.Done != 2 || x.Filtered != 20 {
		t.Errorf("got %+v, rate %f", x, x.Rate(now))
	}
	if eta, ok := x.ETA(now); !ok || eta != 4*time.Second {
		t.Errorf("200 rows at 50 rows/s take %s (%v), want 4s", eta, ok)
	}
	y.Add(now, TableLoaded{Pipeline: "p", Table: "t"})
	if got := y.Tables(); len(got) != 1 || !got[0].Loaded {
		t.Errorf("tables are %+v", got)
	}
	if got := y.Total().Rate(now.Add(time.Hour)); got != 50 {
		t.Errorf("an hour after the end the rate is %f, want 50 as at the end", got)
	}
}
