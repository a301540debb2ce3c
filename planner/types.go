package planner

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/diag"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// column decides one target column: its type, and what becomes of the values.
func (t *table) column(c column) {
	out := plan.Column{Name: c.name}
	var from schema.Type
	var nullable bool
	if c.value != nil {
		out.Value, from, nullable = c.value.String(), c.value.Type(), c.value.Nullable()
		out.ValueType, out.New = &from, c.source == nil
	} else {
		out.Source, from, nullable = c.source.Name, c.source.Type, c.source.Nullable
	}
	ok := false
	if t.dst != nil {
		ok = t.existingColumn(c, &out, nullable)
	} else {
		out.Nullable = nullable
		ok = t.createdColumn(c, &out, from)
	}
	if ok && t.fit(c, &out, from, nullable) {
		t.out.Columns = append(t.out.Columns, out)
	}
}

// existingColumn finds the column in the target table that is there.
func (t *table) existingColumn(c column, out *plan.Column, nullable bool) bool {
	dc := t.dst.Find(c.name)
	switch {
	case dc == nil:
		t.errorf(diag.TargetColumnAbsent, c.at, c.name, "Target table lacks a column",
			"%s of %s has no column %q for %s.%s Drop it, send it to another column with `to`, or add it at the target.",
			t.dst.Name, t.target.id, c.name, c.origin(), didYouMean(c.name, columnNames(t.dst)))
		return false
	case dc.Generated != "":
		t.errorf(diag.TargetGenerated, c.at, c.name, "Target column is computed there",
			"%s of %s is computed by the target as %s and takes no value. Drop it here: column %q { drop = true }.", dc.Name, t.dst.Name, dc.Generated, c.label())
		return false
	case dc.Problem != "":
		t.errorf(diag.UnsupportedType, c.at, c.name, "Target column of an unsupported type",
			"%s of %s is %s: %s. Drop it here if the target can do without a value.", dc.Name, t.dst.Name, dc.Native, strings.TrimSuffix(dc.Problem, "."))
		return false
	}
	out.Name, out.Native, out.Type, out.Nullable, out.Numbered = dc.Name, dc.Native, dc.Type, dc.Nullable, dc.Identity
	out.Follows = dc.Identity && c.value == nil && c.source.Sequence != nil
	if c.spec != nil && c.spec.Type.Set {
		want, err := t.target.def.Types.Parse(c.spec.Type.V)
		switch {
		case err != nil:
			t.badType(c, err)
			return false
		case want != dc.Type:
			t.errorf(diag.TypeContradicts, c.spec.Type.Range, c.name, "Type differs from the target's column",
				"%s of %s is %s, not %s. `type` is for columns that the run creates: take it out, or change the column at the target.", dc.Name, t.dst.Name, dc.Native, c.spec.Type.V)
			return false
		}
	}
	return true
}

// createdColumn names the native type of a column that the run creates.
func (t *table) createdColumn(c column, out *plan.Column, from schema.Type) bool {
	types := t.target.def.Types
	if c.spec != nil && c.spec.Type.Set {
		typ, err := types.Parse(c.spec.Type.V)
		if err != nil {
			t.badType(c, err)
			return false
		}
		out.Native, out.Type = c.spec.Type.V, typ
		return true
	}
	native, err := "", error(nil)
	if twin := t.target.def.Twin; twin != nil && t.source.def == t.target.def && c.value == nil {
		native = twin(c.source.Native)
	}
	if native == "" {
		native, err = types.Render(from)
	}
	if err == nil {
		out.Native = native
		out.Type, err = types.Parse(native)
	}
	if err != nil {
		t.errorf(diag.UndecidableColumn, c.at, c.name, "Type of "+c.name+" can't be decided",
			"%s is %s at the source, and %s has no type that is sure to hold it: %s. Name one: column %q { type = \"...\" }.",
			c.origin(), c.describe(from), t.target.id, strings.TrimSuffix(err.Error(), "."), c.label())
		return false
	}
	return true
}

func (t *table) badType(c column, err error) {
	t.errorf(diag.UnknownTargetType, c.spec.Type.Range, c.name, "Unknown target type", "%q is no type of %s: %s.", c.spec.Type.V, t.target.def.Kind, strings.TrimSuffix(err.Error(), "."))
}

