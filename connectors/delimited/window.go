package delimited

import (
	"errors"
	"fmt"
	"io"
)

// windowSize is read at once: large enough that a system call costs nothing a
// row, small enough to stay in the cache until it is cut.
const windowSize = 256 << 10

// maxRecord bounds a record, and so what a quote that is never closed can take
// of the memory.
const maxRecord = 256 << 20

// window is the part of a file that is in memory: whole records, as many as
// there are, and the beginning of one more.
type window struct {
	r        io.Reader
	buf      []byte
	from, to int // not yet taken: buf[from:to]
	eof      bool
}

// reset goes on with another file, in the memory of the last one.
func (w *window) reset(r io.Reader) {
	w.r, w.from, w.to, w.eof = r, 0, 0, false
	if w.buf == nil {
		w.buf = make([]byte, windowSize)
	}
}

func (w *window) data() []byte { return w.buf[w.from:w.to] }

var errLongRecord = fmt.Errorf("a record is longer than %d MiB", maxRecord>>20)

// more reads on behind what is there.
func (w *window) more() error {
	if w.from > 0 {
		copy(w.buf, w.buf[w.from:w.to])
		w.from, w.to = 0, w.to-w.from
	}
	if w.to == len(w.buf) {
		if len(w.buf) >= maxRecord {
			return errLongRecord
		}
		w.buf = append(w.buf, make([]byte, len(w.buf))...)
	}
	// All there is room for: a long record is looked at anew each time.
	n, err := io.ReadFull(w.r, w.buf[w.to:])
	w.to += n
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.eof = true
		return nil
	}
	return err
}
