//go:build unix

package delimited

import (
	"errors"
	"os"
)

// syncDir makes renames in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
