package sqlite

import "strings"

// definition is what only the text of a CREATE TABLE statement tells.
type definition struct {
	generated     map[string]string // expressions of computed columns, by lower-case name
	autoincrement bool
}

// parseDefinition reads the text that SQLite keeps of a table. SQLite has
// parsed it before, so it is well formed; what is not understood is left out.
func parseDefinition(sql string) definition {
	d := definition{generated: map[string]string{}}
	tokens := tokenize(sql)
	depth, first, name := 0, false, ""
	for i, t := range tokens {
		switch {
		case t.text == "(":
			depth++
			first = depth == 1
			continue
		case t.text == ")":
			depth--
		case t.text == "," && depth == 1:
			first = true
			continue
		case depth == 1 && first:
			name = strings.ToLower(t.name())
		case depth == 1 && strings.EqualFold(t.text, "AUTOINCREMENT"):
			d.autoincrement = true
		case depth == 1 && strings.EqualFold(t.text, "AS") && i+1 < len(tokens) && tokens[i+1].text == "(":
			if end := matching(tokens, i+1); end > 0 {
				d.generated[name] = strings.TrimSpace(sql[tokens[i+1].at+1 : tokens[end].at])
			}
		}
		first = false
	}
	return d
}

func matching(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// token is a word, a quoted name or text, or one other byte.
type token struct {
	text string
	at   int
}

// name takes the quotes off.
func (t token) name() string {
	if len(t.text) < 2 {
		return t.text
	}
	switch q := t.text[:1]; q {
	case "[":
		return t.text[1 : len(t.text)-1]
	case `"`, "`", "'":
		return strings.ReplaceAll(t.text[1:len(t.text)-1], q+q, q)
	}
	return t.text
}

func tokenize(sql string) []token {
	var out []token
	for i := 0; i < len(sql); {
		n := 1
		switch c := sql[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
			continue
		case strings.HasPrefix(sql[i:], "--"):
			n = until(sql[i:], "\n", 2)
			i += n
			continue
		case strings.HasPrefix(sql[i:], "/*"):
			i += until(sql[i:], "*/", 2)
			continue
		case c == '[':
			n = until(sql[i:], "]", 1)
		case c == '"' || c == '`' || c == '\'':
			n = quoted(sql[i:])
		case isWord(c):
			for n < len(sql)-i && isWord(sql[i+n]) {
				n++
			}
		}
		out = append(out, token{sql[i : i+n], i})
		i += n
	}
	return out
}

// until is the length up to and with the end mark, looked for from byte from on.
func until(s, mark string, from int) int {
	if n := strings.Index(s[min(from, len(s)):], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(s)
}

// quoted is the length of a quoted piece, in which a doubled quote is one.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if i+1 < len(s) && s[i+1] == s[0] {
			i++
			continue
		}
		return i + 1
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
