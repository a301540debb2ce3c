package conformance

import (
	"context"
	"testing"

	"penstock/connectors"
)

// script needs no statement that the target takes: one that it can't take
// fails until the record stands, and is not run again once it does. So a target
// without statements of its own must refuse them, not pass over them.
func script(t *testing.T, h TargetHarness) {
	ctx := context.Background()
	p := h.place(t)
	run := func(tg connectors.Target, generation int, statements ...string) error {
		return tg.Script(ctx, connectors.Script{Name: "after_load", Generation: generation, Statements: statements})
	}
	const nonsense = "this is not a statement of any kind"
	if err := run(p.Target, 1); err == nil {
		t.Error("Script before Claim: no error")
	}
	p.claim(p.Target, "first")
	for range 2 {
		if err := run(p.Target, 1, nonsense); err == nil {
			t.Errorf("Script ran %q: no error. The record stands only when all statements ran", nonsense)
		}
	}
	if err := run(p.Target, 1); err != nil {
		t.Errorf("Script without statements: %v", err)
	}
	if err := run(p.Target, 1, nonsense); err != nil {
		t.Errorf("a script that ran for this generation ran again: %v", err)
	}
	if err := p.Script(ctx, connectors.Script{Name: "before_load", Generation: 1, Statements: []string{nonsense}}); err == nil {
		t.Error("the record of after_load kept before_load from running")
	}
	if err := run(p.Target, 2, nonsense); err == nil {
		t.Error("the record of generation 1 kept the script of generation 2 from running")
	}
	h.Lose(t, p.config, pipeline)
	second := p.open(pipeline)
	p.claim(second, "second")
	wantClass(t, "the former owner runs a script", run(p.Target, 3), connectors.Fenced)
	if err := run(second, 1, nonsense); err != nil {
		t.Errorf("the next owner runs the script of a generation again: %v", err)
	}
}
