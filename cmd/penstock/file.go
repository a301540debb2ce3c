package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"penstock/runtime"
)

// writeByRename writes the file that a flag names, by rename, so that nobody reads
// half of one.
func writeByRename(flag, path string, b []byte) error {
	dir := filepath.Dir(path)
	refuse := func(format string, args ...any) error {
		return &runtime.UsageError{Text: fmt.Sprintf("%s %s: ", flag, path) + fmt.Sprintf(format, args...)}
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("there is no folder %s", dir)
	case err != nil:
		return refuse("%v", cause(err))
	case !info.IsDir():
		return refuse("%s is no folder", dir)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return refuse("it is a folder")
	}
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		// The file that it stands for is replaced, and not the link.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return writeByRename(flag, real, b)
		}
	case err == nil && !info.Mode().IsRegular():
		// A pipe or a device takes the bytes; replacing it would break it.
		if err := os.WriteFile(path, b, 0); err != nil {
			return refuse("%v", cause(err))
		}
		return nil
	}
	err := replace(path, b, 0o644)
	var open *fs.PathError
	if errors.As(err, &open) && open.Op == "open" {
		return refuse("%v", cause(err)) // the temporary file's own name would tell nobody anything
	}
	return err
}

// replace puts a file in the place of path by rename, so that nobody reads half of
// it and a full disk leaves what was there.
func replace(path string, b []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".penstock-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after the rename
	if _, err = tmp.Write(b); err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
