package postgres

import (
	"fmt"
	"slices"
	"strings"

	"penstock/internal/change"
)

// parameters are the columns of a statement's parameters: the key, then what
// it sets.
func (t *laneTable) parameters(kind change.Kind, set change.Mask) []int {
	out := slices.Clone(t.Key)
	if kind == change.NetDelete || kind == change.NetDeleteIf {
		return out
	}
	for c := range t.Columns {
		if !slices.Contains(t.Key, c) && (kind != change.NetUpdate || set.Has(c)) {
			out = append(out, c)
		}
	}
	return out
}

// unnest is the parameters as rows: u(c1, c2, ...), and what stands for a column
// of them, cast where it travels as text.
func (t *laneTable) unnest(columns []int) (from string, value []string) {
	var params, as []string
	for i, c := range columns {
		w, name := t.fields[c].wire, fmt.Sprintf("c%d", i+1)
		params = append(params, fmt.Sprintf("$%d::%s[]", i+1, w.element().name))
		as = append(as, name)
		if w.element().name != w.name {
			name += "::" + w.name
		}
		value = append(value, "u."+name)
	}
	return fmt.Sprintf("unnest(%s) AS u(%s)", strings.Join(params, ", "), strings.Join(as, ", ")), value
}

// same is the condition that a row of t has the key of a row of u.
func (t *laneTable) same(value []string) string {
	var out []string
	for i, k := range t.Key {
		out = append(out, fmt.Sprintf("t.%s = %s", quote(t.Columns[k].Name), value[i]))
	}
	return strings.Join(out, " AND ")
}

// statement is what does a group of net changes.
func (t *laneTable) statement(kind change.Kind, set change.Mask) string {
	columns := t.parameters(kind, set)
	from, value := t.unnest(columns)
	name := quoteName(t.Target)
	var names, sets []string
	for i, c := range columns {
		q := quote(t.Columns[c].Name)
		names = append(names, q)
		if i >= len(t.Key) {
			sets = append(sets, q+" = "+value[i])
		}
	}
	switch kind {
	case change.NetDelete, change.NetDeleteIf:
		return fmt.Sprintf("DELETE FROM %s AS t USING %s WHERE %s", name, from, t.same(value))
	case change.NetUpdate, change.NetReplace:
		if sets == nil { // nothing but the key: the row must be there all the same
			sets = []string{fmt.Sprintf("%s = t.%[1]s", names[0])}
		}
		return fmt.Sprintf("UPDATE %s AS t SET %s FROM %s WHERE %s", name, strings.Join(sets, ", "), from, t.same(value))
	}
	sql := fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s", name, strings.Join(names, ", "), strings.Join(value, ", "), from)
	if kind != change.NetUpsert {
		return sql
	}
	var key, over []string
	for i, c := range columns {
		if q := quote(t.Columns[c].Name); i < len(t.Key) {
			key = append(key, q)
		} else {
			over = append(over, q+" = excluded."+q)
		}
	}
	do := "DO NOTHING"
	if over != nil {
		do = "DO UPDATE SET " + strings.Join(over, ", ")
	}
	return fmt.Sprintf("%s ON CONFLICT (%s) %s", sql, strings.Join(key, ", "), do)
}

// missing gives the numbers, from 1, of the keys that the table does not have.
func (t *laneTable) missing() string {
	from, value := t.unnest(t.Key)
	from = strings.Replace(from, ") AS u(", ") WITH ORDINALITY AS u(", 1)
	from = strings.TrimSuffix(from, ")") + ", n)"
	return fmt.Sprintf("SELECT n FROM %s WHERE NOT EXISTS (SELECT FROM %s AS t WHERE %s)", from, quoteName(t.Target), t.same(value))
}
