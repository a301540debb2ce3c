package rowexpr

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"penstock/internal/diag"
	"penstock/internal/schema"
)

// Evaluation costs parts times rows, so both are bounded. Five thousand parts
// leave room for a long list after "in".
const (
	maxBytes = 32 << 10
	maxParts = 5000
)

// source is the text of an expression, its tokens and its tree.
type source struct {
	text   string
	starts []int // byte offset of each rune, and of the end
	tokens []lexer.Token
	tree   ast.Node
}

// read turns text into a tree. The parser stops at its first fault, so SQL
// slips are looked for before it, token by token.
func read(text string, columns []schema.Column) (*source, []Problem) {
	fail := func(code diag.Code, from, to int, summary, detail string) []Problem {
		return []Problem{{Code: code, Summary: summary, Detail: detail, From: from, To: to}}
	}
	s := &source{text: text}
	switch {
	case len(text) > maxBytes:
		return s, fail(diag.RowTooLarge, 0, len(text), "Expression is too large", fmt.Sprintf("It has %d bytes of at most %d.", len(text), maxBytes))
	case !utf8.ValidString(text):
		return s, fail(diag.RowSyntax, 0, len(text), "Expression can't be read", "It is not valid UTF-8.")
	case strings.TrimSpace(text) == "":
		return s, fail(diag.RowSyntax, 0, len(text), "Expression can't be read", "It is empty.")
	}
	for i := range text {
		s.starts = append(s.starts, i)
	}
	s.starts = append(s.starts, len(text))

	if err := s.lex(); err != nil {
		return s, []Problem{s.syntax(err)}
	}
	if problems := append(s.slips(columns), s.numbers()...); len(problems) > 0 {
		return s, problems
	}
	tree, err := parser.ParseWithConfig(s.parsable(), grammar())
	if err != nil {
		return s, []Problem{s.syntax(err)}
	}
	s.tree = tree.Node
	return s, nil
}

// grammar is what the parser knows: our functions and no other, and a bound. It
// is made once, since the maps in it cost more than an expression's parsing; the
// parser only reads it.
var grammar = sync.OnceValue(func() *conf.Config {
	config := conf.CreateNew()
	config.MaxNodes = maxParts
	for name := range config.Builtins {
		config.Disabled[name] = !isFunction(name)
	}
	return config
})

// lex reads the tokens, up to the first fault.
func (s *source) lex() error {
	l := lexer.New()
	l.Reset(file.NewSource(s.text))
	for {
		switch t, err := l.Next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		default:
			s.tokens = append(s.tokens, t)
		}
	}
}

// parsable is the text with every number that the parser could not hold, or
// would round, replaced by another of the same length. The checker reads
// numbers from the text itself.
func (s *source) parsable() string {
	out := []byte(s.text)
	for _, t := range s.tokens {
		from, to := s.bytes(t.Location)
		if t.Kind != lexer.Number || to-from < 3 {
			continue
		}
		if typ, _, fault := parseNumber(t.Value); fault == "" && typ.Kind != schema.Int64 {
			copy(out[from:to], "0."+strings.Repeat("0", to-from-2))
		}
	}
	return string(out)
}

// numbers are the faults of number literals.
func (s *source) numbers() (problems []Problem) {
	for _, t := range s.tokens {
		if t.Kind != lexer.Number {
			continue
		}
		if _, _, fault := parseNumber(t.Value); fault != "" {
			from, to := s.bytes(t.Location)
			problems = append(problems, Problem{Code: diag.RowLiteral, Summary: "Number can't be read", Detail: fault, From: from, To: to})
		}
	}
	return problems
}

// bytes turns the parser's rune offsets into byte offsets.
func (s *source) bytes(l file.Location) (from, to int) {
	last := len(s.starts) - 1
	from, to = s.starts[min(max(l.From, 0), last)], s.starts[min(max(l.To, 0), last)]
	return from, max(from, to)
}

