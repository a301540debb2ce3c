package rowexpr

import (
	"math/big"
	"strconv"
	"strings"

	"penstock/internal/schema"
)

// Dialect is how a database spells what expressions need. The zero value of a
// field that is a function means that the database is not known to do it as
// Penstock does.
type Dialect struct {
	Name string
	// Quote quotes an identifier.
	Quote func(name string) string
	// Text writes a text literal.
	Text func(value string) string
	// Collate stands after a text that is compared, so that it compares by bytes
	// whatever the column's collation: ` COLLATE "C"`.
	Collate string
	// True and False are the conditions' literals.
	True, False string
	// Call writes a function of Penstock's over SQL arguments; ok is false where
	// the database's own differs for any value.
	Call func(function string, argument string) (sql string, ok bool)
}

// SQLite is the dialect of SQLite 3. Its upper, lower, trim and length differ
// from ours (ASCII only, blanks only, up to the first NUL), and so are not used.
func SQLite() Dialect {
	return Dialect{
		Name:    "sqlite",
		Quote:   func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
		Text:    func(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" },
		Collate: " COLLATE BINARY",
		True:    "TRUE",
		False:   "FALSE",
	}
}

// SQL prints the expression for a database. ok is false where the database
// might give another value for some row: where an overflow would be rounded
// instead of refused, for decimals and times, whose form in the database is
// the connector's, and for functions that the dialect lacks.
func (e *Expr) SQL(d Dialect) (sql string, ok bool) {
	p := sqlPrinter{Dialect: d}
	sql = p.print(e.root)
	if p.unproven {
		return "", false
	}
	return sql, true
}

type sqlPrinter struct {
	Dialect
	unproven bool
}

func (p *sqlPrinter) give() string {
	p.unproven = true
	return ""
}

func (p *sqlPrinter) print(n *node) string {
	if p.unproven || n.ownFault && n.kind != kConcat {
		return p.give()
	}
	switch n.typ.Kind {
	case schema.Bool, schema.Int16, schema.Int32, schema.Int64, schema.Float64, schema.Text:
	case schema.Decimal:
		if n.kind != kConst {
			return p.give()
		}
	case schema.Invalid:
	default: // bytes, uuids, times: only the question for NULL does not depend on their form
		if n.kind != kColumn {
			return p.give()
		}
	}
	arg := func(i int) string { return p.print(n.args[i]) }
	switch n.kind {
	case kColumn:
		return p.Quote(n.name)
	case kConst:
		return p.literal(n)
	case kNot:
		return "(NOT " + arg(0) + ")"
	case kAnd:
		return "(" + arg(0) + " AND " + arg(1) + ")"
	case kOr:
		return "(" + arg(0) + " OR " + arg(1) + ")"
	case kIsNull:
		if n.neg {
			return "(" + arg(0) + " IS NOT NULL)"
		}
		return "(" + arg(0) + " IS NULL)"
	case kCompare:
		op := n.cmp.String()
		switch n.cmp {
		case equal:
			op = "="
		case less | greater:
			op = "<>"
		}
		return "(" + p.side(n, 0) + " " + op + " " + p.side(n, 1) + ")"
	case kIn:
		var list []string
		for i := range n.args[1:] {
			list = append(list, p.side(n, i+1))
		}
		word := " IN ("
		if n.neg {
			word = " NOT IN ("
		}
		return "(" + p.side(n, 0) + word + strings.Join(list, ", ") + "))"
	case kArith:
		if n.typ.IsInteger() {
			return "(" + arg(0) + " " + n.fn + " " + arg(1) + ")"
		}
	case kNegate:
		if n.typ.IsInteger() {
			return "(- " + arg(0) + ")"
		}
	case kConcat:
		return "(" + arg(0) + " || " + arg(1) + ")"
	case kCoalesce:
		return "COALESCE(" + arg(0) + ", " + arg(1) + ")"
	case kCond:
		return "(CASE WHEN " + arg(0) + " THEN " + arg(1) + " ELSE " + arg(2) + " END)"
	case kCast:
		if from := n.args[0].typ; from.IsInteger() && n.typ.IsInteger() || from.Kind == schema.Text {
			return arg(0)
		}
	case kCall:
		if n.fn == "abs" && n.typ.IsInteger() {
			return "abs(" + arg(0) + ")"
		}
		if (n.fn == "int" || n.fn == "round") && n.args[0].typ.IsInteger() {
			return arg(0)
		}
		if p.Call != nil {
			if sql, ok := p.Call(n.fn, arg(0)); ok {
				return sql
			}
		}
	}
	return p.give()
}

// side is a side of a comparison. Which kinds may meet is decided here: SQL
// compares a whole number with a double as Penstock does, but has no decimals
// that are exact in every database.
func (p *sqlPrinter) side(n *node, i int) string {
	x, first := n.args[i], n.args[0]
	switch k := first.typ.Kind; {
	case k != schema.Bool && k != schema.Text && !first.typ.IsNumber(), first.typ.Kind == schema.Float32, x.typ.Kind == schema.Float32:
		return p.give()
	case x.typ.Kind == schema.Decimal && (x.kind != kConst || !n.args[1-min(i, 1)].typ.IsInteger()):
		return p.give()
	case x.typ.Kind == schema.Text:
		return p.print(x) + p.Collate
	}
	return p.print(x)
}

func (p *sqlPrinter) literal(n *node) string {
	switch k := n.typ.Kind; {
	case n.lit.null:
		return "NULL"
	case k == schema.Bool:
		if n.lit.b {
			return p.True
		}
		return p.False
	case n.typ.IsInteger():
		if n.lit.i == -1<<63 { // its digits alone are out of range
			return "(-9223372036854775807 - 1)"
		}
		if n.lit.i < 0 {
			return "(" + strconv.FormatInt(n.lit.i, 10) + ")"
		}
		return strconv.FormatInt(n.lit.i, 10)
	case n.typ.IsFloat():
		return p.short(strconv.FormatFloat(n.lit.f, 'f', -1, 64))
	case k == schema.Decimal && !wide(n.typ):
		return p.short(string(appendDecimal(nil, n.lit.d, n.typ.Scale)))
	case k == schema.Text && !strings.Contains(n.lit.s, "\x00"):
		return p.Text(n.lit.s)
	}
	return p.give()
}

// short is a number with a point of at most 15 digits, none of them far from
// the point: every database reads it as the double that Penstock means.
func (p *sqlPrinter) short(s string) string {
	digits := strings.Trim(strings.Replace(strings.TrimPrefix(s, "-"), ".", "", 1), "0")
	if len(digits) > 15 || len(s) > 22 {
		return p.give()
	}
	if _, ok := new(big.Rat).SetString(s); !ok {
		return p.give()
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	if s[0] == '-' {
		s = "(" + s + ")"
	}
	return s
}
