package planner

import (
	"slices"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/lang"
	"penstock/planner/plan"

	"github.com/hashicorp/hcl/v2"
)

// key decides what identifies a row: what the spec says, else the primary key,
// else a unique key of NOT NULL columns. The plan holds the target's names.
func (t *table) key() {
	given := t.spec.Key.Set && len(t.spec.Key.V) > 0
	source, ok := t.sourceKey()
	if !ok {
		return
	}
	for i, name := range source {
		at := t.spec.Key.Range
		if given {
			at = t.spec.Key.V[i].Range
		}
		k := slices.IndexFunc(t.out.Columns, func(c plan.Column) bool { return c.Source == name })
		if k < 0 {
			if t.c.diags.HasErrors() && !slices.Contains(t.out.Dropped, name) {
				return // its column has an error of its own
			}
			detail := "Column " + name + " of the key of " + t.src.Name.String() + " is dropped or computed anew, so the target table has no key."
			if given {
				t.errorf(diag.KeyDropped, at, name, "Key column is not carried", "%s", detail)
			} else {
				t.warn(diag.KeyDropped, t.spec.DefRange, name, "Key column is not carried", detail)
			}
			t.out.Key = nil
			break
		}
		t.out.Key = append(t.out.Key, t.out.Columns[k].Name)
		if sc := t.src.Column(name); sc.Nullable {
			t.nullableKey(sc, &t.out.Columns[k], at)
		}
	}
	if len(t.out.Key) == 0 && t.needsKey() {
		t.errorf(diag.NoKey, t.spec.DefRange, "key", "No key for changes",
			"Changes of %s find their rows by key, and it has no primary key and no unique key of NOT NULL columns. Name one with `key`%s.", t.src.Name, t.orAppend())
	}
}

func (t *table) nullableKey(sc *schema.Column, out *plan.Column, at hcl.Range) {
	detail := sc.Name + " of " + t.src.Name.String() + " may be NULL, and a NULL equals nothing: such a row can't be found again."
	if t.needsKey() {
		t.errorf(diag.NullableKey, at, sc.Name, "Key column may be NULL", "%s Name columns that are NOT NULL.", detail)
		return
	}
	if t.out.Create && out.Nullable {
		out.Nullable = false
		if out.Decision == string(schema.FitExact) {
			t.nullKeys = append(t.nullKeys, out.Name)
		}
		refuseNull(out, "it is in the primary key")
		detail += " The table that the run creates has it in its primary key, so a row with NULL is a bad row."
	}
	t.warn(diag.NullableKey, at, sc.Name, "Key column may be NULL", detail)
}

// needsKey reports whether the stream finds rows by key.
func (t *table) needsKey() bool { return t.stream && t.changesMode() != "append" }

func (t *table) orAppend() string {
	if slices.Contains(t.caps.Changes, "append") {
		return ", or keep every change as a row: apply { changes = \"append\" }"
	}
	return ""
}

// sourceKey is the key by the source's names. It is not ok where the spec
// names a column that is not there.
func (t *table) sourceKey() ([]string, bool) {
	if !t.spec.Key.Set {
		return t.src.DefaultKey(), true
	}
	return t.columnsNamed("key", t.spec.Key.V)
}

// columnsNamed finds columns of the source that a setting names.
func (t *table) columnsNamed(setting string, names []lang.Text) ([]string, bool) {
	var out []string
	ok := true
	for _, n := range names {
		c := t.src.Find(n.V)
		if c == nil {
			near := diag.Nearest(n.V, columnNames(t.src))
			d := t.errorf(diag.UnknownKeyColumn, n.Range, n.V, "Unknown column in "+setting, "%s has no column %q.%s", t.src.Name, n.V, didYouMean(n.V, columnNames(t.src)))
			if len(near) == 1 {
				d.Fixes = append(d.Fixes, diag.Edit{Title: "write " + near[0], Range: n.Sub(0, len(n.V)), NewText: near[0]})
			}
			ok = false
			continue
		}
		if slices.Contains(out, c.Name) {
			t.errorf(diag.ColumnCollision, n.Range, n.V, "Column named twice in "+setting, "%s is named before.", c.Name)
			ok = false
			continue
		}
		out = append(out, c.Name)
	}
	return out, ok
}
