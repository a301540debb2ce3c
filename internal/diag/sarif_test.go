package diag

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// Vectors that GitHub's own fingerprints are tested with.
func TestLineFingerprintsAreGitHubs(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"", []string{"c129715d7a2bc9a3:1"}},
		{"    a\nb\n  \t\tc\n d", []string{"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"}},
		{"    a\r\nb\r  \t\tc\n d", []string{"271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"}},
	} {
		got := lineFingerprints([]byte(c.src))
		for i, w := range c.want {
			if got[i+1] != w {
				t.Errorf("%q: line %d: got %s, want %s", c.src, i+1, got[i+1], w)
			}
		}
	}
	if got := lineFingerprints([]byte(strings.Repeat("same\n", 300))); got[1] == got[2] || strings.Split(got[1], ":")[0] != strings.Split(got[2], ":")[0] {
		t.Errorf("equal lines have %s and %s: want one hash, counted", got[1], got[2])
	}
}

func TestSARIFHasWhatTheStandardAsksFor(t *testing.T) {
	const file = "pipe lines/ü#1?.hcl"
	src := "x = 1\r\ny = \"𝒳é\" + bad\nz = [\n1]\n"
	l := List{
		{Code: UnknownSetting, Summary: "Unknown setting", Detail: "Write <good>.", Subject: rangeIn(t, file, src, "bad"),
			Related: []Related{{Message: "the other", Range: rangeIn(t, file, src, "x")}},
			Fixes:   []Edit{{Title: "write good", NewText: "good\n", Range: rangeIn(t, file, src, "bad")}, {Title: "elsewhere", Range: hcl.Range{Filename: "gone.hcl"}}}},
		{Code: UnknownBlock, Severity: Warning, Summary: "Unknown block", Subject: rangeIn(t, file, src, "[\n1]")},
		{Code: CannotRead, Summary: "Spec can't be read", Subject: hcl.Range{Filename: "/abs/gone.hcl", Start: hcl.InitialPos, End: hcl.InitialPos}},
		{Code: UnknownSetting, Summary: "Unknown setting", Subject: rangeIn(t, file, src, "y")},
	}
	b, err := SARIF(l, SARIFOptions{Version: "v1", Files: map[string][]byte{file: []byte(src)}, Path: same})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "Write <good>.") {
		t.Errorf("HTML escapes in\n%s", b)
	}
	var log map[string]any
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"version":                                              "2.1.0",
		"runs.0.columnKind":                                    "utf16CodeUnits",
		"runs.0.tool.driver.name":                              "penstock",
		"runs.0.tool.driver.version":                           "v1",
		"runs.0.tool.driver.rules.0.id":                        "PEN0001",
		"runs.0.tool.driver.rules.1.id":                        "PEN0101",
		"runs.0.tool.driver.rules.2.id":                        "PEN0102",
		"runs.0.tool.driver.rules.3":                           nil, // each once
		"runs.0.invocations.0.executionSuccessful":             true,
		"runs.0.originalUriBaseIds.%SRCROOT%.description.text": "The folder of the repository, which relative paths are relative to.",

		"runs.0.results.0.ruleId": "PEN0001",
		"runs.0.results.0.level":  "error",
		"runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri":       "file:///abs/gone.hcl",
		"runs.0.results.0.locations.0.physicalLocation.artifactLocation.uriBaseId": nil,
		"runs.0.results.0.locations.0.physicalLocation.region":                     nil,
		"runs.0.results.0.partialFingerprints":                                     nil,

		"runs.0.results.2.ruleId":                                                             "PEN0102",
		"runs.0.results.2.ruleIndex":                                                          2.0,
		"runs.0.results.2.message.text":                                                       "Unknown setting. Write <good>.\nhelp: write good\nhelp: elsewhere",
		"runs.0.results.2.locations.0.physicalLocation.artifactLocation.uri":                  "pipe%20lines/%C3%BC%231%3F.hcl",
		"runs.0.results.2.locations.0.physicalLocation.artifactLocation.uriBaseId":            "%SRCROOT%",
		"runs.0.results.2.locations.0.physicalLocation.region.startLine":                      2.0,
		"runs.0.results.2.locations.0.physicalLocation.region.startColumn":                    13.0, // 𝒳 is two units, é one
		"runs.0.results.2.locations.0.physicalLocation.region.endLine":                        2.0,
		"runs.0.results.2.locations.0.physicalLocation.region.endColumn":                      16.0,
		"runs.0.results.2.locations.0.physicalLocation.region.snippet.text":                   "bad",
		"runs.0.results.2.relatedLocations.0.id":                                              1.0,
		"runs.0.results.2.relatedLocations.0.message.text":                                    "the other",
		"runs.0.results.2.relatedLocations.0.physicalLocation.region.startLine":               1.0,
		"runs.0.results.2.fixes.0.artifactChanges.0.replacements.0.insertedContent.text":      "good\n",
		"runs.0.results.2.fixes.0.artifactChanges.0.replacements.0.deletedRegion.startColumn": 13.0,
		"runs.0.results.2.fixes.0.artifactChanges.0.replacements.0.deletedRegion.endColumn":   16.0,
		"runs.0.results.2.fixes.1":                                                            nil, // no bytes that it could replace

		"runs.0.results.3.level": "warning",
		"runs.0.results.3.locations.0.physicalLocation.region.endLine":   4.0,
		"runs.0.results.3.locations.0.physicalLocation.region.endColumn": 3.0,
	} {
		if got := dig(log, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if print, _ := dig(log, "runs.0.results.2.partialFingerprints.primaryLocationLineHash").(string); print != lineFingerprints([]byte(src))[2] {
		t.Errorf("the fingerprint is %q", print)
	}
	for i := range 3 {
		for _, p := range []string{"shortDescription.text", "fullDescription.text", "help.text", "help.markdown"} {
			if s, _ := dig(log, fmt.Sprintf("runs.0.tool.driver.rules.%d.%s", i, p)).(string); s == "" {
				t.Errorf("rule %d has no %s", i, p)
			}
		}
	}
}

func TestSARIFSaysWhyNothingWasLookedAt(t *testing.T) {
	b, err := SARIF(nil, SARIFOptions{Failure: "x.hcl: there is no such file"})
	if err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	if ok := dig(log, "runs.0.invocations.0.executionSuccessful"); ok != false {
		t.Errorf("executionSuccessful is %v", ok)
	}
	if text := dig(log, "runs.0.invocations.0.toolExecutionNotifications.0.message.text"); text != "x.hcl: there is no such file" {
		t.Errorf("got %v", text)
	}
	if results, ok := dig(log, "runs.0.results").([]any); !ok || len(results) != 0 {
		t.Errorf("results are %v, want none: a list that is not there means that nothing was analysed", dig(log, "runs.0.results"))
	}
}

// dig follows a path of keys and indexes; nil is where there is nothing.
func dig(v any, path string) any {
	for _, k := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[k]
		case []any:
			i := -1
			if _, err := fmt.Sscan(k, &i); err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}
