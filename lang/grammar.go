package lang

import (
	"fmt"
	"slices"
	"strings"
)

// Form is what a setting takes.
type Form string

const (
	FormText       Form = "text"
	FormPath       Form = "path"
	FormWord       Form = "word"  // one of Words
	FormWords      Form = "words" // a list of Words
	FormTexts      Form = "list of texts"
	FormTables     Form = "list of names"   // tables of the source, or patterns
	FormColumns    Form = "list of columns" // columns of the source table
	FormExpression Form = "row expression"
	FormName       Form = "name" // at the target
	FormBool       Form = "true, false"
	FormInteger    Form = "number"
	FormNumber     Form = "number with a fraction"
	FormCount      Form = "number or `\"auto\"`"
	FormSize       Form = "size"
	FormRate       Form = "rate"
	FormDuration   Form = "duration"
	FormSecret     Form = "secret"
	FormSource     Form = "`source.name`"
	FormTarget     Form = "`target.name`"
	FormType       Form = "type of a variable"
	FormAny        Form = "any constant"
)

// Field is a setting: what it takes and what it means. It is what the decoder
// knows a block's settings by, and what docs/spec.md, the JSON Schema and editors
// are told of them.
type Field struct {
	Name     string
	Form     Form
	Words    []string // what FormWord and FormWords take
	Least    *int64   // of FormInteger and FormCount; nil: no bound
	Required bool
	Default  string // Markdown; "": none
	Doc      string // Markdown, a clause or sentences
	Example  string // a value to begin with, for drafts; "": the default, or the reader's own
}

// Block is a block of the language.
type Block struct {
	Name     string
	Doc      string   // Markdown, a sentence
	Labels   []string // what each label is: "name"
	Many     bool     // may stand more than once
	Required bool     // at least one
	Example  string   // a label to begin with, for drafts
	Free     bool     // takes settings of any name: locals
	Fields   []Field
	Blocks   []*Block
	// Kinds is what source and target blocks are, by the connector that their
	// first label names. Fields of the block itself are in each of them.
	Kinds []*Block
}

// Block finds a block by its name, or nil.
func (b *Block) Block(name string) *Block { return find(b.Blocks, name) }

// Kind finds a connector's form of a source or target block, or nil.
func (b *Block) Kind(name string) *Block { return find(b.Kinds, name) }

func find(in []*Block, name string) *Block {
	if i := slices.IndexFunc(in, func(c *Block) bool { return c.Name == name }); i >= 0 {
		return in[i]
	}
	return nil
}

// Field finds a setting by its name, or nil.
func (b *Block) Field(name string) *Field {
	if i := slices.IndexFunc(b.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &b.Fields[i]
	}
	return nil
}

func (b *Block) fieldNames() []string {
	out := make([]string, len(b.Fields))
	for i, f := range b.Fields {
		out[i] = f.Name
	}
	return out
}

// Value is what a setting takes, in Markdown.
func (f *Field) Value() string {
	words := "`" + strings.Join(f.Words, "`, `") + "`"
	switch {
	case f.Form == FormWord:
		return words
	case f.Form == FormWords:
		return "of " + words
	case f.Form == FormType:
		return "`string`, `number`, `bool`, `any`, or `list(...)`, `set(...)`, `map(...)` of them, without quotes"
	case f.Form == FormInteger && f.Least != nil && *f.Least > 0:
		return fmt.Sprintf("number, at least %d", *f.Least)
	}
	return string(f.Form)
}

// Grammar is the language with these connectors, from the top of a spec down.
func Grammar(connectors []Connector) *Block {
	root := languageBlocks()
	sides := []*Block{root.Block("source"), root.Block("target")}
	inner := []*Block{root.Block("pipeline").Block("table"), root.Block("pipeline").Block("defaults")}
	for _, c := range connectors {
		for i, config := range []any{c.Source, c.Target} {
			if config == nil {
				continue
			}
			kind := structBlock(c.Kind, structOf(config))
			kind.Labels, kind.Many = sides[i].Labels, true
			kind.Fields = append(slices.Clone(sides[i].Fields), kind.Fields...)
			sides[i].Kinds = append(sides[i].Kinds, kind)
		}
		if c.Table != nil {
			for _, in := range inner {
				b := structBlock(c.Kind, structOf(c.Table))
				b.Doc = "What a table has of the target's own, where the target is " + c.Kind + "."
				in.Blocks = append(in.Blocks, b)
			}
		}
	}
	return root
}
