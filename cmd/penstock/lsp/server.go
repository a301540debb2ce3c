// Package lsp tells editors, by the Language Server Protocol, what is wrong with
// a spec, what may stand where, and what it means.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/internal/secret"
	"penstock/lang"
	"penstock/planner"

	"github.com/sourcegraph/jsonrpc2"
)

// Options are what specs are read with.
type Options struct {
	Registry *connectors.Registry
	Lang     lang.Options // Connectors are those of the registry
	Version  string
}

// ErrNoShutdown is the error of a client that went away without a farewell.
var ErrNoShutdown = errors.New("the editor ended without asking for it")

// Serve answers a client until it says exit or goes away. It connects nowhere.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{options: o, grammar: lang.Grammar(o.Lang.Connectors), open: map[string]text{}, found: map[string][]finding{}, last: map[string]*lang.Spec{}, done: make(chan struct{})}
	stream := jsonrpc2.NewBufferedStream(pipe{in, out}, jsonrpc2.VSCodeObjectCodec{})
	conn := jsonrpc2.NewConn(ctx, stream, jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(quiet{}))
	select {
	case <-conn.DisconnectNotify():
	case <-s.done:
		// The other end may be gone already.
		_ = conn.Close()
	case <-ctx.Done():
		_ = conn.Close()
		return ctx.Err()
	}
	if !s.farewell() {
		return ErrNoShutdown
	}
	return nil
}

// pipe is the two ends as one stream. Closing it is the caller's.
type pipe struct {
	io.Reader
	io.Writer
}

func (pipe) Close() error { return nil }

// quiet takes the library's log: standard error is the editor's.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// finding is a diagnostic with the edits that mend it.
type finding struct {
	shown diagnostic
	fixes []codeAction
}

type server struct {
	options Options
	grammar *lang.Block

	mu    sync.Mutex // messages come one by one, and Serve asks at the end
	open  map[string]text
	found map[string][]finding  // by path
	last  map[string]*lang.Spec // by folder or file: the newest that could be read whole
	bye   bool
	done  chan struct{}
	once  sync.Once
}

func (s *server) farewell() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bye
}

// handle answers one message. What goes wrong inside is an error of that
// request alone: an editor's session outlives a fault of ours. The library writes
// those of notifications to the process's standard error by itself, which nothing
// scrubs.
func (s *server) handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (result any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: secret.Scrub(fmt.Sprintf("%s: %v", req.Method, r))}
		}
	}()
	switch req.Method {
	case "initialize":
		return map[string]any{
			"capabilities": map[string]any{
				"textDocumentSync":   map[string]any{"openClose": true, "change": 1, "save": map[string]any{}},
				"completionProvider": map[string]any{"triggerCharacters": []string{`"`, ".", " "}},
				"hoverProvider":      true,
				"codeActionProvider": map[string]any{"codeActionKinds": []string{"quickfix"}},
				"positionEncoding":   "utf-16",
			},
			"serverInfo": map[string]any{"name": "penstock", "version": s.options.Version},
		}, nil
	case "shutdown":
		s.bye = true
		return nil, nil
	case "exit":
		s.once.Do(func() { close(s.done) })
		return nil, nil
	case "textDocument/didOpen":
		p, err := params[didOpen](req)
		if err == nil {
			s.set(ctx, conn, p.TextDocument.URI, p.TextDocument.Text)
		}
		return nil, err
	case "textDocument/didChange":
		p, err := params[didChange](req)
		if n := len(p.ContentChanges); err == nil && n > 0 {
			s.set(ctx, conn, p.TextDocument.URI, p.ContentChanges[n-1].Text)
		}
		return nil, err
	case "textDocument/didSave":
		p, err := params[didOpen](req)
		if err == nil {
			s.check(ctx, conn, pathOf(p.TextDocument.URI))
		}
		return nil, err
	case "textDocument/didClose":
		p, err := params[didOpen](req)
		if err == nil {
			path := pathOf(p.TextDocument.URI)
			delete(s.open, path)
			delete(s.found, path)
			publish(ctx, conn, p.TextDocument.URI, nil)
		}
		return nil, err
	case "textDocument/codeAction":
		p, err := params[codeActionParams](req)
		if err != nil {
			return nil, err
		}
		return s.actions(p), nil
	case "textDocument/completion":
		p, err := params[at](req)
		if err != nil {
			return nil, err
		}
		return s.complete(ctx, pathOf(p.TextDocument.URI), p.Position), nil
	case "textDocument/hover":
		p, err := params[at](req)
		if err != nil {
			return nil, err
		}
		if h := s.hover(ctx, pathOf(p.TextDocument.URI), p.Position); h != nil {
			return h, nil
		}
		return nil, nil
	}
	if req.Notif {
		return nil, nil // initialized, $/cancelRequest and what else nobody waits for
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: req.Method + " is not offered"}
}

