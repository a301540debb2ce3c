package runtime

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"penstock/connectors"
	"penstock/internal/ranges"
	"penstock/planner/plan"
	"penstock/runtime/checkpoint"
	"penstock/runtime/rows"

	"github.com/zeebo/xxh3"
)

// discards is the file that bad rows are set aside in, a JSON object a line. A
// chunk's lines are on disk before its commit and carry its id, so that lines
// of a chunk that never committed can be told apart and removed at the next
// start: the file agrees with the markers, whatever was killed when.
type discards struct {
	pipeline string
	policy   plan.BadRows
	path     string

	mu    sync.Mutex
	file  *os.File
	size  int64             // bytes of whole lines
	count int64             // lines of this pipeline
	wrote map[chunkID]lines // chunks of this run
}

// lines are what stands in the file of a chunk.
type lines struct {
	count int64
	sum   xxh3.Uint128 // of their bytes
}

// chunkID names a chunk among all that a pipeline ever had.
type chunkID struct {
	table      string
	generation int
	chunk      int
}

// discard is a line of the file.
type discard struct {
	Pipeline   string `json:"pipeline"`
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	Chunk      int    `json:"chunk"`
	Range      int    `json:"range"`
	Key        string `json:"key,omitempty"`
	Column     string `json:"column,omitempty"`
	Code       string `json:"code,omitempty"`       // the target's: a SQLSTATE
	Constraint string `json:"constraint,omitempty"` // likewise
	Reason     string `json:"reason"`
}

// openDiscards prepares the pipeline's file. Nothing is created before the
// first bad row.
func openDiscards(p *plan.Pipeline, dir string, state connectors.State, tables []*table) (*discards, error) {
	d := &discards{pipeline: p.Name, policy: p.BadRows, wrote: map[chunkID]lines{}}
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
	done := committed(state, tables)
	if err := d.prune(func(c chunkID) bool { return done[c] }); err != nil {
		return nil, d.failed("bring the discard file in line with the target", err)
	}
	return d, nil
}

// committed are the chunks whose lines stay: those that are done, but for the
// tables that this run begins anew.
func committed(state connectors.State, tables []*table) map[chunkID]bool {
	anew := map[string]bool{}
	for _, t := range tables {
		anew[t.name] = t.task.Action == checkpoint.Begin || t.task.Action == checkpoint.Restart
	}
	done := map[chunkID]bool{}
	for name, t := range state.Tables {
		for _, c := range t.Chunks {
			if c.Done && !anew[name] {
				done[chunkID{name, t.Generation, c.ID}] = true
			}
		}
	}
	return done
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

// failed classes an error of the file.
func (d *discards) failed(what string, err error) error {
	e := &connectors.Error{Op: what, Class: connectors.Fatal, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		e.Class, e.Hint = connectors.Full, "Free space on its disk, then run again."
	case errors.Is(err, fs.ErrPermission):
		e.Class, e.Hint = connectors.Denied, "The file and its folder must be writable."
	}
	return e
}

// prune rewrites the file without the lines of those of this pipeline's chunks
// that are not to be kept, and counts what stays.
func (d *discards) prune(keeps func(chunkID) bool) error {
	d.count = 0
	info, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", d.path)
	}
	if err != nil {
		return err
	}
	old, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer old.Close()
	keep, err := os.OpenFile(d.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(keep.Name()) // gone already after the rename
	out := bufio.NewWriter(keep)
	dropped := 0
	for lines := bufio.NewReader(old); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// A last line without its end was cut short: its chunk did not commit.
			if len(line) > 0 && !bytes.HasPrefix(line, []byte(`{"pipeline":`)) && !bytes.HasPrefix([]byte(`{"pipeline":`), line) {
				return errors.Join(fmt.Errorf("%s holds something else than discards: name another file in bad_rows", d.path), keep.Close())
			}
			dropped += len(line)
			break
		}
		if err != nil {
			return errors.Join(err, keep.Close())
		}
		var l discard
		if json.Unmarshal(line, &l) != nil || l.Pipeline == "" || l.Chunk == 0 {
			return errors.Join(fmt.Errorf("%s holds something else than discards: name another file in bad_rows", d.path), keep.Close())
		}
		mine := l.Pipeline == d.pipeline
		if mine && !keeps(chunkID{l.Table, l.Generation, l.Chunk}) {
			dropped += len(line)
			continue
		}
		if mine {
			d.count++
		}
		if _, err := out.Write(line); err != nil {
			return errors.Join(err, keep.Close())
		}
	}
	if err := errors.Join(out.Flush(), keep.Sync(), keep.Close()); err != nil || dropped == 0 {
		return err
	}
	return os.Rename(keep.Name(), d.path)
}

