// Package secret holds references to secrets, the strings they resolve to, and
// a scrubber that keeps those strings out of everything that is printed.
package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Ref says where a secret is: in an environment variable, in a file, or in a
// sensitive variable of the spec. The zero value is no secret. It is what a
// plan keeps; it holds no secret itself.
type Ref struct {
	Env  string `json:"env,omitempty"`
	File string `json:"file,omitempty"` // as written; relative to the spec's folder
	Var  string `json:"var,omitempty"`
}

// IsZero reports whether there is no secret.
func (r Ref) IsZero() bool { return r == Ref{} }

func (r Ref) String() string {
	switch {
	case r.Env != "":
		return fmt.Sprintf("env(%q)", r.Env)
	case r.File != "":
		return fmt.Sprintf("file(%q)", r.File)
	case r.Var != "":
		return "var." + r.Var
	}
	return "none"
}

// String is a secret that never prints itself: every format verb and JSON give
// asterisks. Reveal is the only way to the text.
type String struct{ s string }

// New wraps a text and registers it with the scrubber.
func New(s string) String { known.add(s); return String{s} }

// Reveal returns the text, for the driver that needs it.
func (s String) Reveal() string { return s.s }

const hidden = "********"

func (s String) String() string               { return hidden }
func (s String) GoString() string             { return hidden }
func (s String) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(hidden)) }
func (s String) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }
func (s String) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Resolver turns references into secrets.
type Resolver struct {
	Env  func(name string) (string, bool) // os.LookupEnv
	Open func(path string) ([]byte, error)
	Vars func(name string) (string, bool) // values of sensitive variables
}

// Resolve returns the secret, or says where it was looked for.
func (r Resolver) Resolve(ref Ref) (String, error) {
	switch {
	case ref.Env != "":
		v, ok := r.Env(ref.Env)
		if !ok {
			return String{}, fmt.Errorf("environment variable %s is not set", ref.Env)
		}
		return New(v), nil
	case ref.File != "":
		open := r.Open
		if open == nil {
			open = os.ReadFile
		}
		b, err := open(ref.File)
		if err != nil {
			return String{}, fmt.Errorf("secret file: %w", err)
		}
		return New(strings.TrimRight(string(b), "\r\n")), nil
	case ref.Var != "":
		v, ok := r.Vars(ref.Var)
		if !ok {
			return String{}, fmt.Errorf("variable %s has no value: set PENSTOCK_VAR_%s, --var or --var-file", ref.Var, ref.Var)
		}
		return New(v), nil
	}
	return String{}, nil
}

// known is every secret of this process. It is the one package-level state of
// the program: a secret must be scrubbed wherever it surfaces, whoever prints.
var known scrubber

type scrubber struct {
	mu   sync.RWMutex
	list []string
}

// minScrub keeps a one-letter password from blanking every text.
const minScrub = 4

func (s *scrubber) add(v string) {
	if len(v) < minScrub {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.list, v) {
		return
	}
	for _, f := range forms(v) {
		if len(f) >= minScrub && !slices.Contains(s.list, f) {
			s.list = append(s.list, f)
		}
	}
	// What holds another one goes first, or its rest would stay.
	slices.SortStableFunc(s.list, func(a, b string) int { return len(b) - len(a) })
}

// forms are a secret as what we write would have it: in JSON, HTML, an address,
// and as Go quotes a text.
func forms(v string) []string {
	out := []string{v, html.EscapeString(v), url.QueryEscape(v), url.PathEscape(v), strings.Trim(strconv.Quote(v), `"`)}
	for _, escapeHTML := range []bool{false, true} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escapeHTML)
		if enc.Encode(v) == nil {
			out = append(out, strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`))
		}
	}
	return out
}

// Scrub replaces every known secret in text by asterisks.
func Scrub(text string) string {
	known.mu.RLock()
	defer known.mu.RUnlock()
	for _, k := range known.list {
		text = strings.ReplaceAll(text, k, hidden)
	}
	return text
}

// ScrubBytes is Scrub of bytes, which it gives back as they are where nothing of
// a secret is in them.
func ScrubBytes(b []byte) []byte {
	known.mu.RLock()
	defer known.mu.RUnlock()
	for _, k := range known.list {
		if bytes.Contains(b, []byte(k)) {
			b = bytes.ReplaceAll(b, []byte(k), []byte(hidden))
		}
	}
	return b
}
