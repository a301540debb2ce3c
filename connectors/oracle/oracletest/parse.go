package oracletest

import (
	"errors"
	"fmt"
	"strings"
)

// token is a piece of a statement.
type token struct {
	kind byte // 'i' quoted name, 'w' word, 's' string, 'b' bind, 'n' number, 'p' punctuation, 0 the end
	text string
}

// tokens cuts a statement. Hints and comments are left out.
func tokens(sql string) ([]token, error) {
	var out []token
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			i++
		case strings.HasPrefix(sql[i:], "/*"):
			end := strings.Index(sql[i:], "*/")
			if end < 0 {
				return nil, errors.New("a comment without an end")
			}
			i += end + 2
		case c == '"' || c == '\'':
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 {
				return nil, errors.New("a quotation without an end")
			}
			kind := byte('i')
			if c == '\'' {
				kind = 's'
			}
			out = append(out, token{kind, sql[i+1 : i+1+end]})
			i += end + 2
		case c == ':' || isWord(c):
			j := i + 1
			for j < len(sql) && isWord(sql[j]) {
				j++
			}
			switch {
			case c == ':':
				out = append(out, token{'b', sql[i+1 : j]})
			case c >= '0' && c <= '9':
				out = append(out, token{'n', sql[i:j]})
			default:
				out = append(out, token{'w', strings.ToUpper(sql[i:j])})
			}
			i = j
		default:
			n := 1
			if i+1 < len(sql) && strings.Contains("<= >= <> ", sql[i:i+2]+" ") {
				n = 2
			}
			out = append(out, token{'p', sql[i : i+n]})
			i += n
		}
	}
	return out, nil
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// query is a SELECT of one table, taken apart.
type query struct {
	count       bool // COUNT(*)
	items       []operand
	owner, name string
	where       *condition
	order       []string // columns, NULLs first where nulls says so
	nulls       []bool
	step        bool // the keys of every so manieth row, behind the first
}

// operand is a value: of a column, of a bind, or made of one.
type operand struct {
	function string // "" for the thing itself
	format   string
	column   string // "ROWID" with rowid set
	rowid    bool
	bind     int // which bind, from 0; -1: none
	null     bool
}

// condition is true, or not, of a row: AND and OR of kids, or a comparison.
type condition struct {
	op          string // "AND", "OR", "<", "<=", ">", ">=", "=", "BETWEEN", "NULL", "NOT NULL"
	kids        []*condition
	left        operand
	right, last operand
}

type parser struct {
	t     []token
	binds int
	err   error
}

func (p *parser) peek() token {
	if p.err != nil || len(p.t) == 0 {
		return token{}
	}
	return p.t[0]
}

func (p *parser) next() token {
	t := p.peek()
	if len(p.t) > 0 {
		p.t = p.t[1:]
	}
	return t
}

func (p *parser) fail(want string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s where %q stands", want, p.peek().text)
	}
}

// is takes a word or punctuation where it stands next.
func (p *parser) is(text string) bool {
	if t := p.peek(); (t.kind == 'w' || t.kind == 'p') && t.text == text {
		p.next()
		return true
	}
	return false
}

// want takes words and punctuation that must stand next.
func (p *parser) want(texts ...string) {
	for _, text := range texts {
		if !p.is(text) {
			p.fail(text + " is missing")
		}
	}
}

func (p *parser) kind(kind byte, what string) string {
	if p.peek().kind != kind {
		p.fail(what + " is missing")
		return ""
	}
	return p.next().text
}

func (p *parser) bind() operand {
	p.kind('b', "a bind")
	p.binds++
	return operand{bind: p.binds - 1}
}

// parseSelect reads a statement, binds numbered in their order.
func parseSelect(sql string) (*query, error) {
	t, err := tokens(sql)
	if err != nil {
		return nil, err
	}
	p := &parser{t: t}
	var q *query
	p.want("SELECT")
	if p.peek().text == "K1" {
		q = p.steps()
	} else {
		q = p.table(false)
	}
	if p.err == nil && len(p.t) > 0 {
		p.fail("the end is missing")
	}
	return q, p.err
}

// steps is a query for every so manieth key:
// SELECT k1, ... FROM (SELECT x k1, ..., ROW_NUMBER() OVER (ORDER BY ...) n FROM table) WHERE n > 1 AND MOD(n - 1, :step) = 0 ORDER BY n
func (p *parser) steps() *query {
	for i := 1; p.is(fmt.Sprintf("K%d", i)); i++ {
		p.is(",")
	}
	p.want("FROM", "(", "SELECT")
	q := p.table(true)
	p.want(")", "WHERE", "N", ">")
	p.kind('n', "1")
	p.want("AND", "MOD", "(", "N", "-")
	p.kind('n', "1")
	p.want(",")
	p.bind()
	p.want(")", "=")
	p.kind('n', "0")
	p.want("ORDER", "BY", "N")
	q.step = true
	return q
}

