package rowexpr

import (
	"regexp"
	"strings"

	"github.com/expr-lang/expr/parser/lexer"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

// slips finds SQL written where the expression's own form is meant, and answers
// with that form. It looks at tokens, because the parser stops at the first.
func (s *source) slips(columns []schema.Column) []Problem {
	f := slipFinder{source: s, columns: columns}
	for f.at < len(s.tokens) {
		if n := f.step(); n > 0 {
			f.at += n
		} else {
			f.at++
		}
	}
	return f.problems
}

type slipFinder struct {
	*source
	columns  []schema.Column
	at       int
	problems []Problem
}

// step looks at the token where the finder stands; it returns how many tokens a slip took.
func (f *slipFinder) step() int {
	t := f.tokens[f.at]
	switch {
	case t.Is(lexer.Operator, "="):
		return f.slip(1, "==", "Equality is written ==.")
	case t.Is(lexer.Operator, "<") && f.next(1).Is(lexer.Operator, ">") && f.next(1).From == t.To:
		return f.slip(2, "!=", "Inequality is written !=.")
	case t.Is(lexer.Operator, "&"):
		return f.slip(1, "and", "Conditions are joined with and, or with &&.")
	case t.Is(lexer.Operator, "let"):
		return 3 // let x = ...: refused as a whole
	case t.Is(lexer.Operator, "not") && strings.EqualFold(f.next(1).Value, "like") && f.afterOperand():
		return f.like(2, "not matches")
	case t.Is(lexer.Operator, "|") && f.next(1).Is(lexer.Identifier) && f.next(2).Is(lexer.Bracket, "("):
		n := f.slip(1, "", "There are no pipes: write "+f.next(1).Value+"(...) around the value.")
		f.problems[len(f.problems)-1].Code, f.problems[len(f.problems)-1].Summary = diag.RowNotAllowed, "Not allowed in a row expression"
		return n
	case t.Is(lexer.Operator, "|"):
		return f.slip(1, "or", "Alternatives are joined with or, or with ||.")
	case t.Is(lexer.Operator, "in") && f.next(1).Is(lexer.Bracket, "("):
		return f.list()
	case t.Is(lexer.Identifier):
		return f.word(strings.ToLower(t.Value))
	}
	return 0
}

func (f *slipFinder) next(n int) lexer.Token {
	if f.at+n < len(f.tokens) {
		return f.tokens[f.at+n]
	}
	return lexer.Token{Kind: lexer.EOF}
}

// afterOperand reports that an operator must stand here: a name before it is
// complete. So a column that is called "like" is no slip.
func (f *slipFinder) afterOperand() bool {
	if f.at == 0 {
		return false
	}
	return isOperand(f.tokens[f.at-1]) || f.tokens[f.at-1].Is(lexer.Bracket, ")") || f.tokens[f.at-1].Is(lexer.Bracket, "]")
}

func isOperand(t lexer.Token) bool {
	return t.Kind == lexer.Identifier || t.Kind == lexer.Number || t.Kind == lexer.String
}

func (f *slipFinder) word(word string) int {
	if !f.afterOperand() {
		switch next := f.next(1); {
		case word == "not" && (isOperand(next) || next.Is(lexer.Bracket, "(")):
			return f.slip(1, "not", "Operators are written in lower case.")
		case word == "null" && f.tokens[f.at].Value != "null" || word == "null" && findColumn(f.columns, "null").n == 0:
			if findColumn(f.columns, f.tokens[f.at].Value).n == 0 {
				return f.slip(1, "nil", "NULL is written nil; x == nil asks whether x is NULL.")
			}
		case word == "case" && isOperand(next):
			return f.slip(1, "", "CASE WHEN a THEN b ELSE c END is written a ? b : c.")
		}
		return 0
	}
	switch word {
	case "and", "or":
		return f.slip(1, word, "Operators are written in lower case.")
	case "in", "matches":
		return f.slip(1, word, "Operators are written in lower case.")
	case "is":
		not := strings.EqualFold(f.next(1).Value, "not")
		n := 1
		if not {
			n = 2
		}
		if !strings.EqualFold(f.next(n).Value, "null") && f.next(n).Value != "nil" {
			return f.slip(1, "", "x IS NULL is written x == nil.")
		}
		if not {
			return f.slip(n+1, "!= nil", "IS NOT NULL is written != nil.")
		}
		return f.slip(n+1, "== nil", "IS NULL is written == nil.")
	case "not":
		switch {
		case strings.EqualFold(f.next(1).Value, "like"):
			return f.like(2, "not matches")
		case strings.EqualFold(f.next(1).Value, "in"):
			return f.slip(2, "not in", "Operators are written in lower case.")
		}
	case "like":
		return f.like(1, "matches")
	case "between":
		return f.slip(1, "", "x BETWEEN a AND b is written x >= a and x <= b.")
	case "mod":
		return f.slip(1, "%", "The remainder is written a % b.")
	}
	return 0
}

// slip records a slip of n tokens.
func (f *slipFinder) slip(n int, fix, detail string) int {
	from, _ := f.bytes(f.tokens[f.at].Location)
	_, to := f.bytes(f.tokens[f.at+n-1].Location)
	f.problems = append(f.problems, Problem{Code: diag.RowSQLOperator, Summary: "SQL operator in an expression",
		Detail: detail, From: from, To: to, Fix: fix})
	return n
}

// like translates LIKE and its pattern; words is how many tokens stand before the pattern.
func (f *slipFinder) like(words int, operator string) int {
	if f.next(words).Kind != lexer.String {
		return f.slip(words, "", "x LIKE 'A%' is written x matches \"^A\", with a regular expression.")
	}
	re := likeRegexp(f.next(words).Value)
	return f.slip(words+1, operator+" "+quote(re), "LIKE is written matches, with a regular expression.")
}

// likeRegexp is the regular expression that finds what a LIKE pattern finds.
func likeRegexp(pattern string) string {
	head, tail := "^", "$"
	if p := strings.TrimLeft(pattern, "%"); p != pattern {
		pattern, head = p, ""
	}
	if p := strings.TrimRight(pattern, "%"); p != pattern {
		pattern, tail = p, ""
	}
	var b strings.Builder
	for _, r := range pattern {
		switch r {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	body := head + b.String() + tail
	if strings.ContainsAny(pattern, "%_") { // a dot that also finds the end of a line, as in SQL
		return "(?s)" + body
	}
	return body
}

// list turns the brackets of in (1, 2) into in [1, 2]. The words in between are
// looked at too.
func (f *slipFinder) list() int {
	level := 0
	for i := f.at + 1; i < len(f.tokens); i++ {
		level += depth(f.tokens[i])
		if level == 0 {
			from, open := f.bytes(f.tokens[f.at+1].Location)
			shut, to := f.bytes(f.tokens[i].Location)
			f.problems = append(f.problems, Problem{Code: diag.RowSQLOperator, Summary: "SQL operator in an expression",
				Detail: "The list after in stands in square brackets.", From: from, To: to, Fix: "[" + f.text[open:shut] + "]"})
			return 2
		}
	}
	return 0
}
