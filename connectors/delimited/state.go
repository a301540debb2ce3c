package delimited

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/change"
	"penstock/internal/failpoint"
	"penstock/internal/ranges"
)

// What the target remembers lies beside the files of rows:
//
//	.penstock/guard                        locked for a moment by whoever changes something
//	.penstock/tables/TABLE.json            a table's columns and key
//	.penstock/p-PIPELINE.lock              locked by the owner of the pipeline
//	.penstock/p-PIPELINE/owner.json        its epoch
//	.penstock/p-PIPELINE/t-TABLE.json      a table's generation and its chunks
//	.penstock/p-PIPELINE/t-TABLE-LOAD.done a line for each chunk that is done, and each range that has its file
//	.penstock/p-PIPELINE/t-TABLE-LOAD-CHUNK.rows what a chunk adds to its range's file
//	.penstock/p-PIPELINE/*.part            files that are being written
//
// A chunk is done when its line is there. Its rows were renamed into their place
// before; rows without a line, of a process that was killed between the two, are
// removed by the next claim. So are files of ranges (assemble.go).
const (
	stateDir  = ".penstock"
	tablesDir = "tables"
	ownerFile = "owner.json"
	doneExt   = ".done"
	rowsExt   = ".rows"
	partExt   = ".part"
)

type ownerState struct {
	Epoch int64           `json:"epoch"`
	Owner json.RawMessage `json:"owner"`
}

// tableState is a table's file of state.
type tableState struct {
	Name       string          `json:"name"` // the source's
	Table      string          `json:"table"`
	Load       int             `json:"load"` // number in the names of its files: no other load of the table has it
	Generation int             `json:"generation"`
	Digest     string          `json:"digest"`
	Definition string          `json:"definition"`
	Point      change.Position `json:"point"`
	Loaded     bool            `json:"loaded"`
	Created    bool            `json:"created,omitempty"`
	UpdatedAt  string          `json:"updated_at"`
	Remove     []string        `json:"remove,omitempty"` // files to be removed before anything else
	Chunks     []ranges.Chunk  `json:"chunks"`

	done  map[int]doneLine // by chunk
	filed map[int]bool     // by range: its file is there
}

// doneLine is a line of a .done file: of a chunk, or of a range.
type doneLine struct {
	Chunk   int    `json:"chunk,omitempty"`
	Range   int    `json:"range,omitempty"`
	Rows    int64  `json:"rows"`
	BadRows int64  `json:"bad_rows"`
	At      string `json:"at"`
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// escaped is a name as part of a file's name: no slash, no dot before it, and
// no dash, which stands between the parts.
func escaped(name string) string {
	return strings.NewReplacer("-", "%2D", ".", "%2E", "*", "%2A").Replace(url.PathEscape(name))
}

func (t *target) state() string { return filepath.Join(t.dir, stateDir, "p-"+escaped(t.env.Pipeline)) }

func (t *target) lockPath() string { return t.state() + ".lock" }

func (t *target) statePath(source string) string {
	return filepath.Join(t.state(), "t-"+escaped(source)+".json")
}

// base begins the paths of what one load of a table leaves beside its state.
func (t *target) base(s *tableState) string {
	return filepath.Join(t.state(), "t-"+escaped(s.Name)+"-"+strconv.Itoa(s.Load))
}

func (t *target) donePath(s *tableState) string { return t.base(s) + doneExt }

func (t *target) rowsPath(s *tableState, chunk int) string {
	return t.base(s) + "-" + strconv.Itoa(chunk) + rowsExt
}

// readEpoch is 0 where nobody has claimed the pipeline yet.
func (t *target) readEpoch() (int64, error) {
	var o ownerState
	err := readJSON(filepath.Join(t.state(), ownerFile), &o)
	if errors.Is(err, fs.ErrNotExist) {
		if t.epoch != 0 {
			return 0, t.fenced("the state of the pipeline is gone")
		}
		return 0, nil
	}
	return o.Epoch, err
}

// readState reads a table's state with its done chunks; nil where there is none.
func (t *target) readState(path string) (*tableState, error) {
	s := &tableState{done: map[int]doneLine{}, filed: map[int]bool{}}
	if err := readJSON(path, s); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	text, err := os.ReadFile(t.donePath(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var d doneLine
		// Only a line cut short by a kill has no end; its chunk is not done.
		if !bytes.HasSuffix(line, newline) {
			break
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return nil, spoilt(t.donePath(s), err)
		}
		if d.Range > 0 {
			s.filed[d.Range] = true
		} else {
			s.done[d.Chunk] = d
		}
	}
	return s, nil
}

// allStates reads the state of each table of the pipeline, in the order of the
// files' names.
func (t *target) allStates() (out []*tableState, err error) {
	entries, err := os.ReadDir(t.state())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "t-") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		s, err := t.readState(filepath.Join(t.state(), e.Name()))
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// State reads what earlier runs of the pipeline have done.
func (t *target) State(context.Context) (connectors.State, error) {
	st := connectors.State{Tables: map[string]*connectors.TableState{}}
	all, err := t.allStates()
	if err != nil {
		return st, at("read the state of", t.env.Pipeline, err)
	}
	for _, s := range all {
		ts := &connectors.TableState{Generation: s.Generation, Digest: s.Digest, Definition: s.Definition, Point: s.Point, Loaded: s.Loaded, Created: s.Created, UpdatedAt: s.UpdatedAt}
		for _, c := range s.Chunks {
			d, done := s.done[c.ID]
			ts.Chunks = append(ts.Chunks, connectors.ChunkState{Chunk: c, Done: done, Rows: d.Rows, BadRows: d.BadRows})
		}
		st.Tables[s.Name] = ts
	}
	return st, nil
}

// recover ends what a killed owner left: files that were to be removed, rows of
// chunks that are not done, files of ranges that are not noted, files half
// written. The guard is held.
func (t *target) recover() error {
	entries, err := os.ReadDir(t.state())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), partExt) || strings.HasSuffix(e.Name(), newExt) {
			if err := remove(filepath.Join(t.state(), e.Name())); err != nil {
				return err
			}
		}
	}
	all, err := t.allStates()
	if err != nil {
		return err
	}
	t.tables = map[string]*tableState{}
	needed := map[string]bool{}
	for _, s := range all {
		if err := t.removeFiles(s); err != nil {
			return err
		}
		if !s.Loaded {
			if err := t.removeUnnoted(s); err != nil {
				return err
			}
			if err := t.mendDone(s); err != nil {
				return err
			}
			for _, c := range s.Chunks {
				if _, done := s.done[c.ID]; done && !s.filed[c.Range] {
					needed[t.rowsPath(s, c.ID)] = true
				}
			}
		}
		t.tables[s.Name] = s
	}
	if failpoint.Off("marker") {
		return nil
	}
	return t.removeRows(func(path string) bool { return !needed[path] })
}

