package diag

import (
	"bytes"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Record is a diagnostic in JSON. Lines and columns count from 1, columns in
// user-perceived characters; bytes and highlights count from 0.
type Record struct {
	Code     Code            `json:"code"`
	Severity string          `json:"severity"`
	Summary  string          `json:"summary"`
	Detail   string          `json:"detail"`
	Range    Span            `json:"range"`
	Snippet  *Snippet        `json:"snippet,omitempty"`
	Related  []RelatedRecord `json:"related,omitempty"`
	Fixes    []EditRecord    `json:"fixes,omitempty"`
	Mend     []string        `json:"mend,omitempty"` // statements or commands that mend it at an endpoint, as they are to be run
}

// Span is a range of a file.
type Span struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// Pos is a place in a file.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Snippet is the lines that a range covers; Code[HighlightStart:HighlightEnd]
// is what is meant. Of very long lines it is the part around that.
type Snippet struct {
	Code           string `json:"code"`
	StartLine      int    `json:"start_line"`
	HighlightStart int    `json:"highlight_start"`
	HighlightEnd   int    `json:"highlight_end"`
}

// RelatedRecord is another place that takes part.
type RelatedRecord struct {
	Message string `json:"message"`
	Range   Span   `json:"range"`
}

// EditRecord replaces a range by a text.
type EditRecord struct {
	Title   string `json:"title"`
	Range   Span   `json:"range"`
	NewText string `json:"new_text"`
}

// Records is the JSON form of a list: all of it, sorted. It is never nil, so
// that an empty list is [].
func (l List) Records(files map[string][]byte) []Record {
	out := []Record{}
	for _, d := range l.Sorted() {
		r := Record{Code: d.Code, Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail,
			Range: span(d.Subject), Snippet: snippet(files[d.Subject.Filename], d.Subject), Mend: d.Mend}
		for _, x := range d.Related {
			r.Related = append(r.Related, RelatedRecord{x.Message, span(x.Range)})
		}
		for _, f := range d.Fixes {
			r.Fixes = append(r.Fixes, EditRecord{f.Title, span(f.Range), f.NewText})
		}
		out = append(out, r)
	}
	return out
}

func span(r hcl.Range) Span {
	pos := func(p hcl.Pos) Pos { return Pos{p.Line, p.Column, p.Byte} }
	return Span{r.Filename, pos(r.Start), pos(r.End)}
}

// maxSnippet bounds a snippet to either side of what is meant, and that too.
const maxSnippet = 1000

func snippet(src []byte, r hcl.Range) *Snippet {
	a, b := r.Start.Byte, r.End.Byte
	if len(src) == 0 || a < 0 || a > b || b > len(src) {
		return nil
	}
	b = boundary(src, min(b, a+maxSnippet))
	from := boundary(src, max(bytes.LastIndexByte(src[:a], '\n')+1, a-maxSnippet))
	to := len(src)
	if i := bytes.IndexByte(src[b:], '\n'); i >= 0 {
		to = b + i
	}
	to = max(boundary(src, min(to, b+maxSnippet)), b)
	return &Snippet{Code: string(src[from:to]), StartLine: 1 + bytes.Count(src[:from], []byte("\n")), HighlightStart: a - from, HighlightEnd: b - from}
}

// boundary moves a place that was cut back to the start of a character.
func boundary(src []byte, i int) int {
	for k := 0; k < utf8.UTFMax && i > 0 && i < len(src) && !utf8.RuneStart(src[i]); k++ {
		i--
	}
	return i
}