func params[T any](req *jsonrpc2.Request) (p T, err error) {
	if req.Params == nil {
		return p, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: req.Method + " lacks its params"}
	}
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		return p, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return p, nil
}

func (s *server) set(ctx context.Context, conn *jsonrpc2.Conn, uri, src string) {
	path := pathOf(uri)
	s.open[path] = newText(src)
	s.check(ctx, conn, path)
}

// files are the files of the spec that a file belongs to: itself where it says
// which language it is in, else those of its folder, as `penstock plan FOLDER`
// reads them. What is open beats what is on disk.
func (s *server) files(path string) map[string][]byte {
	own := map[string][]byte{path: []byte(s.open[path].s)}
	spec, _ := lang.Parse(own, filepath.Dir(path), s.options.Lang)
	if spec.HasVersion() {
		return own
	}
	paths, err := lang.Files(filepath.Dir(path), s.options.Lang.VarFiles)
	if err != nil {
		return own
	}
	for _, p := range paths {
		if t, ok := s.open[p]; ok {
			own[p] = []byte(t.s)
		} else if b, err := os.ReadFile(p); err == nil {
			own[p] = b
		}
	}
	return own
}

// check compiles a file's spec, offline, and publishes what is found in each of
// its files that is open.
func (s *server) check(ctx context.Context, conn *jsonrpc2.Conn, path string) {
	if _, ok := s.open[path]; !ok {
		return
	}
	files := s.files(path)
	spec, l := lang.Parse(files, filepath.Dir(path), s.options.Lang)
	_, more := planner.Compile(ctx, spec, s.options.Registry, planner.Options{})
	l = append(l, more.Apart(l)...).Sorted()
	if !spec.Partial || s.last[path] == nil {
		s.last[path] = spec
	}
	for p := range files {
		if t, ok := s.open[p]; ok {
			s.found[p] = s.findings(p, t, files, l)
			publish(ctx, conn, uriOf(p), s.found[p])
		}
	}
}

func publish(ctx context.Context, conn *jsonrpc2.Conn, uri string, found []finding) {
	out := publishDiagnostics{URI: uri, Diagnostics: []diagnostic{}}
	for _, f := range found {
		out.Diagnostics = append(out.Diagnostics, f.shown)
	}
	// A client that is gone hears nothing more; its connection says so.
	_ = conn.Notify(ctx, "textDocument/publishDiagnostics", out)
}

// findings are the diagnostics of one file.
func (s *server) findings(path string, t text, files map[string][]byte, l diag.List) []finding {
	var out []finding
	for _, d := range l {
		if d.Subject.Filename != path {
			continue
		}
		f := finding{shown: diagnostic{Range: t.span(d.Subject.Start.Byte, d.Subject.End.Byte), Severity: 1 + int(d.Severity), Code: string(d.Code), Source: "penstock", Message: d.Summary + "\n" + d.Detail}}
		for _, r := range d.Related {
			if b, ok := files[r.Range.Filename]; ok {
				at := newText(string(b)).span(r.Range.Start.Byte, r.Range.End.Byte)
				f.shown.Related = append(f.shown.Related, related{location{uriOf(r.Range.Filename), at}, r.Message})
			}
		}
		for _, e := range d.Fixes {
			if e.Range.Filename == path {
				edit := textEdit{t.span(e.Range.Start.Byte, e.Range.End.Byte), e.NewText}
				f.fixes = append(f.fixes, codeAction{Title: e.Title, Kind: "quickfix", Diagnostics: []diagnostic{f.shown}, Edit: workspaceEdit{map[string][]textEdit{uriOf(path): {edit}}}})
			}
		}
		out = append(out, f)
	}
	return out
}

// actions are the edits that mend what is wrong in a range.
func (s *server) actions(p codeActionParams) []codeAction {
	path := pathOf(p.TextDocument.URI)
	t := s.open[path]
	from, to := t.offset(p.Range.Start), t.offset(p.Range.End)
	out := []codeAction{}
	for _, f := range s.found[path] {
		if t.offset(f.shown.Range.Start) <= to && from <= t.offset(f.shown.Range.End) {
			out = append(out, f.fixes...)
		}
	}
	return out
}
