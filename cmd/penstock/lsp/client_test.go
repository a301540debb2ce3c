package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"penstock/connectors/all"
	"penstock/lang"
	"penstock/planner"
)

// client is an editor: it speaks the protocol's bytes over pipes, by code of its
// own.
type client struct {
	t      testing.TB
	to     io.WriteCloser
	msgs   chan message
	served chan error
	id     int
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

func start(t testing.TB) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, to: inW, msgs: make(chan message, 1000), served: make(chan error, 1)}
	reg := all.Registry()
	go func() {
		err := Serve(t.Context(), inR, outW, Options{Registry: reg, Lang: lang.Options{Connectors: planner.Connectors(reg)}})
		_ = inR.Close()
		_ = outW.Close()
		c.served <- err
	}()
	go c.read(bufio.NewReader(outR))
	t.Cleanup(func() { _ = inW.Close() })
	return c
}

func (c *client) read(r *bufio.Reader) {
	defer close(c.msgs)
	for {
		n := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				n, _ = strconv.Atoi(v)
			}
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(b, &m); err != nil {
			return
		}
		c.msgs <- m
	}
}

func (c *client) send(v map[string]any) {
	c.t.Helper()
	v["jsonrpc"] = "2.0"
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(b), b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"method": method, "params": params})
}

// wait is the next message that fits.
func (c *client) wait(what string, fits func(message) bool) message {
	c.t.Helper()
	limit := time.After(60 * time.Second)
	for {
		select {
		case m, ok := <-c.msgs:
			if !ok {
				c.t.Fatalf("the server ended while the client waited for %s", what)
			}
			if fits(m) {
				return m
			}
		case <-limit:
			c.t.Fatalf("no %s came", what)
		}
	}
}

// call sends a request and decodes its answer.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	c.id++
	id := c.id
	c.send(map[string]any{"id": id, "method": method, "params": params})
	m := c.wait("answer to "+method, func(m message) bool { return m.ID != nil && *m.ID == id && m.Method == "" })
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}

// change makes a document read so, and returns what is published of it.
func (c *client) change(method, path, src string) []diagnostic {
	c.t.Helper()
	doc := map[string]any{"uri": uriOf(path), "text": src, "languageId": "hcl", "version": 1}
	params := map[string]any{"textDocument": doc}
	if method == "textDocument/didChange" {
		params["contentChanges"] = []map[string]any{{"text": src}}
	}
	c.notify(method, params)
	m := c.wait("diagnostics", func(m message) bool {
		return m.Method == "textDocument/publishDiagnostics" && strings.Contains(string(m.Params), strconv.Quote(uriOf(path)))
	})
	var p publishDiagnostics
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.t.Fatal(err)
	}
	return p.Diagnostics
}

func (c *client) open(path, src string) []diagnostic {
	c.t.Helper()
	return c.change("textDocument/didOpen", path, src)
}

// ask sends a request about the place of | in src.
func (c *client) ask(method, path, src string, result any) {
	c.t.Helper()
	i := strings.Index(src, "|")
	if i < 0 {
		c.t.Fatalf("no | in %q", src)
	}
	clean := src[:i] + src[i+1:]
	c.change("textDocument/didChange", path, clean)
	c.call(method, map[string]any{"textDocument": map[string]any{"uri": uriOf(path)}, "position": newText(clean).position(i)}, result)
}

func (c *client) labels(path, src string) []string {
	c.t.Helper()
	var items []completionItem
	c.ask("textDocument/completion", path, src, &items)
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.Label
	}
	return out
}

// example copies an example's folder and returns the path and text of its spec.
func example(t testing.TB, name, ext string) (path, src string) {
	t.Helper()
	from := filepath.Join("../../../examples", name)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name+ext)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}
