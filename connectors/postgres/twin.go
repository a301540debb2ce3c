package postgres

import (
	"slices"
	"strings"
)

// alien are built-in types whose values mean something in their own database
// only, or that have no binary form: they are read as text.
var alien = []string{
	"aclitem", "regclass", "regcollation", "regconfig", "regdictionary", "regnamespace", "regoper", "regoperator", "regproc", "regprocedure", "regrole", "regtype",
}

// unread are types of which the server does not read an empty value as it
// writes it: in binary, it refuses its own.
var unread = []string{"tsquery", "int2vector", "oidvector"}

// extensions are types of package types that a server has by an extension.
var extensions = map[string]bool{"hstore": true, "ltree": true}

// builtIn reports a type that every server has, an array of such included: its
// binary form is the same everywhere.
func builtIn(native string) bool {
	if _, _, other := named(native); other {
		return false
	}
	element := native
	if strings.HasSuffix(native, "]") {
		element = strings.TrimRight(native, "[]0123456789")
	}
	w := wireOf(element)
	switch {
	case slices.Contains(alien, w.name):
		return false
	case w.oid != 0, w.name == "interval", w.name == "varbit", w.name == "timetz", w.name == `pg_catalog."bit"`:
		return true
	}
	return written[w.name] && !extensions[w.name]
}

// twin is the type of a new column for one of this type: itself, where every
// server has it.
func twin(native string) string {
	if !builtIn(native) {
		return ""
	}
	return native
}

// special reports the types that have infinity or NaN: dates, timestamps and
// numerics, whatever their digits.
func special(native string) bool {
	switch wireOf(native).form {
	case formDate, formTimestamp, formNumeric:
		return true
	}
	return false
}

// passes reports types of one binary form. Digits and lengths are schema.Fit's
// to compare, where it knows them.
func passes(source, target string) bool {
	ks, _, _ := named(source)
	kt, _, _ := named(target)
	if ks == "enum " && kt == ks {
		return true // its labels, which the target looks up
	}
	if !builtIn(source) || !builtIn(target) {
		return false
	}
	s, t := wireOf(source), wireOf(target)
	if slices.Contains(unread, strings.TrimSuffix(s.name, "[]")) {
		return false
	}
	return s.name == t.name && (s.form != formNone || strings.EqualFold(source, target))
}
