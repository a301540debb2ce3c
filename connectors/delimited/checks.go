package delimited

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"penstock/connectors"
)

var sourceChecks = []connectors.Check[connectors.Source]{
	{Name: "files", About: "that those of each table are there and can be opened", Run: func(_ context.Context, e connectors.Source, u connectors.Use) ([]connectors.Finding, error) {
		return e.(*source).unopened(u)
	}},
}

var targetChecks = []connectors.Check[connectors.Target]{
	{Name: "files", About: "whether tables that must be new have files already", Momentary: true, Run: func(_ context.Context, e connectors.Target, u connectors.Use) ([]connectors.Finding, error) {
		return e.(*target).filesThere(u)
	}},
}

// unopened tells of tables without files, and of files that can't be read.
func (s *source) unopened(u connectors.Use) (out []connectors.Finding, err error) {
	for _, x := range u.Reads {
		for _, t := range s.config.Tables {
			if t.Name != x.Table.Name.Name {
				continue
			}
			files, err := find(t, s.dir)
			if err != nil {
				return nil, at("look for the files of", t.Name, err)
			}
			if len(files) == 0 {
				out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf("No file of table %s is there: %s matches none, so a run loads no row.", t.Name, t.Path)})
			}
			for _, f := range files {
				fd, err := os.Open(f.path)
				if err != nil {
					out = append(out, connectors.Finding{Class: connectors.Denied, What: fmt.Sprintf("File %s can't be opened: %v.", f.name, cause(err))})
					continue
				}
				_ = fd.Close() // only opened
			}
		}
	}
	return out, nil
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// filesThere tells of files that would stop a load.
func (t *target) filesThere(u connectors.Use) (out []connectors.Finding, err error) {
	if _, err := os.Stat(t.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, l := range u.Loads {
		if l.Existing != connectors.ExistingError || u.State.Knows(l) {
			continue
		}
		files, err := t.filesOf(l.Table.Name)
		if err != nil {
			return nil, at("check", l.Table.Name, err)
		}
		if len(files) > 0 {
			out = append(out, connectors.Finding{Warning: true, What: fmt.Sprintf(`Table %s has files already (%s), and existing = "error" stops a run at them. Remove them, or write existing = "truncate" or "append".`, l.Table, files[0].name)})
		}
	}
	return out, nil
}
