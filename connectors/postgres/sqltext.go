package postgres

import (
	"strings"
	"unicode/utf8"
)

// token is a piece of SQL as the server deparses it: definitions of indexes and
// constraints, expressions.
type token struct {
	space string // what stands before it
	text  string
	kind  tokenKind
}

type tokenKind byte

const (
	tokenWord   tokenKind = iota + 1 // an identifier or a keyword, unquoted
	tokenQuoted                      // an identifier in double quotes
	tokenString                      // a text in quotes, also E'...'
	tokenNumber
	tokenOther // an operator or a bracket; :: is one token
)

// scan takes SQL apart. It never fails: what it does not know is a token of one
// character. The tokens' spaces and texts together are the SQL again, but for
// spaces at the end.
func scan(sql string) []token {
	var out []token
	for i := 0; ; {
		start := i
		for i < len(sql) && (sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t') {
			i++
		}
		if i == len(sql) {
			return out
		}
		t := token{space: sql[start:i]}
		end := i + 1
		switch c := sql[i]; {
		case c == '"':
			end, t.kind = closing(sql, i, '"', false), tokenQuoted
		case c == '\'':
			end, t.kind = closing(sql, i, '\'', false), tokenString
		case (c == 'E' || c == 'B' || c == 'X') && i+1 < len(sql) && sql[i+1] == '\'':
			end, t.kind = closing(sql, i+1, '\'', c == 'E'), tokenString
		case c >= '0' && c <= '9':
			t.kind = tokenNumber
			for end < len(sql) && (wordByte(sql[end]) || sql[end] == '.') {
				end++
			}
		case wordByte(c):
			t.kind = tokenWord
			for end < len(sql) && (wordByte(sql[end]) || sql[end] == '$') {
				end++
			}
		default:
			t.kind = tokenOther
			if strings.HasPrefix(sql[i:], "::") {
				end++
			}
		}
		t.text = sql[i:end]
		out, i = append(out, t), end
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// closing is the end of a quoted text that begins at i; a doubled quote is a part
// of it. One without an end goes to the end of the SQL.
func closing(sql string, i int, quote byte, escapes bool) int {
	for i++; i < len(sql); i++ {
		switch {
		case escapes && sql[i] == '\\':
			i++
		case sql[i] != quote:
		case i+1 < len(sql) && sql[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(sql)
}

// write puts tokens together again.
func write(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.space)
		b.WriteString(t.text)
	}
	return strings.TrimLeft(b.String(), " \n")
}

// name is the identifier that a token is; "" for none.
func (t token) name() string {
	switch t.kind {
	case tokenWord:
		return t.text
	case tokenQuoted:
		return strings.ReplaceAll(strings.TrimSuffix(t.text[1:], `"`), `""`, `"`)
	}
	return ""
}

func (t token) is(text string) bool {
	return t.kind != tokenString && t.kind != tokenQuoted && t.text == text
}

// nth is a token by its number; zero beyond the ends.
func nth(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{}
	}
	return tokens[i]
}

// matching is where the bracket that opens at i closes.
func matching(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].is("("):
			depth++
		case tokens[i].is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens) - 1
}