// fit decides what becomes of the values: exact, checked, lossy where the spec
// accepts it, else an error.
func (t *table) fit(c column, out *plan.Column, from schema.Type, nullable bool) bool {
	class, reason := schema.Fit(from, out.Type)
	if takes := t.target.def.Target.Takes; takes != nil {
		class, reason = worse(class, reason, takes, out.Native, from, t.twin(c))
	}
	accept := c.spec != nil && c.spec.AcceptLoss.V
	at := c.at
	if c.spec != nil && c.spec.Type.Set {
		at = c.spec.Type.Range
	}
	what := fmt.Sprintf("%s is %s at the source and %s at the target", c.name, c.describe(from), out.Native)
	switch class {
	case schema.FitNone:
		t.errorf(diag.NoConversion, at, c.name, "No conversion for "+c.name, "%s: %s. Drop the column, choose another `type`, or compute it with `value`.", what, reason)
		return false
	case schema.FitUndecidable:
		t.errorf(diag.UndecidableColumn, at, c.name, "Type of "+c.name+" can't be decided", "%s: %s. Name a `type`.", what, reason)
		return false
	case schema.FitLossy:
		if !accept {
			t.errorf(diag.LossyColumn, at, c.name, "Values of "+c.name+" would lose something",
				"%s: %s. Name a `type` that keeps it, as a text does, or accept it: column %q { accept_loss = true }.", what, reason, c.label())
			return false
		}
	default:
		if accept && c.spec.AcceptLoss.Set {
			t.withoutEffect(c.spec.AcceptLoss.Range, "accept_loss", "nothing of "+c.name+" is lost")
		}
	}
	if keeps := t.target.def.Target.Storable; keeps != nil {
		if err := keeps(out.Native, out.Type); err != nil {
			t.errorf(diag.NoConversion, at, c.name, "Column "+c.name+" would change its values", "%s: %s.", what, strings.TrimSuffix(err.Error(), "."))
			return false
		}
	}
	out.Decision, out.Reason = string(class), reason
	if remark := t.target.def.Target.Remark; remark != nil {
		remarked(out, remark(out.Native, out.Type))
	}
	if remark := t.source.def.Source.Remark; remark != nil && c.source != nil && c.value == nil && t.twin(c) != out.Native {
		remarked(out, remark(c.source.Native))
	}
	if nullable && !out.Nullable {
		refuseNull(out, "the target's column is NOT NULL")
	}
	return true
}

func remarked(out *plan.Column, text string) {
	if text != "" {
		out.Reason = strings.TrimPrefix(out.Reason+"; "+text, "; ")
	}
}

// twin is the source's type where the target's connector knows it; "" elsewhere.
func (t *table) twin(c column) string {
	if t.source.def != t.target.def || c.value != nil {
		return ""
	}
	return c.source.Native
}

// worse is the graver of what the types say and what the target's own type says.
func worse(class schema.FitClass, reason string, takes func(string, schema.Type, string) (schema.FitClass, string), native string, from schema.Type, source string) (schema.FitClass, string) {
	order := []schema.FitClass{schema.FitExact, schema.FitChecked, schema.FitLossy, schema.FitNone}
	own, why := takes(native, from, source)
	if slices.Index(order, own) > slices.Index(order, class) {
		return own, why
	}
	return class, reason
}

// refuseNull adds to a decision that rows with NULL are bad rows.
func refuseNull(out *plan.Column, why string) { refuse(out, "NULL is refused, "+why) }

// describe is a source type for people, as its database writes it.
func (c column) describe(from schema.Type) string {
	if c.value != nil {
		return "the expression's " + from.String()
	}
	return c.source.Native
}

// label is what a column block for this column is called.
func (c column) label() string {
	if c.source != nil {
		return c.source.Name
	}
	return c.spec.Label.V
}

// checkUnfed refuses a target column that must have a value and gets none. A
// column that has an error of its own counts as fed.
func (t *table) checkUnfed(cols []column) {
	if t.dst == nil {
		return
	}
	fed := map[string]bool{}
	for _, c := range cols {
		if dc := t.dst.Find(c.name); dc != nil {
			fed[dc.Name] = true
		}
	}
	for _, c := range t.dst.Columns {
		if !fed[c.Name] && !c.Nullable && c.Default == "" && !c.Identity && c.Generated == "" {
			t.errorf(diag.TargetColumnUnfed, t.spec.DefRange, c.Name, "Target column gets no value",
				"Column %s of %s is NOT NULL and has no default, and no column of %s goes into it. Give it one: column %q { value = \"...\" }.", c.Name, t.dst.Name, t.src.Name, c.Name)
		}
	}
}

// checkedNote is one warning a table for all columns whose values are tested,
// but those whose one test the warning of a nullable key has told.
func (t *table) checkedNote() {
	var lines []string
	for _, c := range t.out.Columns {
		if c.Decision == string(schema.FitChecked) && !slices.Contains(t.nullKeys, c.Name) {
			lines = append(lines, fmt.Sprintf("%s %s -> %s: %s", t.fromOf(c), t.nativeOf(c), c.Native, c.Reason))
		}
	}
	if lines == nil {
		return
	}
	verb := "is"
	if len(lines) > 1 {
		verb = "are"
	}
	t.warn(diag.CheckedColumns, t.spec.DefRange, strings.Join(lines, "\n"), plural(len(lines), "column")+" "+verb+" checked value by value",
		"A value that does not survive makes its row a bad row. "+strings.Join(lines, "; ")+".")
}

func (t *table) fromOf(c plan.Column) string {
	if c.Source != "" {
		return c.Source
	}
	return c.Name
}

func (t *table) nativeOf(c plan.Column) string {
	if c.ValueType != nil {
		return c.ValueType.String()
	}
	if s := t.src.Column(c.Source); s != nil {
		return s.Native
	}
	return ""
}
