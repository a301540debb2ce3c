package main

import (
	"penstock/internal/diag"
	"penstock/planner/plan"
)

// documentVersion is the format_version of the documents that --json writes.
// A field that comes raises nothing; one that goes or changes its meaning does.
const documentVersion = 1

// head begins the document of every command.
type head struct {
	FormatVersion int    `json:"format_version"`
	Command       string `json:"command"`         // "validate", "plan", "show", ...; "" where the command line named none
	Errored       bool   `json:"errored"`         // what was asked for could not be done
	Error         string `json:"error,omitempty"` // what no diagnostic says: a mistaken command line, a missing file
}

func newHead(command string) head { return head{FormatVersion: documentVersion, Command: command} }

// document is what validate, plan and show write, and every command that could
// do nothing.
type document struct {
	head
	Diagnostics []diag.Record `json:"diagnostics"`       // all of them, by file and place
	Plan        *plan.Plan    `json:"plan,omitempty"`    // of plan and show, where nothing is wrong
	Changes     []string      `json:"changes,omitempty"` // plan --baseline: what is otherwise than in that plan, in words
}

func newDocument(command string) document {
	return document{head: newHead(command), Diagnostics: []diag.Record{}}
}