// table is what stands behind SELECT.
func (p *parser) table(numbered bool) *query {
	q := &query{}
	for {
		if numbered && p.is("ROW_NUMBER") {
			p.want("(", ")", "OVER", "(", "ORDER", "BY")
			p.orders(q)
			p.want(")", "N")
			break
		}
		if p.is("COUNT") {
			p.want("(", "*", ")")
			q.count = true
		} else {
			q.items = append(q.items, p.item())
			if numbered {
				p.want(fmt.Sprintf("K%d", len(q.items)))
			}
		}
		if !p.is(",") {
			break
		}
	}
	p.want("FROM")
	q.owner = p.kind('i', "a schema")
	p.want(".")
	q.name = p.kind('i', "a table")
	p.want("AS", "OF", "SCN")
	if b := p.bind(); b.bind != 0 {
		p.fail("the SCN is not the first bind")
	}
	p.want("T")
	if p.is("WHERE") {
		q.where = p.or()
	}
	if p.is("ORDER") {
		p.want("BY")
		p.orders(q)
	}
	return q
}

func (p *parser) orders(q *query) {
	for {
		o := p.column()
		nulls := p.is("NULLS")
		if nulls {
			p.want("FIRST")
		}
		q.order, q.nulls = append(q.order, o.column), append(q.nulls, nulls)
		if !p.is(",") {
			return
		}
	}
}

// column is t."NAME" or t.ROWID.
func (p *parser) column() operand {
	p.want("T", ".")
	if p.is("ROWID") {
		return operand{column: "ROWID", rowid: true, bind: -1}
	}
	return operand{column: p.kind('i', "a column"), bind: -1}
}

// item is an expression of the list of columns.
func (p *parser) item() operand {
	t := p.peek()
	switch {
	case t.kind == 'w' && t.text == "NULL":
		p.next()
		return operand{null: true, bind: -1}
	case t.kind == 'w' && t.text == "T":
		return p.column()
	case t.kind == 'w' && t.text == "CASE":
		// CASE WHEN t."B" THEN 1 WHEN NOT t."B" THEN 0 END
		p.want("CASE", "WHEN")
		o := p.column()
		p.want("THEN")
		p.kind('n', "1")
		p.want("WHEN", "NOT")
		p.column()
		p.want("THEN")
		p.kind('n', "0")
		p.want("END")
		o.function = "CASE"
		return o
	case t.kind == 'w':
		return p.call()
	}
	p.fail("an expression is missing")
	return operand{}
}

// call is a function of a column, in the forms that package oracle writes.
func (p *parser) call() operand {
	name := p.next().text
	if p.is(".") { // DBMS_LOB.GETLENGTH
		name += "." + p.next().text
	}
	p.want("(")
	if name == "XMLSERIALIZE" {
		p.want("CONTENT")
	}
	o := p.column()
	switch name {
	case "XMLSERIALIZE":
		p.want("AS", "CLOB")
	case "JSON_SERIALIZE", "FROM_VECTOR":
		p.want("RETURNING", "CLOB")
	case "CAST":
		p.want("AS", "VARCHAR2", "(")
		p.kind('n', "a length")
		p.want(")")
	case "TO_CHAR":
		if p.is(",") {
			o.format = p.kind('s', "a format")
		}
	case "SYS_EXTRACT_UTC", "DBMS_LOB.GETLENGTH", "ROWIDTOCHAR", "RAWTOHEX":
	default:
		p.fail("the double has no function " + name)
	}
	p.want(")")
	o.function = name
	return o
}

func (p *parser) or() *condition {
	c := p.and()
	for p.is("OR") {
		c = &condition{op: "OR", kids: []*condition{c, p.and()}}
	}
	return c
}

func (p *parser) and() *condition {
	c := p.test()
	for p.is("AND") {
		c = &condition{op: "AND", kids: []*condition{c, p.test()}}
	}
	return c
}

func (p *parser) test() *condition {
	if p.is("(") {
		c := p.or()
		p.want(")")
		return c
	}
	left := p.column()
	switch {
	case p.is("BETWEEN"):
		c := &condition{op: "BETWEEN", left: left, right: p.bound()}
		p.want("AND")
		c.last = p.bound()
		return c
	case p.is("IS"):
		if p.is("NOT") {
			p.want("NULL")
			return &condition{op: "NOT NULL", left: left}
		}
		p.want("NULL")
		return &condition{op: "NULL", left: left}
	}
	t := p.next()
	if t.kind != 'p' || !strings.Contains(" < <= > >= = ", " "+t.text+" ") {
		p.fail("a comparison is missing")
	}
	return &condition{op: t.text, left: left, right: p.bound()}
}

// bound is a bind, or a function that makes a value of one.
func (p *parser) bound() operand {
	if p.peek().kind == 'b' {
		return p.bind()
	}
	name := p.kind('w', "a bind")
	p.want("(")
	o := p.bind()
	o.function = name
	if p.is(",") {
		o.format = p.kind('s', "a format")
	}
	p.want(")")
	switch name {
	case "TO_NUMBER", "TO_DATE", "TO_TIMESTAMP", "HEXTORAW", "CHARTOROWID":
	default:
		p.fail("the double has no function " + name)
	}
	return o
}
