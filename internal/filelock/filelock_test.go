package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"penstock/internal/filelock"
)

func TestLockOfARemovedFileIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, _, err := filelock.Take(path, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, held, err := filelock.Take(path, []byte("second")); !errors.Is(err, filelock.ErrLocked) || held != "first" {
		t.Errorf("second lock: %q, %v; want first's text and filelock.ErrLocked", held, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a released lock leaves its file: %v", err)
	}
}

func TestOneOfManyHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var mu sync.Mutex
	inside, most, took := 0, 0, 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := 0; n < 50; {
				l, _, err := filelock.Take(path, []byte("me"))
				if errors.Is(err, filelock.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside, took, n = inside+1, took+1, n+1
				most = max(most, inside)
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most != 1 || took != 400 {
		t.Errorf("%d held it at once, %d times in all; want 1 and 400", most, took)
	}
}
