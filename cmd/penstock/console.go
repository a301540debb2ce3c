package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"penstock/internal/secret"

	"github.com/mattn/go-runewidth"
)

// console is the terminal that bars are drawn on, for mpb. It always draws from
// the first column of a cleared line: a terminal echoes ^C where the last frame
// left the cursor, and a frame drawn from there would leave halves of the old
// one. It counts the rows to go up by today's width, since a terminal that was
// made narrower has wrapped the old frame. Secrets never reach it.
type console struct {
	w    io.Writer
	size func() (width, height int)
	buf  bytes.Buffer
	last []int // widths of the lines that the next frame replaces
}

func (c *console) Write(p []byte) (int, error) { return c.buf.Write(p) }

func (c *console) ReadFrom(r io.Reader) (int64, error) { return c.buf.ReadFrom(r) }

// IsTerminal is true: the caller knows.
func (c *console) IsTerminal() bool { return true }

func (c *console) GetTermSize() (width, height int, err error) {
	width, height = c.size()
	return width, height, nil
}

// Flush writes what was gathered. Its last lines, as many as said, are a frame:
// the next one takes their place.
func (c *console) Flush(lines int) error {
	width, _ := c.size()
	up := 0
	for _, n := range c.last {
		up += max(1, (n+width-1)/width)
	}
	head := "\r"
	if up > 0 {
		head += fmt.Sprintf("\x1b[%dA", up)
	}
	text := secret.Scrub(c.buf.String())
	c.buf.Reset()
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	c.last = c.last[:0]
	for _, l := range all[max(0, len(all)-lines):] {
		c.last = append(c.last, runewidth.StringWidth(l))
	}
	_, err := io.WriteString(c.w, head+"\x1b[J"+text)
	return err
}
