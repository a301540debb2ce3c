package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks one byte far behind the owner's text: a lock here keeps others
// from reading what it covers, and they must be able to name the owner.
func Try(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
