package delimited

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// newExt ends the name of a file of state that is being written.
const newExt = ".new"

// writeJSON replaces a file: whoever reads it, also after a power cut, sees it
// as it was or as it is.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+newExt, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+newExt, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return spoilt(path, err)
	}
	return nil
}

// appendLine adds a line to a file, durably.
func appendLine(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(append(text, '\n'))
		if err == nil {
			err = f.Sync()
		}
		if err != nil { // half a line would spoil the next one
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	if err = errors.Join(err, f.Close()); err == nil && info.Size() == 0 {
		err = syncDir(filepath.Dir(path))
	}
	return err
}
