package runtime

import (
	"math"
	"testing"
	"time"
)

// A worker's idle time is what comes after its own last commit, up to the last
// one of all; waiting for rows before it is told apart.
func TestIdleTimeIsThatAfterAWorkersLastCommit(t *testing.T) {
	at := time.Now()
	var c crew
	a, b := c.hire(), c.hire()
	for range 3 {
		a.done()
	}
	for range 5 {
		b.done()
	}
	c.began = at
	a.last, b.last, a.waited = at.Add(6*time.Second), at.Add(10*time.Second), time.Second
	workers, share := c.report()
	want := []WorkerResult{{Chunks: 3, Waited: 1, Idle: 4, Missed: 5}, {Chunks: 5}}
	if len(workers) != 2 || workers[0] != want[0] || workers[1] != want[1] || math.Abs(share-0.2) > 1e-9 {
		t.Errorf("got %+v, share %v; want %+v, 0.2", workers, share, want)
	}
	if workers, share := (&crew{}).report(); workers != nil || share != 0 {
		t.Errorf("without workers: %+v, %v", workers, share)
	}
}
