package runtime

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/planner/plan"
)

// discards is the file that bad rows are set aside in, a JSON object a line. A
// chunk's lines are flushed before its commit and carry its id, so that lines
// of a chunk that never committed can be told apart and removed at the next
// start: the file agrees with the markers, whatever was killed when.
type discards struct {
	policy plan.BadRows
	path   string

	mu    sync.Mutex
	file  *os.File
	count int64
	wrote map[discard]bool // chunks of this run, by table, generation and id: a retry adds nothing
}

// discard is a line of the file.
type discard struct {
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	Chunk      int    `json:"chunk"`
	Range      int    `json:"range"`
	Key        string `json:"key,omitempty"`
	Column     string `json:"column,omitempty"`
	Reason     string `json:"reason"`
}

// openDiscards prepares the pipeline's file. Nothing is created before the
// first bad row.
func openDiscards(p *plan.Pipeline, dir string, state connectors.State) (*discards, error) {
	d := &discards{policy: p.BadRows, wrote: map[discard]bool{}}
	if d.stops() {
		return d, nil
	}
	d.path = p.BadRows.File
	if d.path == "" {
		d.path = filepath.Join(".penstock", p.Name, "discards.ndjson")
	}
	if !filepath.IsAbs(d.path) {
		d.path = filepath.Join(dir, d.path)
	}
	if err := d.prune(state); err != nil {
		return nil, fmt.Errorf("bring the discard file in line with the target: %w", err)
	}
	return d, nil
}

// stops reports that the first bad row ends the run.
func (d *discards) stops() bool { return d.policy.Action != "discard" }

// name is the file, once it holds something.
func (d *discards) name() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return ""
	}
	return d.path
}

// prune rewrites the file without the lines of chunks that are not done.
func (d *discards) prune(state connectors.State) error {
	old, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	done := map[discard]bool{}
	for name, t := range state.Tables {
		for _, c := range t.Chunks {
			if c.Done {
				done[discard{Table: name, Generation: t.Generation, Chunk: c.ID}] = true
			}
		}
	}
	var keep bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(old))
	lines.Buffer(nil, len(old)+1)
	for lines.Scan() {
		var l discard
		// A line cut short by a kill is of a chunk that did not commit.
		if json.Unmarshal(lines.Bytes(), &l) == nil && done[discard{Table: l.Table, Generation: l.Generation, Chunk: l.Chunk}] {
			keep.Write(lines.Bytes())
			keep.WriteByte('\n')
			d.count++
		}
	}
	if keep.Len() == len(old) {
		return nil
	}
	tmp := d.path + ".new"
	if err := os.WriteFile(tmp, keep.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, d.path)
}

// write flushes a chunk's bad rows. It fails when there are more than the
// limit; the chunk is not committed then, and the file is put right at the
// next start.
func (d *discards) write(t *table, c ranges.Chunk, bad []badRow) error {
	if len(bad) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id := discard{Table: t.name, Generation: t.task.Generation, Chunk: c.ID}
	if d.wrote[id] {
		return nil
	}
	if d.policy.Limit > 0 && d.count+int64(len(bad)) > d.policy.Limit {
		return &connectors.Error{Op: "load", Table: t.name, Class: connectors.Data,
			Err:  fmt.Errorf("%s has %d bad rows, which makes %d, more than bad_rows.limit = %d; the first: %s", c, len(bad), d.count+int64(len(bad)), d.policy.Limit, bad[0]),
			Hint: "Mend the rows at the source, or raise the limit, and run again."}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range bad {
		if err := enc.Encode(discard{Table: t.name, Generation: t.task.Generation, Chunk: c.ID, Range: c.Range, Key: r.key, Column: r.column, Reason: r.reason}); err != nil {
			return err
		}
	}
	if d.file == nil {
		if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(d.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		d.file = f
	}
	if _, err := d.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("discard file: %w", err)
	}
	d.count += int64(len(bad))
	d.wrote[id] = true
	return nil
}

func (d *discards) close() error {
	if d.file == nil {
		return nil
	}
	return errors.Join(d.file.Sync(), d.file.Close())
}
