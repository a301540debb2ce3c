package lang

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"penstock/internal/diag"

	"github.com/hashicorp/hcl/v2"
)

// What is shown of a spec, in snippets above all, is a copy in which secrets
// are asterisks, byte for byte, so that positions hold. Settings that are known
// as secrets are masked when they are decoded. This pattern masks by name what
// a syntax error keeps from being decoded, and misspelt names.
var secretLine = regexp.MustCompile(`(?im)(?:^|[{,])[ \t]*["']?[\w-]*(?:pass?w|pwd|passphrase|secret|token|credential|private_key|api_key)[\w-]*["']?[ \t]*[:=][ \t]*` +
	`("(?:[^"\\\n]|\\.)*"?|'(?:[^'\n]|'')*'?|[^\s=,}#'"][^,}#\n]*)`)

// secretURL is a password inside an address, with a scheme or, where a value
// begins, without one.
var secretURL = regexp.MustCompile(`(?:://|^|["'\s])[^/@:\s"']+:([^/@\s"'$]+)@`)

var reference = regexp.MustCompile(`^["']?(?:(?:env|file)\s*\(|var\.|local\.|\$\{|[|>{\[]|true\b|false\b|null\b)`)

// secretWords are looked for before the patterns are tried, which are slow.
var secretWords = [][]byte{[]byte("passw"), []byte("pasw"), []byte("pwd"), []byte("passphrase"), []byte("secret"), []byte("token"), []byte("credential"), []byte("private_key"), []byte("api_key"), []byte("@")}

// masked copies a file with what looks like a secret replaced.
func masked(src []byte) []byte {
	out := bytes.Clone(src)
	at := 0
	for line := range bytes.Lines(src) {
		lower := bytes.ToLower(line)
		if slices.ContainsFunc(secretWords, func(w []byte) bool { return bytes.Contains(lower, w) }) {
			for _, m := range secretLine.FindAllSubmatchIndex(line, -1) {
				if v := line[m[2]:m[3]]; !reference.Match(v) {
					hide(out, at+m[2], at+m[3])
				}
			}
			for _, m := range secretURL.FindAllSubmatchIndex(line, -1) {
				hide(out, at+m[2], at+m[3])
			}
		}
		at += len(line)
	}
	return out
}

// mask hides a range of what is shown.
func (s *scope) mask(r hcl.Range) {
	if b := s.masked[r.Filename]; r.End.Byte <= len(b) {
		hide(b, r.Start.Byte, r.End.Byte)
	}
}

// hideValues shows a variable file by its names alone. Which of its values are
// secrets is known only once it is read, and it may not be readable.
func (s *scope) hideValues(name string) {
	b, at := s.masked[name], 0
	for line := range bytes.Lines(s.sources[name].buf) {
		value := 0 // a line without a name goes on with a value
		if i := bytes.IndexAny(line, "=:"); i >= 0 {
			value = i + 1
		}
		hide(b, at+value, at+len(line))
		for _, w := range hiddenWord.FindAll(line[value:], -1) {
			s.hidden = append(s.hidden, hiddenText{name, string(w)})
		}
		at += len(line)
	}
}

// hiddenText is a word of a file that is not shown.
type hiddenText struct{ file, word string }

// hiddenWord is what a message could repeat of a value. Shorter words are in
// any sentence.
var hiddenWord = regexp.MustCompile(`[^\s"'=:,\[\]{}()*&!|<>]{3,}`)

// scrub keeps what is masked out of words and edits too: a diagnostic about
// bytes that are not shown doesn't repeat them.
func (s *scope) scrub(d *diag.Diagnostic) {
	at := d.Subject
	for _, h := range s.hidden {
		if h.file == at.Filename && (strings.Contains(d.Summary, h.word) || strings.Contains(d.Detail, h.word)) {
			d.Fixes = nil
			d.Summary = strings.ReplaceAll(d.Summary, h.word, "***")
			d.Detail = strings.ReplaceAll(d.Detail, h.word, "***")
		}
	}
	src, shown := s.sources[at.Filename], s.masked[at.Filename]
	if src == nil || at.Empty() || at.End.Byte > len(shown) || bytes.Equal(src.buf[at.Start.Byte:at.End.Byte], shown[at.Start.Byte:at.End.Byte]) {
		return
	}
	d.Fixes = nil
	if text := string(src.buf[at.Start.Byte:at.End.Byte]); d.Code != diag.PlainSecret { // its words never hold the value
		d.Summary = strings.ReplaceAll(d.Summary, text, "***")
		d.Detail = strings.ReplaceAll(d.Detail, text, "***")
	}
}

func hide(b []byte, from, to int) {
	for i := from; i < to; i++ {
		switch b[i] {
		case '\n', '\r', '"', '\'':
		default:
			b[i] = '*'
		}
	}
}
