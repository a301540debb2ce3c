package delimited

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"penstock/connectors"
	"penstock/internal/failpoint"
)

// A range's file is put together from the parts that its chunks have left, in
// their order, when the last of them is done. It gets its name by a rename, and
// then a line beside those of the chunks; only then do the parts go. A file
// without that line, of a process that was killed between the two, is removed
// by the next claim, and put together again from parts that are all there.

// joint is a range that is whole: what its file is made of.
type joint struct {
	number int
	parts  []string // paths, in the order of the chunks
	named  bool     // the range has a file also without rows
}

// whole gives what a range is made of once all its chunks are done; nil before
// that, and where its file is there. t.mu is held.
func (t *target) whole(s *tableState, number int) (*joint, error) {
	if s.Loaded || s.filed[number] {
		return nil, nil
	}
	// An empty table is one file, with the header alone.
	p := &joint{number: number, named: number == s.Chunks[0].Range}
	for _, c := range s.Chunks {
		if c.Range != number {
			continue
		}
		d, done := s.done[c.ID]
		if !done {
			return nil, nil
		}
		if d.Rows > 0 {
			p.parts = append(p.parts, t.rowsPath(s, c.ID))
		}
	}
	var err error
	if failpoint.Off("marker") { // rows that no line speaks of too: the negative control
		p.parts, err = filepath.Glob(filepath.Join(literal(t.state()), "*"+rowsExt))
	}
	return p, err
}

// assembleRest makes the files of ranges that are whole and have none, which a
// run that was cut short has left.
func (t *target) assembleRest(ctx context.Context, l connectors.Load) error {
	head, err := t.header(l.Columns)
	if err != nil {
		return err
	}
	for {
		t.mu.Lock()
		s, epoch := t.tables[l.Source], t.epoch
		var p *joint
		for i := 0; s != nil && i < len(s.Chunks) && p == nil && err == nil; i++ {
			p, err = t.whole(s, s.Chunks[i].Range)
		}
		t.mu.Unlock()
		if p == nil || err != nil {
			return err
		}
		if err := t.assemble(ctx, s, p, head, epoch); err != nil {
			return err
		}
	}
}

// assemble makes the file of a range that is whole. epoch is that of who asks.
func (t *target) assemble(ctx context.Context, s *tableState, p *joint, head []byte, epoch int64) error {
	final := ""
	var made string
	if p.named || len(p.parts) > 0 {
		var err error
		if made, err = t.join(ctx, p, head); err != nil {
			return err
		}
		defer func() { _ = remove(made) }() // where it has not got its name
		final = filepath.Join(t.dir, t.fileName(s.Table, s.Load, p.number))
	}
	failpoint.Hit("range.joined")
	t.mu.Lock()
	err := t.owned(ctx, func() error {
		if t.epoch != epoch || t.tables[s.Name] != s {
			return t.fenced("the range is not this run's any more")
		}
		if final != "" {
			if failpoint.Off("range") {
				final = another(final)
			}
			if err := os.Rename(made, final); err != nil {
				return err
			}
			if err := syncDir(t.dir); err != nil {
				return errors.Join(err, remove(final))
			}
		}
		failpoint.Hit("range.renamed")
		if err := appendLine(t.donePath(s), doneLine{Range: p.number, At: now()}); err != nil {
			if final != "" {
				err = errors.Join(err, remove(final))
			}
			return err
		}
		s.filed[p.number] = true
		return nil
	})
	t.mu.Unlock()
	if err != nil {
		return err
	}
	failpoint.Hit("range.noted")
	for _, x := range p.parts {
		if err := remove(x); err != nil {
			return err
		}
	}
	return nil
}

// copied at once, so that a run that is cut short need not wait for a large part.
const copied = 64 << 20

// join writes the header and the parts into one file, durably. Compressed parts
// stand behind one another as they are, as the formats of gzip and zstd allow.
func (t *target) join(ctx context.Context, p *joint, head []byte) (path string, err error) {
	f, err := os.OpenFile(filepath.Join(t.state(), rand.Text()+partExt), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), remove(f.Name()))
		}
	}()
	if err := t.writeHeader(f, head); err != nil {
		return "", err
	}
	for _, x := range p.parts {
		from, err := os.Open(x)
		if err != nil {
			return "", err
		}
		for n := int64(copied); n == copied && err == nil; {
			if err = ctx.Err(); err == nil {
				n, err = io.CopyN(f, from, copied)
			}
		}
		if err == io.EOF {
			err = nil
		}
		if err := errors.Join(err, from.Close()); err != nil {
			return "", err
		}
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// header is the line of names that each file begins with; nil where it has none.
func (t *target) header(columns []connectors.TargetColumn) ([]byte, error) {
	if !t.config.Header {
		return nil, nil
	}
	return newEncoder(t.layout, columns).header(nil)
}

func (t *target) writeHeader(f *os.File, head []byte) error {
	if head == nil {
		return nil
	}
	zip, err := t.compressor(f)
	if err != nil {
		return err
	}
	if zip == nil {
		_, err := f.Write(head)
		return err
	}
	_, err = zip.Write(head)
	return errors.Join(err, zip.Close())
}
