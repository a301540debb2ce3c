// Package filelock is an operating system's lock on a file. The kernel releases
// it when the process that holds it dies, however it dies.
package filelock

import (
	"errors"
	"io"
	"os"
)

// ErrLocked is the error of a lock that another open file holds.
var ErrLocked = errors.New("locked")

// Lock is a lock file that is held.
type Lock struct {
	f    *os.File
	path string
}

// Take locks the file, which it creates where it is absent, and writes the
// owner into it. Held by another it returns ErrLocked and the owner that stands
// in it, which may be "" for the moment between that one's lock and its write.
func Take(path string, owner []byte) (*Lock, string, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, "", err
		}
		if err := Try(f); err != nil {
			held, _ := io.ReadAll(io.LimitReader(f, 4096))
			_ = f.Close()
			return nil, string(held), err
		}
		// Whoever held the lock before removes the file. If that was between our
		// open and our lock, this is the lock of a file that nobody else will find.
		mine, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
			_ = f.Close()
			continue
		}
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt(owner, 0)
		}
		if err != nil {
			_ = f.Close()
			return nil, "", err
		}
		return &Lock{f: f, path: path}, "", nil
	}
}

// Release removes the file while it is still locked, then lets go. A nil lock
// has nothing to release.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	err := os.Remove(l.path)
	if os.IsNotExist(err) {
		err = nil
	}
	return errors.Join(err, l.f.Close())
}