func (s *source) syntax(err error) Problem {
	p := Problem{Code: diag.RowSyntax, Summary: "Expression can't be read", To: len(s.text)}
	var at *file.Error
	if !errors.As(err, &at) {
		p.Detail = err.Error()
		return p
	}
	p.From, p.To = s.bytes(at.Location)
	found := s.text[p.From:p.To]
	switch msg := at.Message; {
	case strings.Contains(msg, "maximum allowed nodes"):
		p.Code, p.Summary, p.From, p.To = diag.RowTooLarge, "Expression is too large", 0, len(s.text)
		p.Detail = fmt.Sprintf("It has more than %d parts.", maxParts)
	case strings.Contains(msg, "not terminated"):
		p.Detail = "A text literal is not closed: the quote that ends it is missing."
		p.From, p.To = 0, len(s.text)
		if n := len(s.tokens); n > 0 {
			_, p.From = s.bytes(s.tokens[n-1].Location)
		}
		p.From += len(s.text[p.From:]) - len(strings.TrimLeft(s.text[p.From:], " \t\r\n"))
	case strings.Contains(msg, "escape"):
		p.Detail = "A backslash begins an escape such as \\n or \\u00e4: write \\\\ for a backslash, or put the text in backquotes."
	case strings.Contains(msg, "unexpected token EOF"), strings.Contains(msg, "unexpected end"):
		p.Detail = "Something is missing at the end."
		if i := len(s.tokens) - 2; i >= 0 { // the last token is the end itself
			p.From, p.To = s.bytes(s.tokens[i].Location)
			p.Detail = fmt.Sprintf("Something is missing after %q.", s.text[p.From:p.To])
		}
	case strings.Contains(msg, "cannot be mixed"):
		p.Detail = "Beside another operator, a ?? b must stand in parentheses."
	case strings.HasPrefix(msg, "unexpected token"), strings.HasPrefix(msg, "expected"):
		p.Detail = fmt.Sprintf("%q is not expected here.", found)
	case strings.HasPrefix(msg, "unrecognized character"):
		p.Detail = fmt.Sprintf("%q means nothing in an expression.", found)
	default:
		p.Detail = strings.ToUpper(msg[:1]) + msg[1:] + "."
	}
	return p
}

// span is the bytes of a node with all its brackets. The parser keeps one token
// a node; the rest is found by extending over brackets until they balance.
func (s *source) span(n ast.Node) (from, to int) {
	first, last := len(s.tokens), -1
	s.extent(n, &first, &last, map[ast.Node]bool{})
	if last < 0 {
		return 0, len(s.text)
	}
	open, unopened := 0, 0
	for i := first; i <= last; i++ {
		switch d := depth(s.tokens[i]); {
		case d > 0:
			open++
		case d < 0 && open > 0:
			open--
		case d < 0:
			unopened++
		}
	}
	for ; unopened > 0 && first > 0; unopened-- {
		first--
	}
	if isCall(n) && open == 0 && last+1 < len(s.tokens) && s.tokens[last+1].Value == "(" {
		last, open = last+1, 1 // a call without arguments
	}
	for open > 0 && last+1 < len(s.tokens) {
		last++
		open += depth(s.tokens[last])
	}
	if _, let := n.(*ast.VariableDeclaratorNode); (let || isIf(n)) && first > 0 {
		first-- // the word itself is not in the tree
	}
	from, _ = s.bytes(s.tokens[first].Location)
	_, to = s.bytes(s.tokens[last].Location)
	return from, to
}

func isCall(n ast.Node) bool {
	switch n.(type) {
	case *ast.CallNode, *ast.BuiltinNode:
		return true
	}
	return false
}

func isIf(n ast.Node) bool {
	c, ok := n.(*ast.ConditionalNode)
	return ok && !c.Ternary
}

func depth(t lexer.Token) int {
	if t.Kind != lexer.Bracket {
		return 0
	}
	if strings.Contains("([{", t.Value) {
		return 1
	}
	return -1
}

// extent widens first..last over the tokens of n and of what it holds. A chain
// such as a < b < c shares its middle, so the tree is a graph: seen keeps the
// walk linear.
func (s *source) extent(n ast.Node, first, last *int, seen map[ast.Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	if _, ok := n.(*ast.ConditionalNode); !ok { // its location is the token that follows it
		if i := s.token(n.Location()); i >= 0 {
			*first, *last = min(*first, i), max(*last, i)
		}
	}
	for _, c := range children(n) {
		s.extent(c, first, last, seen)
	}
}

// token is the index of the token at a location, or -1.
func (s *source) token(l file.Location) int {
	lo, hi := 0, len(s.tokens)
	for lo < hi {
		mid := (lo + hi) / 2
		if s.tokens[mid].From < l.From {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(s.tokens) && s.tokens[lo].Location == l && s.tokens[lo].Kind != lexer.EOF {
		return lo
	}
	return -1
}

func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		return some(n.Node, n.From, n.To)
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.ConditionalNode:
		return some(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	}
	return nil
}

func some(nodes ...ast.Node) []ast.Node {
	out := nodes[:0]
	for _, n := range nodes {
		if n != nil {
			out = append(out, n)
		}
	}
	return out
}
