package lang

import (
	"encoding/json"
	"strings"
)

// JSONSchema describes specs in YAML to editors: JSON Schema 2020-12, made of
// the grammar. It knows shapes, words and units. What tables and columns there
// are, and what fits together, only a plan can tell; and since a folder's files
// are one spec, a file is not held to have what another may hold.
func JSONSchema(connectors []Connector) ([]byte, error) {
	root := Grammar(connectors)
	s := schemaOf(root)
	delete(s, "required")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Penstock spec"
	s["description"] = "What goes from where to where; docs/spec.md tells it at length."
	s["$defs"] = object{
		"template": object{"type": "string", "pattern": `\$\{`, "description": "A text with ${...} in it, worked out when the spec is read."},
		"empty":    object{"type": "null"},
	}
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

type object = map[string]any

// nameForm is what names of endpoints, pipelines, variables and locals look like.
const nameForm = `^[A-Za-z_][A-Za-z0-9_-]*$`

// schemaOf is what may stand in a block.
func schemaOf(b *Block) object {
	props, required := object{}, []string{}
	for _, f := range b.Fields {
		props[f.Name] = fieldSchema(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	for _, in := range b.Blocks {
		props[in.Name] = blockSchema(in)
		if in.Required {
			required = append(required, in.Name)
		}
	}
	s := object{
		"type": "object", "properties": props,
		"patternProperties":    object{"^x-": true}, // anchors live there
		"additionalProperties": false,
	}
	if b.Free {
		s["additionalProperties"] = object{"not": object{"type": "null"}}
		s["propertyNames"] = object{"pattern": nameForm}
	}
	if len(required) > 0 {
		s["required"] = required
	}
	if b.Doc != "" {
		s["description"] = plainDoc(b.Doc)
	}
	return s
}

// blockSchema is a block's key: a mapping under its labels.
func blockSchema(b *Block) object {
	if len(b.Kinds) > 0 {
		kinds := object{}
		for _, k := range b.Kinds {
			kinds[k.Name] = labelled(schemaOf(k), 1)
		}
		return object{"type": "object", "description": plainDoc(b.Doc), "properties": kinds,
			"patternProperties": object{"^x-": true}, "additionalProperties": false}
	}
	in := schemaOf(b)
	if len(b.Labels) > 0 {
		s := labelled(in, len(b.Labels))
		s["description"] = plainDoc(b.Doc)
		if b.Name == "variable" {
			s["propertyNames"] = object{"pattern": nameForm}
		}
		if b.Name == "pipeline" {
			s["propertyNames"] = object{"pattern": nameForm, "maxLength": maxPipelineName}
		}
		if b.Required {
			s["minProperties"] = 1
		}
		return s
	}
	choices := []any{in}
	if in["required"] == nil {
		choices = append(choices, object{"$ref": "#/$defs/empty"})
	}
	if b.Many {
		choices = append(choices, object{"type": "array", "items": in})
	}
	if len(choices) == 1 {
		return in
	}
	return object{"anyOf": choices, "description": plainDoc(b.Doc)}
}

// labelled puts a block under so many labels. A block without settings may be
// left empty, unless one of them is required.
func labelled(in object, labels int) object {
	leaf := any(in)
	if in["required"] == nil {
		leaf = object{"anyOf": []any{in, object{"$ref": "#/$defs/empty"}}}
	}
	for range labels {
		leaf = object{"type": "object", "patternProperties": object{"^x-": true}, "additionalProperties": leaf}
	}
	return leaf.(object)
}

// fieldSchema is what a setting takes. A template may stand for any value, but
// where the value can't be computed.
func fieldSchema(f Field) object {
	text := func(pattern string) object { return object{"type": "string", "pattern": pattern} }
	number := object{"type": "integer"}
	if f.Least != nil {
		number["minimum"] = *f.Least
	}
	words := object{"enum": f.Words}
	texts := object{"type": "array", "items": object{"type": "string"}}
	const sizeForm = `[0-9]*\.?[0-9]+ *([KMGT]iB|kB|MB|GB|TB|B)`
	var s object
	fixed := false
	switch f.Form {
	case FormWord:
		s = words
	case FormWords:
		s = object{"type": "array", "items": object{"anyOf": []any{words, object{"$ref": "#/$defs/template"}}}}
	case FormTexts:
		s = texts
	case FormTables, FormColumns:
		texts["minItems"] = 1
		s = texts
	case FormBool:
		s = object{"type": "boolean"}
	case FormInteger:
		s = number
		if f.Name == "spec" {
			s, fixed = object{"const": 1}, true
		}
	case FormNumber:
		s = object{"type": "number"}
	case FormCount:
		s = object{"anyOf": []any{number, object{"const": "auto"}}}
	case FormSize:
		s = text(`^ *` + sizeForm + ` *$`)
	case FormRate:
		s = text(`^ *` + sizeForm + ` */s *$`)
	case FormDuration:
		s = text(`^ *([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+ *$`)
	case FormSecret:
		s, fixed = text(`^\$\{ *(env\(|file\(|var\.).*\} *$`), true
	case FormSource:
		s, fixed = text(`^(\$\{ *)?source\.[A-Za-z_][A-Za-z0-9_-]*( *\})?$`), true
	case FormTarget:
		s, fixed = text(`^(\$\{ *)?target\.[A-Za-z_][A-Za-z0-9_-]*( *\})?$`), true
	case FormType:
		s, fixed = text(`^(\$\{ *)?(string|number|bool|any|(list|set|map)\(.*\))( *\})?$`), true
	case FormAny:
		s, fixed = object{}, true
	default: // texts of all kinds
		s, fixed = object{"type": "string"}, true
		if f.Required || f.Form == FormExpression || f.Form == FormPath {
			s["minLength"] = 1
		}
	}
	if !fixed {
		s = object{"anyOf": []any{s, object{"$ref": "#/$defs/template"}}}
	}
	doc := plainDoc(f.Doc)
	if f.Default != "" {
		doc = strings.TrimSpace(doc + " Default: " + plainDoc(strings.TrimSuffix(f.Default, ".")) + ".")
	}
	s["description"] = doc
	return s
}

// plainDoc is Markdown without its marks.
func plainDoc(s string) string { return strings.ReplaceAll(s, "`", "") }