// removeRows removes rows of chunks, by the paths that they have.
func (t *target) removeRows(which func(path string) bool) error {
	paths, err := filepath.Glob(filepath.Join(literal(t.state()), "*"+rowsExt))
	if err != nil {
		return err
	}
	for _, p := range paths {
		if which(p) {
			if err := remove(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFiles removes what the state says is to go, and forgets it.
func (t *target) removeFiles(s *tableState) error {
	if len(s.Remove) == 0 {
		return nil
	}
	for _, name := range s.Remove {
		if err := remove(filepath.Join(t.dir, name)); err != nil {
			return err
		}
	}
	if err := syncDir(t.dir); err != nil {
		return err
	}
	s.Remove = nil
	return writeJSON(t.statePath(s.Name), s)
}

func (t *target) removeUnnoted(s *tableState) error {
	if failpoint.Off("range") {
		return nil
	}
	files, err := t.filesOf(s.Table)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.load == s.Load && !s.filed[f.number] {
			if err := remove(filepath.Join(t.dir, f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mendDone takes a line away that was cut short, so that the next one begins
// where a line begins.
func (t *target) mendDone(s *tableState) error {
	text, err := os.ReadFile(t.donePath(s))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(text) == 0 || text[len(text)-1] == '\n') {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Truncate(t.donePath(s), int64(bytes.LastIndexByte(text, '\n')+1))
}

// dataFile is a file of rows.
type dataFile struct {
	name         string
	load, number int // of the range
}

// fileName names the file of a range so that the order of names is that of
// ranges.
func (t *target) fileName(table string, load, number int) string {
	return fmt.Sprintf("%s-%d-%04d%s", table, load, number, t.ext())
}

// ext is the end of the files' names.
func (t *target) ext() string {
	switch t.config.Compression {
	case "gzip":
		return ".csv.gz"
	case "zstd":
		return ".csv.zst"
	}
	return ".csv"
}

// filesOf lists the files of a table, of all its loads.
func (t *target) filesOf(table string) (out []dataFile, err error) {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), table+"-")
		base, ext, dotted := strings.Cut(rest, ".")
		parts := strings.Split(base, "-")
		if !ok || !dotted || len(parts) != 2 || !slices.Contains([]string{"csv", "csv.gz", "csv.zst"}, ext) {
			continue
		}
		f := dataFile{name: e.Name()}
		var errs [2]error
		f.load, errs[0] = strconv.Atoi(parts[0])
		f.number, errs[1] = strconv.Atoi(parts[1])
		if errors.Join(errs[:]...) == nil {
			out = append(out, f)
		}
	}
	return out, nil
}

func spoilt(path string, err error) error {
	return &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("%s can't be read: %w", path, err), Hint: "Someone changed it: remove the files of this table there, then load it again."}
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
