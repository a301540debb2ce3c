package planner

import (
	"slices"
	"strings"
	"time"

	"penstock/connectors"
	"penstock/internal/diag"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// apply decides how rows and changes enter the target.
func (t *table) apply() {
	a := t.spec.Apply
	if t.loads {
		t.loadMode()
		t.out.Apply.Indexes = t.indexes()
		t.objects()
	} else {
		if a.Mode.Set {
			t.withoutEffect(a.Mode.Range, "mode", "it says how a load enters, and a cdc pipeline loads nothing. A stream has `changes`")
		}
		if t.spec.Existing.Set {
			t.withoutEffect(t.spec.Existing.Range, "existing", "a stream goes on with the rows that are there")
		}
		t.out.Existing = string(connectors.ExistingAppend)
	}
	if t.stream {
		t.changes()
	} else if a.Changes.Set {
		t.withoutEffect(a.Changes.Range, "changes", "it says how a stream enters, and the pipeline's mode is snapshot")
	}
}

func (t *table) loadMode() {
	a := t.spec.Apply
	switch {
	case len(t.caps.Modes) == 0:
		return // the pipeline's mode was refused
	case !a.Mode.Set:
		t.out.Apply.Mode = t.caps.Modes[0]
		if len(t.caps.Modes) > 1 {
			t.out.Apply.Why = "the target's fastest"
		}
	case !slices.Contains(t.caps.Modes, a.Mode.V):
		t.errorf(diag.ModeNotOffered, a.Mode.Range, a.Mode.V, t.target.def.Kind+" has no mode "+quoteName(a.Mode.V),
			"A load enters %s by: %s.", t.target.id, modes(t.caps.Modes))
	default:
		t.out.Apply.Mode = a.Mode.V
	}
}

// indexes is what is done with the target's indexes during a load: they come
// after the rows of a table that the run creates, and stay on one that is there.
func (t *table) indexes() string {
	switch {
	case t.spec.Apply.Indexes.Set:
		return t.spec.Apply.Indexes.V
	case t.out.Create:
		return "defer"
	}
	return "keep"
}

func (t *table) changesMode() string {
	if t.spec.Apply.Changes.Set {
		return t.spec.Apply.Changes.V
	}
	if len(t.caps.Changes) > 0 {
		return t.caps.Changes[0]
	}
	return ""
}

func (t *table) changes() {
	if len(t.caps.Changes) == 0 {
		return // the pipeline's mode was refused
	}
	mode := t.changesMode()
	if !slices.Contains(t.caps.Changes, mode) {
		t.errorf(diag.ChangesNotOffered, t.spec.Apply.Changes.Range, mode, t.target.def.Kind+" has no change mode "+quoteName(mode),
			"Changes enter %s by: %s.", t.target.id, modes(t.caps.Changes))
		return
	}
	t.out.Apply.Changes = mode
}

func modes(m []string) string {
	if len(m) == 0 {
		return "none"
	}
	out := slices.Clone(m)
	out[0] += " (the default)"
	if len(m) == 1 {
		out[0] = m[0] + " only"
	}
	return strings.Join(out, ", ")
}

// commit bounds a stream's transactions. In a load a chunk is a transaction.
func (t *table) commit() {
	s := t.spec.Commit
	if !t.stream {
		for _, set := range []struct {
			name string
			set  bool
			at   hcl.Range
		}{{"rows", s.Rows.Set, s.Rows.Range}, {"bytes", s.Bytes.Set, s.Bytes.Range}, {"every", s.Every.Set, s.Every.Range}} {
			if set.set {
				t.withoutEffect(set.at, set.name, "in a snapshot one commit is one chunk")
			}
		}
		return
	}
	c := plan.Commit{Rows: t.caps.CommitRows, Bytes: t.caps.CommitBytes, Every: t.caps.CommitEvery}
	if s.Rows.Set {
		c.Rows = s.Rows.V
	}
	if s.Bytes.Set {
		c.Bytes = int64(s.Bytes.V)
	}
	if s.Every.Set {
		c.Every = duration(s.Every.V)
	}
	t.out.Commit = &c
}

// duration prints 60s as 1m, not as 1m0s.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
