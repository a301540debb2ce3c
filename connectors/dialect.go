package connectors

import (
	"strings"

	"penstock/internal/schema"
)

// Dialect is what statements that mend a target's rows are written with. They
// are for people to read and to run; Penstock never does.
type Dialect struct {
	Table  func(n schema.Name) string // a table's name, quoted
	Column func(name string) string   // a column's name, quoted
	// Literal writes a value of a column, given by its canonical text
	// (batch.AppendText), so that the column takes it as a load would store it.
	Literal func(c TargetColumn, text string) string
	// Same compares a column with a literal, NULL with NULL too, and exactly.
	Same func(c TargetColumn, column, literal string) string
	// RowID tells two rows apart that have the same values: a pseudo column.
	RowID string
	// Numbered stands between the columns and the values of an INSERT that gives
	// a column which the table numbers by itself; "" where nothing is needed.
	Numbered string
}

// Cell is a value as canonical text.
type Cell struct {
	Text string
	Null bool
}

// Insert writes a row into t.
func (d *Dialect) Insert(t Load, row []Cell) string {
	names, values, numbered := make([]string, len(row)), make([]string, len(row)), ""
	for i, c := range t.Columns {
		names[i], values[i] = d.Column(c.Name), d.value(c, row[i])
		if c.Numbered {
			numbered = d.Numbered
		}
	}
	return "INSERT INTO " + d.Table(t.Table) + " (" + strings.Join(names, ", ") + ")" + numbered + " VALUES (" + strings.Join(values, ", ") + ");"
}

// Update sets columns, by their numbers in t, of the row with row's key.
func (d *Dialect) Update(t Load, row []Cell, set []int) string {
	parts := make([]string, len(set))
	for k, i := range set {
		parts[k] = d.Column(t.Columns[i].Name) + " = " + d.value(t.Columns[i], row[i])
	}
	return "UPDATE " + d.Table(t.Table) + " SET " + strings.Join(parts, ", ") + " WHERE " + d.where(t, row, isKey(t)) + ";"
}

// Delete takes the row with row's key away.
func (d *Dialect) Delete(t Load, row []Cell) string {
	return "DELETE FROM " + d.Table(t.Table) + " WHERE " + d.where(t, row, isKey(t)) + ";"
}

// DeleteOne takes one row away of those that have exactly these values.
func (d *Dialect) DeleteOne(t Load, row []Cell) string {
	table := d.Table(t.Table)
	all := func(int) bool { return true }
	return "DELETE FROM " + table + " WHERE " + d.RowID + " = (SELECT " + d.RowID + " FROM " + table + " WHERE " + d.where(t, row, all) + " LIMIT 1);"
}

func (d *Dialect) where(t Load, row []Cell, use func(i int) bool) string {
	var parts []string
	for i, c := range t.Columns {
		if use(i) {
			parts = append(parts, d.Same(c, d.Column(c.Name), d.value(c, row[i])))
		}
	}
	return strings.Join(parts, " AND ")
}

// isKey reports whether column i of t is one of its key's.
func isKey(t Load) func(i int) bool {
	return func(i int) bool {
		for _, k := range t.Key {
			if k == t.Columns[i].Name {
				return true
			}
		}
		return false
	}
}

func (d *Dialect) value(c TargetColumn, v Cell) string {
	if v.Null {
		return "NULL"
	}
	return d.Literal(c, v.Text)
}
