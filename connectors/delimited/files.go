package delimited

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"penstock/connectors"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// file is a file of a table, as it was when it was looked for.
type file struct {
	name  string // as the spec's path names it: for people
	path  string
	size  int64
	mtime int64  // nanoseconds since 1970
	inode uint64 // 0 where there is none
}

// find lists the files of a table in the order of their names.
func find(t Table, dir string) ([]file, error) {
	pattern := t.Path
	if !filepath.IsAbs(pattern) {
		// The folder of the spec is no part of the pattern.
		pattern = filepath.Join(literal(dir), pattern)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var out []file
	for _, p := range paths {
		f, err := stat(p)
		if err != nil {
			return nil, err
		}
		if f.name = p; !filepath.IsAbs(t.Path) {
			if rel, err := filepath.Rel(dir, p); err == nil {
				f.name = rel
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// literal is a path as a pattern that matches nothing else. Windows has no
// escapes in patterns, and no stars in names.
func literal(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func stat(path string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	return fileOf(path, info)
}

func fileOf(path string, info os.FileInfo) (file, error) {
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is no plain file: it can't be read twice alike", path)
	}
	return file{path: path, size: info.Size(), mtime: info.ModTime().UnixNano(), inode: inode(info)}, nil
}

// same reports whether f is still the file that it was.
func (f file) same(info os.FileInfo) bool {
	now, err := fileOf(f.path, info)
	now.name = f.name
	return err == nil && now == f
}

// input is an open file: its text from some byte on, in the bytes that the
// layout cuts.
type input struct {
	file
	os   *os.File
	zstd *zstd.Decoder
}

// open opens a file for reading from byte off to byte end (-1: to its end) of
// what is stored in it.
func (l *layout) open(f file, off, end int64, w *window) (*input, error) {
	fd, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	in := &input{file: f, os: fd}
	if err := in.begin(l, off, end, w); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) begin(l *layout, off, end int64, w *window) error {
	if err := in.unchanged(); err != nil {
		return err
	}
	if l.Compression == "none" && off == 0 {
		if err := in.looksPlain(); err != nil {
			return err
		}
	}
	if _, err := in.os.Seek(off, io.SeekStart); err != nil {
		return err
	}
	var r io.Reader = in.os
	if end >= 0 {
		r = io.LimitReader(r, end-off)
	}
	var err error
	switch l.Compression {
	case "gzip":
		if r, err = gzip.NewReader(r); errors.Is(err, io.EOF) {
			r, err = bytes.NewReader(nil), nil // no byte at all is an empty file
		}
	case "zstd":
		in.zstd, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		r = in.zstd
	}
	if err != nil {
		return fmt.Errorf("it is no file in %s: %w", l.Compression, err)
	}
	if l.Compression != "none" {
		r = decompressed{r, l.Compression}
	}
	if strings.HasPrefix(l.Encoding, "utf-16") {
		r = newUTF16(r, l.Encoding)
	}
	w.reset(r)
	if off > 0 || l.Encoding != "utf-8" {
		return nil
	}
	for !w.eof && w.to-w.from < len(mark) {
		if err := w.more(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(w.data(), mark) {
		w.from += len(mark)
	}
	return nil
}

// decompressed says of an error what was being read.
type decompressed struct {
	io.Reader
	kind string
}

func (d decompressed) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &brokenError{d.kind, err}
	}
	return n, err
}

// brokenError is of compressed data. It does not unwrap: io.ErrUnexpectedEOF
// in it must not be taken for the end of the file.
type brokenError struct {
	kind string
	err  error
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("its data in %s is broken or cut short: %v", e.kind, e.err)
}

var mark = []byte("\xef\xbb\xbf") // the byte order mark in utf-8

// looksPlain refuses what is surely compressed: read as text it would be one
// bad row a line.
func (in *input) looksPlain() error {
	head := make([]byte, 4)
	n, err := io.ReadFull(in.os, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	for kind, magic := range map[string]string{"gzip": "\x1f\x8b", "zstd": "\x28\xb5\x2f\xfd"} {
		if strings.HasPrefix(string(head[:n]), magic) {
			return &connectors.Error{Class: connectors.Fatal, Err: fmt.Errorf("%s is compressed", in.name), Hint: fmt.Sprintf("Write compression = %q.", kind)}
		}
	}
	return nil
}

// errChanged is of a file that is not the one it was.
var errChanged = errors.New("the file has changed since it was first looked at")

func (in *input) unchanged() error {
	info, err := in.os.Stat()
	if err != nil {
		return err
	}
	if !in.same(info) {
		return errChanged
	}
	return nil
}

func (in *input) close() {
	if in.zstd != nil {
		in.zstd.Close()
	}
	_ = in.os.Close() // only read from
}
