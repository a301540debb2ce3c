package delimited

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/failpoint"
	"penstock/internal/ranges"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// flushSize is what is written, or compressed, at once.
const flushSize = 256 << 10

// writer writes the rows of chunks, and the file of a range of which it has
// written the last chunk. It belongs to one goroutine.
type writer struct {
	t     *target
	load  connectors.Load
	epoch int64
	enc   *encoder
	head  []byte // the header of files

	chunk  ranges.Chunk
	state  *tableState // as it was at Begin
	file   *os.File    // nil: nothing is open
	closed bool        // file is written and closed
	out    io.Writer
	zip    io.WriteCloser // nil for a plain file
	buf    []byte
	rows   int64
}

func (w *writer) at(m connectors.Marker, err error) error {
	return at(fmt.Sprintf("load chunk %d of", m.Chunk), w.load.Table.Name, err)
}

// Begin looks at the chunk's marker and opens a file under another name.
func (w *writer) Begin(ctx context.Context, m connectors.Marker) (bool, error) {
	if w.file != nil {
		return false, w.at(m, errors.New("a chunk is open already"))
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	done, err := w.marker(m)
	if err != nil || done {
		return done, w.at(m, err)
	}
	if err := w.create(); err != nil {
		return false, errors.Join(w.at(m, err), w.Abort())
	}
	failpoint.Hit("chunk.begin")
	return false, nil
}

// marker finds the chunk and reports whether it is done.
func (w *writer) marker(m connectors.Marker) (done bool, err error) {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.fence(); err != nil {
		return false, err
	}
	w.state = t.tables[m.Table]
	if w.state == nil || w.state.Generation != m.Generation {
		return false, t.fenced("the marker of the chunk is gone")
	}
	for _, c := range w.state.Chunks {
		if c.ID == m.Chunk {
			w.chunk = c
			_, done = w.state.done[c.ID]
			return done, nil
		}
	}
	return false, t.fenced("the marker of the chunk is gone")
}

// fence makes sure that the pipeline is still owned by the run that opened the
// writer. t.mu is held.
func (w *writer) fence() error {
	if w.t.epoch != w.epoch {
		return w.t.fenced(fmt.Sprintf("this writer is of epoch %d", w.epoch))
	}
	return w.t.fence()
}

func (w *writer) create() error {
	f, err := os.OpenFile(filepath.Join(w.t.state(), rand.Text()+partExt), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w.file, w.closed, w.out, w.rows, w.buf = f, false, f, 0, w.buf[:0]
	if w.zip, err = w.t.compressor(f); w.zip != nil {
		w.out = w.zip
	}
	return err
}

// compressor writes compressed to f; nil where files are plain.
func (t *target) compressor(f io.Writer) (io.WriteCloser, error) {
	switch t.config.Compression {
	case "gzip":
		return gzip.NewWriter(f), nil
	case "zstd":
		// One goroutine: workers are side by side already.
		z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return z, nil
	}
	return nil, nil
}

// Write adds the selected rows.
func (w *writer) Write(ctx context.Context, b *batch.Batch, sel batch.Selection) error {
	if w.file == nil {
		return at("load", w.load.Table.Name, errors.New("no chunk is open"))
	}
	n := sel.Len(b.Rows)
	for k := range n {
		if k&0x3ff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		var err error
		if w.buf, err = w.enc.row(w.buf, b, sel.Row(k)); err != nil {
			return at("load", w.load.Table.Name, err)
		}
		if len(w.buf) >= flushSize {
			if err := w.flush(); err != nil {
				return at("load", w.load.Table.Name, err)
			}
		}
	}
	w.rows += int64(n)
	failpoint.Hit("chunk.rows")
	return nil
}

// WriteEach adds the selected rows but for those that the file's form can't
// hold: a value with a delimiter in it where nothing is quoted, a NULL for a
// column that takes none. A file itself refuses nothing.
func (w *writer) WriteEach(ctx context.Context, b *batch.Batch, sel batch.Selection, bad func(int32, *connectors.Refusal) error) error {
	if w.file == nil {
		return at("load", w.load.Table.Name, errors.New("no chunk is open"))
	}
	for k := range sel.Len(b.Rows) {
		row, keep := sel.Row(k), len(w.buf)
		var err error
		if w.buf, err = w.enc.row(w.buf, b, row); err == nil {
			w.rows++
			if len(w.buf) >= flushSize {
				err = errors.Join(w.flush(), ctx.Err())
			}
		}
		var why *connectors.Refusal
		if errors.As(err, &why) {
			w.buf = w.buf[:keep]
			if err := bad(int32(row), why); err != nil {
				return err
			}
		} else if err != nil {
			return at("load", w.load.Table.Name, err)
		}
	}
	failpoint.Hit("chunk.rows")
	return nil
}

func (w *writer) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// end writes the rest of the file, durably.
func (w *writer) end() error {
	err := w.flush()
	if err == nil && w.zip != nil {
		err = w.zip.Close()
	}
	if err == nil {
		err = w.file.Sync()
	}
	w.closed = true
	return errors.Join(err, w.file.Close())
}

// Commit gives the rows their name and marks the chunk done, and makes the file
// of the range if it was its last one.
func (w *writer) Commit(ctx context.Context, m connectors.Marker) (int64, error) {
	if w.file == nil {
		return 0, w.at(m, errors.New("no chunk is open"))
	}
	if err := errors.Join(ctx.Err(), w.end()); err != nil {
		return 0, errors.Join(w.at(m, err), w.Abort())
	}
	failpoint.Hit("chunk.commit.before")
	t := w.t
	var whole *joint
	t.mu.Lock()
	err := t.owned(ctx, func() error { return w.commit(m) })
	if err == nil {
		whole, err = t.whole(w.state, w.chunk.Range)
	}
	t.mu.Unlock()
	// What has its name is not there any more; a chunk without rows leaves its file.
	err = errors.Join(err, w.Abort())
	if err != nil {
		return 0, w.at(m, err)
	}
	failpoint.Hit("chunk.commit.after")
	if whole != nil {
		// The chunk is done in any case; a run that ends here leaves the file to the next.
		if err := t.assemble(ctx, w.state, whole, w.head, w.epoch); err != nil && ctx.Err() == nil {
			return 0, at(fmt.Sprintf("make the file of range %d of", whole.number), w.load.Table.Name, err)
		}
	}
	return w.rows, nil
}

// commit runs under the guard.
func (w *writer) commit(m connectors.Marker) error {
	t := w.t
	if err := w.fence(); err != nil {
		return err
	}
	if _, done := w.state.done[w.chunk.ID]; done || t.tables[m.Table] != w.state {
		return t.fenced("the marker of the chunk is not pending any more")
	}
	final := ""
	if w.rows > 0 {
		final = t.rowsPath(w.state, w.chunk.ID)
		if failpoint.Off("marker") {
			final = another(final)
		}
		if err := os.Rename(w.file.Name(), final); err != nil {
			return err
		}
		if err := syncDir(t.state()); err != nil {
			return errors.Join(err, remove(final))
		}
	}
	failpoint.Hit("chunk.marker")
	d := doneLine{Chunk: w.chunk.ID, Rows: w.rows, BadRows: m.BadRows, At: now()}
	if err := appendLine(t.donePath(w.state), d); err != nil {
		if final != "" {
			err = errors.Join(err, remove(final))
		}
		return err
	}
	w.state.done[w.chunk.ID] = d
	return nil
}

// another is a name that no file has: the negative control of crash tests.
func another(path string) string {
	base, ext, _ := strings.Cut(filepath.Base(path), ".")
	dash := strings.LastIndexByte(base, '-')
	n, _ := strconv.Atoi(base[dash+1:]) // as it was made
	for {
		if _, err := os.Stat(path); err != nil {
			return path
		}
		n += 100_000
		path = filepath.Join(filepath.Dir(path), fmt.Sprintf("%s-%d.%s", base[:dash], n, ext))
	}
}

// Abort throws the open file away.
func (w *writer) Abort() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file, w.buf = nil, w.buf[:0]
	var err error
	if !w.closed {
		if z, ok := w.zip.(*zstd.Encoder); ok {
			z.Reset(nil) // nothing is to be written, only its memory given back
		}
		err = f.Close()
	}
	w.zip = nil
	return errors.Join(err, remove(f.Name()))
}

// Close throws away what is open. It may be called twice.
func (w *writer) Close() error { return w.Abort() }
