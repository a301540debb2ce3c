package delimited

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"penstock/connectors"
)

// scriptFile holds the generation for which each script is done.
const scriptFile = "scripts.json"

// Script refuses statements: files run none. That a script without any is done
// is noted as everywhere, and one that is done is not looked at again.
func (t *target) Script(ctx context.Context, s connectors.Script) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.owned(ctx, func() error {
		path, done := filepath.Join(t.state(), scriptFile), map[string]int{}
		if err := readJSON(path, &done); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if done[s.Name] >= s.Generation {
			return nil
		}
		if len(s.Statements) > 0 {
			return &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("files run no statements"), Hint: "Take " + s.Name + " out of the pipeline."}
		}
		done[s.Name] = s.Generation
		return writeJSON(path, done)
	})
	return at("run "+s.Name+" of", t.env.Pipeline, err)
}