// write puts a chunk's bad rows on disk. It fails when there are more than the
// limit; the chunk is not committed then, and the file is put right at the next
// start. A retry writes nothing where its bad rows are those of the try before,
// and replaces them where they are not: another transaction may have committed
// or taken back a row meanwhile that decides what the target refuses.
func (d *discards) write(t *table, c ranges.Chunk, bad []rows.Bad) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := chunkID{t.name, t.task.Generation, c.ID}
	old := d.wrote[id]
	if len(bad) == 0 && old.count == 0 {
		return nil
	}
	if len(bad) > 0 {
		if err := d.over(t, c, int64(len(bad)), bad[0]); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range bad {
		if err := enc.Encode(discard{d.pipeline, t.name, t.task.Generation, c.ID, c.Range, r.Key, r.Column, r.Code, r.Constraint, r.Reason}); err != nil {
			return err
		}
	}
	put := lines{int64(len(bad)), xxh3.Hash128(b.Bytes())}
	if put == old {
		return nil
	}
	if old.count > 0 {
		if err := d.forget(id); err != nil {
			return d.failed("rewrite the discard file", err)
		}
	}
	if err := d.append(b.Bytes()); err != nil {
		return d.failed("write the discard file", err)
	}
	d.count += put.count
	d.wrote[id] = put
	return nil
}

// forget takes the lines of a chunk out that did not commit.
func (d *discards) forget(id chunkID) error {
	if err := d.close(); err != nil {
		return err
	}
	d.file = nil // append opens the one that is renamed into its place
	delete(d.wrote, id)
	return d.prune(func(c chunkID) bool { return c != id })
}

// within fails when so many bad rows of a chunk are more than the limit allows;
// b is one of them. A chunk that is looked through row by row need not go on.
func (d *discards) within(t *table, c ranges.Chunk, n int64, b rows.Bad) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over(t, c, n, b)
}

// over does it while d.mu is held.
func (d *discards) over(t *table, c ranges.Chunk, n int64, b rows.Bad) error {
	n += d.count - d.wrote[chunkID{t.name, t.task.Generation, c.ID}].count
	if d.policy.Limit == 0 || n <= d.policy.Limit {
		return nil
	}
	return &connectors.Error{Op: "load", Table: t.name, Class: connectors.Data,
		Err:  fmt.Errorf("%s brings the bad rows to %d, more than bad_rows.limit = %d; one of them: %s", c, n, d.policy.Limit, b),
		Hint: "Mend the rows at the source, or raise the limit, and run again."}
}

// append adds whole lines, or nothing: what is left of a write that failed is
// cut off again.
func (d *discards) append(lines []byte) error {
	if d.file == nil {
		if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(d.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if d.size, err = f.Seek(0, io.SeekEnd); err != nil {
			return errors.Join(err, f.Close())
		}
		d.file = f
	}
	_, err := d.file.Write(lines)
	if err == nil {
		err = d.file.Sync()
	}
	if err != nil {
		return errors.Join(err, d.file.Truncate(d.size))
	}
	d.size += int64(len(lines))
	return nil
}

func (d *discards) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
