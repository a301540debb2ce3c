package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"penstock/connectors/all"
)

// Whoever asks for JSON gets one document of a known version, also from a
// command that could do nothing; new commands are in the list by themselves.
func TestEveryCommandAnswersAMistakeInJSON(t *testing.T) {
	newApp := func(stdout, stderr *bytes.Buffer) *app {
		return &app{registry: all.Registry(), stdout: stdout, stderr: stderr, lookupEnv: func(string) (string, bool) { return "", false }}
	}
	var names []string
	for _, c := range newApp(nil, nil).root().Commands() {
		names = append(names, c.Name())
	}
	if len(names) < 6 {
		t.Fatalf("got the commands %v, want more", names)
	}
	for _, name := range names {
		var stdout, stderr bytes.Buffer
		code := newApp(&stdout, &stderr).execute(context.Background(), []string{name, "--no-such-flag", "--json"})
		var doc struct {
			FormatVersion int             `json:"format_version"`
			Command       string          `json:"command"`
			Event         string          `json:"event"`
			Errored       bool            `json:"errored"`
			Error         json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
			t.Errorf("%s: %v in %s", name, err, stdout.String())
			continue
		}
		line := name == "run" // which writes events
		if code != 2 || doc.FormatVersion != 1 || !line && (doc.Command != name || !doc.Errored) || line && doc.Event != "run_finished" || !strings.Contains(string(doc.Error), "no-such-flag") {
			t.Errorf("%s: exit code %d and %s", name, code, stdout.String())
		}
		if !strings.Contains(stderr.String(), "no-such-flag") {
			t.Errorf("%s: people read %q", name, stderr.String())
		}
	}
}
