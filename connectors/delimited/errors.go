package delimited

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"penstock/connectors"
)

// at says what was being done, and to which table, and gives an error of the
// operating system its class.
func at(op, table string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	class, hint := classify(err)
	return &connectors.Error{Op: op, Table: table, Class: class, Hint: hint, Err: err}
}

func classify(err error) (connectors.Class, string) {
	var own *connectors.Error
	switch {
	case errors.As(err, &own):
		return own.Class, "" // the hint stands in it
	case errors.Is(err, errChanged):
		return connectors.LostPosition, "Files must not change while they are loaded. Put the file back, or load the table anew with --reload."
	case errors.Is(err, fs.ErrNotExist):
		return connectors.Fatal, "The file was there when the table was looked at: put it back."
	case errors.Is(err, fs.ErrPermission):
		return connectors.Denied, "Check the rights of this user on the file and its folder."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return connectors.Full, "Free space on the disk that holds the files, then run again."
	case errors.Is(err, errLongRecord):
		return connectors.Data, "Is a quote never closed? Mend the file, or set `quote` to what its values are quoted with."
	}
	return connectors.Fatal, ""
}

func schemaError(hint, format string, args ...any) error {
	return &connectors.Error{Class: connectors.Schema, Err: fmt.Errorf(format, args...), Hint: hint}
}
