package runtime

import (
	"sync"
	"time"
)

// crew keeps what the writers of a pipeline did, to tell how long each had
// nothing to do.
type crew struct {
	mu      sync.Mutex
	began   time.Time
	workers []*worker
	chunks  int // committed by all of them
}

// worker is one writer's account.
type worker struct {
	crew    *crew
	waited  time.Duration // for rows that were still being read
	chunks  int
	after   int       // chunks that all had committed with its last one
	last    time.Time // of its last commit
	waiting time.Time
}

func (c *crew) hire() *worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &worker{crew: c, last: time.Now()}
	if len(c.workers) == 0 {
		c.began = w.last
	}
	c.workers = append(c.workers, w)
	return w
}

// wait begins a wait for the next flight, which busy ends.
func (w *worker) wait() { w.waiting = time.Now() }
func (w *worker) busy() { w.waited += time.Since(w.waiting) }

// done says that the worker is through with a flight.
func (w *worker) done() {
	w.crew.mu.Lock()
	defer w.crew.mu.Unlock()
	w.crew.chunks++
	w.chunks++
	w.after, w.last = w.crew.chunks, time.Now()
}

// report is what each did until the last of them had committed its last chunk.
func (c *crew) report() (workers []WorkerResult, share float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.began
	for _, w := range c.workers {
		if w.last.After(end) {
			end = w.last
		}
	}
	idle := time.Duration(0)
	for _, w := range c.workers {
		left := end.Sub(w.last)
		idle += left
		workers = append(workers, WorkerResult{Chunks: w.chunks, Waited: w.waited.Seconds(), Idle: left.Seconds(), Missed: c.chunks - w.after})
	}
	if whole := end.Sub(c.began) * time.Duration(len(c.workers)); whole > 0 {
		share = float64(idle) / float64(whole)
	}
	return workers, share
}
