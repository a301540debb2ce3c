package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// SARIFOptions say what a SARIF log is about.
type SARIFOptions struct {
	Version string              // of this program
	Files   map[string][]byte   // as for Write
	Path    func(string) string // a file's path, relative to the repository where it is in it
	// Failure is what kept the command from looking at a spec: a mistaken
	// command line, a missing file.
	Failure string
}

// SARIF is a list as a log in the Static Analysis Results Interchange Format,
// version 2.1.0. Rules are those that it breaks.
func SARIF(l List, o SARIFOptions) ([]byte, error) {
	s := &sarif{SARIFOptions: o, prints: map[string]map[int]string{}}
	run := sarifRun{
		ColumnKind: "utf16CodeUnits",
		Tool:       sarifTool{sarifDriver{Name: "penstock", Version: o.Version, Rules: []sarifRule{}}},
		Bases:      map[string]sarifBase{sourceRoot: {sarifText{"The folder of the repository, which relative paths are relative to."}}},
		Invocations: []sarifInvocation{{
			Successful: o.Failure == "",
		}},
		Results: []sarifResult{},
	}
	if o.Failure != "" {
		run.Invocations[0].Notifications = []sarifNotification{{Level: "error", Message: sarifText{clean(o.Failure)}}}
	}
	docs := Codes()
	var codes []Code
	l = l.Sorted()
	for _, d := range l {
		codes = append(codes, d.Code)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	for _, c := range codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule(c, docs))
	}
	for _, d := range l {
		i, _ := slices.BinarySearch(codes, d.Code)
		run.Results = append(run.Results, s.result(d, i))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
	return b.Bytes(), err
}

// sourceRoot is the name that SARIF's readers know the repository's folder by.
const sourceRoot = "%SRCROOT%"

type sarif struct {
	SARIFOptions
	prints map[string]map[int]string // by file: fingerprints by line
}

func rule(c Code, docs []Doc) sarifRule {
	r := sarifRule{ID: string(c)}
	i := slices.IndexFunc(docs, func(d Doc) bool { return d.Code == c })
	if i < 0 {
		return r
	}
	d := docs[i]
	text, md := d.Meaning, d.Meaning
	for _, example := range []struct{ title, code string }{{"This gives it:", d.Bad}, {"Mended:", d.Good}} {
		if example.code == "" {
			continue
		}
		code := strings.TrimRight(example.code, "\n")
		text += "\n\n" + example.title + "\n\n" + code
		md += "\n\n" + example.title + "\n\n```\n" + code + "\n```"
	}
	r.Short, r.Full = &sarifText{d.Title}, &sarifText{d.Meaning}
	r.Help = &sarifHelp{text, md}
	return r
}

func (s *sarif) result(d Diagnostic, rule int) sarifResult {
	text := clean(d.Summary)
	if help := d.help(); help != "" {
		text += ". " + help
	}
	r := sarifResult{RuleID: string(d.Code), RuleIndex: rule, Level: d.Severity.String(), Message: sarifText{text},
		Locations: []sarifLocation{{Physical: s.place(d.Subject, true)}}}
	for i, x := range d.Related {
		r.Related = append(r.Related, sarifLocation{ID: i + 1, Physical: s.place(x.Range, false), Message: &sarifText{clean(x.Message)}})
	}
	for _, f := range d.Fixes {
		at, ok := regionOf(s.Files[f.Range.Filename], f.Range)
		if !ok {
			continue
		}
		r.Fixes = append(r.Fixes, sarifFix{sarifText{clean(f.text())}, []sarifChange{{
			Artifact: s.artifact(f.Range.Filename),
			Replacements: []sarifReplacement{{
				Deleted: sarifRegion{at.line, at.column, at.endLine, at.endColumn, nil}, Inserted: sarifText{f.NewText},
			}},
		}}})
	}
	if print := s.fingerprint(d.Subject); print != "" {
		r.Fingerprints = map[string]string{"primaryLocationLineHash": print}
	}
	return r
}

func (s *sarif) place(r hcl.Range, withText bool) sarifPhysical {
	p := sarifPhysical{Artifact: s.artifact(r.Filename)}
	src := s.Files[r.Filename]
	at, ok := regionOf(src, r)
	if !ok {
		return p
	}
	p.Region = &sarifRegion{at.line, at.column, at.endLine, at.endColumn, nil}
	if text := src[r.Start.Byte:r.End.Byte]; withText && len(text) > 0 && len(text) <= maxSnippet {
		p.Region.Snippet = &sarifText{string(bytes.ToValidUTF8(text, []byte("\ufffd")))}
	}
	return p
}

func (s *sarif) artifact(name string) sarifArtifact {
	u := uri(s.Path(name))
	if strings.HasPrefix(u, "file:") {
		return sarifArtifact{URI: u}
	}
	return sarifArtifact{URI: u, Base: sourceRoot}
}

// fingerprint is that of the line a range begins in, "" where it has none.
func (s *sarif) fingerprint(r hcl.Range) string {
	src := s.Files[r.Filename]
	at, ok := regionOf(src, r)
	if !ok {
		return ""
	}
	if s.prints[r.Filename] == nil {
		s.prints[r.Filename] = lineFingerprints(src)
	}
	return s.prints[r.Filename][at.line]
}

// lineFingerprints gives each line of a file (from 1) the fingerprint by which
// GitHub tells a finding again after lines moved: a polynomial hash, base 37
// modulo 2^64, of the 100 characters from the line's start on, blanks left out,
// and how often this hash has come. It has to be the very one that GitHub
// reckons with, or a finding is doubled.
func lineFingerprints(src []byte) map[int]string {
	const span, base = 100, 37
	// The file's UTF-16 code units without blanks, every line ended by \n alone,
	// a mark at its end, and as many zeros as the last line's hash reaches over.
	var units []uint64
	var starts []int // index in units of each line's first one
	begin := true
	text := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r", "\n")
	add := func(u uint64) {
		if begin {
			starts = append(starts, len(units))
		}
		units, begin = append(units, u), u == '\n'
	}
	for _, r := range text {
		switch {
		case r == ' ' || r == '\t':
		case r > 0xffff:
			add(uint64(0xd800 + (r-0x10000)>>10))
			add(uint64(0xdc00 + (r-0x10000)&0x3ff))
		default:
			add(uint64(r))
		}
	}
	add(0xffff)
	units = append(units, make([]uint64, span)...)
	out, seen := map[int]string{}, map[uint64]int{}
	for i, at := range starts {
		var h uint64
		for _, u := range units[at : at+span] {
			h = h*base + u
		}
		seen[h]++
		out[i+1] = fmt.Sprintf("%x:%d", h, seen[h])
	}
	return out
}
