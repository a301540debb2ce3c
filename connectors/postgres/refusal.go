package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"penstock/connectors"

	"github.com/jackc/pgx/v5/pgconn"
)

// known are the classes of SQLSTATEs that the server has of its own, apart from
// those that are about rows: what else a function raises, its author has chosen.
var known = []string{"00", "01", "02", "03", "08", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "20", "21", "24", "25", "26", "27", "28", "2B", "2D", "2F",
	"34", "38", "39", "3B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "72", "F0", "HV", "XX"}

// isRefusal reports a SQLSTATE by which a statement that brings rows refuses
// one of them: data, constraints, a view's check option, what a trigger raises,
// and a value too long for an index.
func isRefusal(pg *pgconn.PgError) bool {
	class := pg.Code[:min(2, len(pg.Code))]
	switch {
	case pg.Code == "22P03": // binary values of another width: the table is not the plan's
		return false
	case class == "22", class == "23", class == "44", class == "P0", pg.Code == "54000":
		return true
	}
	return len(pg.Code) == 5 && !slices.Contains(known, class) && strings.Contains(pg.Where, "function ")
}

// rowFailure is failure for a statement that brings rows.
func rowFailure(err error, sql string) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !isRefusal(pg) {
		return failure(err, sql)
	}
	r := refusal(pg)
	return &connectors.Error{Class: connectors.Data, Hint: r.Hint, Err: r}
}

// refusal says why the server refused a row, once without and once with values.
func refusal(pg *pgconn.PgError) *connectors.Refusal {
	r := &connectors.Refusal{Column: pg.ColumnName, Constraint: pg.ConstraintName, Code: pg.Code, Err: &stateError{text: serverText(pg), pg: pg}}
	r.At, r.Detail = lineOf(pg.Where), pg.Message
	if pg.Detail != "" {
		r.Detail += fmt.Sprintf(" (%s)", strings.TrimSuffix(pg.Detail, "."))
	}
	if r.Column == "" {
		r.Column = columnOf(pg.Where)
	}
	r.Reason = reason(pg)
	if pg.Code == "23503" {
		r.Waits = true
		r.Hint = `A foreign key looks for its row when a row goes in: load the table that it refers to first, or drop the key for the load with apply { indexes = "defer" }.`
	}
	return r
}

// reason is free of values: messages of the classes 22 and P0 may hold some.
func reason(pg *pgconn.PgError) string {
	constraint := fmt.Sprintf("constraint %q", pg.ConstraintName)
	if pg.DataTypeName != "" {
		constraint += " of the domain " + pg.DataTypeName
	}
	switch pg.Code {
	case "23505":
		return fmt.Sprintf("unique %s: a row with its key is there already", constraint)
	case "23503":
		return fmt.Sprintf("foreign key %s: the row that it refers to is not there", constraint)
	case "23P01":
		return fmt.Sprintf("exclusion %s: a row that excludes it is there already", constraint)
	case "23502":
		return "NULL in a column that takes none"
	case "23514":
		if pg.ConstraintName == "" {
			return "no partition takes the row"
		}
		return fmt.Sprintf("check %s does not hold", constraint)
	case "44000":
		return "the check option of the view does not hold"
	case "54000":
		return "a value is too long for an index"
	case "22001", "22026":
		return pg.Message // the type alone: "value too long for type character varying(3)"
	case "22003":
		return "a number is out of the range of its type"
	case "22007", "22008":
		return "no date or time of its type, or one out of range"
	case "22021":
		return "a text with a character that the database does not store"
	case "22P05":
		return `a JSON text with \u0000, which jsonb does not store`
	case "22P02", "2200N", "22032":
		return "it can't be read as a value of its type"
	}
	switch pg.Code[:2] {
	case "22", "23":
		return "the server refused it"
	}
	where := ""
	for line := range strings.SplitSeq(pg.Where, "\n") {
		if strings.Contains(line, "function ") {
			where = ": " + line
			break
		}
	}
	return "a trigger or function of the table refused it" + where
}

// copyLine is the line of an error's context that says where a COPY stood; the
// lines before it are of functions that ran.
func copyLine(where string) string {
	last := ""
	for line := range strings.SplitSeq(where, "\n") {
		if strings.HasPrefix(line, "COPY ") && strings.Contains(line, ", line ") {
			last = line
		}
	}
	return last
}

// lineOf is the line that a COPY stopped at, 0 where the server does not say:
// foreign keys are looked at when all rows are in.
func lineOf(where string) int {
	_, rest, _ := strings.Cut(copyLine(where), ", line ")
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(rest)
	}
	n, _ := strconv.Atoi(rest[:digits])
	return n
}

// columnOf is the column that a COPY stopped at; what stands behind it is a value.
func columnOf(where string) string {
	_, rest, _ := strings.Cut(copyLine(where), ", line ")
	_, rest, _ = strings.Cut(rest, ", column ")
	name, _, _ := strings.Cut(rest, ":")
	return name
}

// serverText is the server's message with what it says of the place. DETAIL
// holds a key, which is what an operator looks for, or a whole row, which is
// nobody's business.
func serverText(pg *pgconn.PgError) string {
	var b strings.Builder
	b.WriteString(pg.Message)
	if pg.Detail != "" && !strings.HasPrefix(pg.Detail, "Failing row contains") {
		fmt.Fprintf(&b, " (%s)", strings.TrimSuffix(pg.Detail, "."))
	}
	where, _, _ := strings.Cut(pg.Where, "\n")
	if !strings.HasPrefix(where, "PL/pgSQL function ") { // a value stands behind the colon
		where, _, _ = strings.Cut(where, ": ")
	}
	if where != "" {
		fmt.Fprintf(&b, ", %s", where)
	}
	return b.String()
}
