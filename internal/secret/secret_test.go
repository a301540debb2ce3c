package secret

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "canary-4711-hunter2"

func TestStringNeverPrintsItself(t *testing.T) {
	s := New(canary)
	holder := struct {
		Password String
		Ref      *String
	}{s, &s}
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		out = append(out, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder))
	}
	b, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, string(b), s.String(), s.GoString(), fmt.Sprint(holder), fmt.Errorf("login: %v", s).Error())
	for _, o := range out {
		if strings.Contains(o, "hunter2") || strings.Contains(o, fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret shows in %q", o)
		}
	}
	if s.Reveal() != canary {
		t.Errorf("Reveal gave %q", s.Reveal())
	}
}

func TestScrubBlanksWhatWasResolved(t *testing.T) {
	New(canary)
	if got := Scrub("dial user:" + canary + "@host: refused"); strings.Contains(got, canary) || !strings.Contains(got, "dial user:"+hidden+"@host") {
		t.Errorf("Scrub gave %q", got)
	}
	New("ab") // too short to blank without wrecking texts
	if got := Scrub("about"); got != "about" {
		t.Errorf("Scrub gave %q", got)
	}
}

func TestResolveSaysWhereItLooked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pw")
	if err := os.WriteFile(path, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Resolver{
		Env:  func(n string) (string, bool) { return "from env", n == "SET" },
		Vars: func(n string) (string, bool) { return "from var", n == "set" },
	}
	for ref, want := range map[Ref]string{{Env: "SET"}: "from env", {File: path}: "from a file", {Var: "set"}: "from var", {}: ""} {
		if got, err := r.Resolve(ref); err != nil || got.Reveal() != want {
			t.Errorf("Resolve(%s) = %q, %v; want %q", ref, got.Reveal(), err, want)
		}
	}
	for ref, want := range map[Ref]string{{Env: "UNSET"}: "UNSET", {File: path + "x"}: path + "x", {Var: "unset"}: "PENSTOCK_VAR_unset"} {
		if _, err := r.Resolve(ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%s): %v does not say %q", ref, err, want)
		}
	}
}

// What is written escapes what it holds, and a driver may quote it.
func TestScrubKnowsASecretInEveryForm(t *testing.T) {
	const text = "p\"w\\<é&\t'%/ x"
	New(text)
	j, err := json.Marshal(map[string]string{"message": "bad: " + text})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{
		"bad " + text + " end", string(j), html.EscapeString(text), "x?p=" + url.QueryEscape(text), "/" + url.PathEscape(text), fmt.Sprintf("%q", text),
	} {
		if got := Scrub(in); !strings.Contains(got, hidden) || strings.Contains(got, "é") || strings.Contains(got, "%C3") {
			t.Errorf("Scrub(%q) = %q", in, got)
		}
		if got := string(ScrubBytes([]byte(in))); got != Scrub(in) {
			t.Errorf("ScrubBytes(%q) = %q, Scrub gives %q", in, got, Scrub(in))
		}
	}
	b := []byte("nothing in it")
	if got := ScrubBytes(b); &got[0] != &b[0] {
		t.Error("bytes without a secret are copied")
	}
}

// A secret that begins with another one is blanked whole.
func TestScrubBlanksTheLongerOfTwoSecrets(t *testing.T) {
	New("abcd1234")
	New("abcd1234-and-more")
	if got := Scrub("x abcd1234-and-more y"); got != "x "+hidden+" y" {
		t.Errorf("got %q", got)
	}
}
