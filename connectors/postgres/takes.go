package postgres

import (
	"fmt"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// takes says what a column's type refuses or changes that is a plain text, JSON
// or integer to Penstock. Of a column of the very same type it takes all.
func takes(native string, from schema.Type, source string) (schema.FitClass, string) {
	w := wireOf(native)
	if source != "" && (source == native || wireOf(source).name == w.name) {
		return schema.FitExact, ""
	}
	kind, name, _ := named(native)
	switch {
	case kind == "enum ":
		return schema.FitChecked, "every text must be a label of " + name
	case kind != "":
		return schema.FitChecked, "every text must read as " + name
	}
	switch w.name {
	case "jsonb":
		return schema.FitLossy, "of keys that come twice it keeps the last, and neither their order nor blanks; json keeps the text"
	case "oid":
		return schema.FitChecked, "every value must be 0 to 4294967295"
	case "name":
		return schema.FitChecked, fmt.Sprintf("every text must fit %d octets", maxName)
	case `"char"`:
		return schema.FitChecked, "every text must be one octet"
	}
	if onlyWritten(native, w) {
		return schema.FitChecked, "every text must read as " + native
	}
	return schema.FitExact, ""
}

// onlyWritten reports a type whose values are texts to Penstock and more to
// PostgreSQL.
func onlyWritten(native string, w wire) bool {
	if n, err := connectors.SplitType(native); err == nil && written[plain(n.Word)] {
		return true
	}
	return w.name == "interval" || strings.HasSuffix(w.name, "]")
}

// remark tells of types that are read as the text which PostgreSQL writes, where
// the target has no such type.
func remark(native string) string {
	w := wireOf(native)
	kind, _, _ := named(native)
	switch {
	case kind == "enum ":
		return "read as its label"
	case w.name == "money":
		return "read as its text, $1,234.50; a view with ::numeric makes it a number"
	case kind != "" || onlyWritten(native, w):
		return "read as its text"
	}
	return ""
}
