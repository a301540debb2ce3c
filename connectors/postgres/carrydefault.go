package postgres

import (
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"
)

// defaults carries defaults and what numbers columns.
func (m *carrier) defaults() {
	for i := range m.Source.Columns {
		s := &m.Source.Columns[i]
		x := m.Column(s.Name)
		if x == nil || x.Computed {
			if x != nil {
				m.done["expression of "+s.Name] = renamed(s.Name, x.Name)
			}
			continue
		}
		if s.Generated != "" {
			_, m.why["expression of "+s.Name] = compute(m.Carrying, s)
		}
		if s.Identity || s.Sequence != nil {
			if why := m.numbering(s, x); why != "" {
				m.why["numbering of "+s.Name] = why
			} else {
				m.done["numbering of "+s.Name] = renamed(s.Name, x.Name)
			}
		}
		if s.Default == "" || s.Sequence != nil {
			continue
		}
		if text, why := m.defaultOf(s, x); why != "" {
			m.why["default of "+s.Name] = why
		} else {
			m.out.Defaults[x.Name] = text
			m.done["default of "+s.Name] = renamed(s.Name, x.Name)
		}
	}
}

// numbering makes a column an identity, or gives it a sequence to draw from, as
// the source has it; an identity where the source does not tell.
func (m *carrier) numbering(s *schema.Column, x *connectors.CarryColumn) string {
	if x.Value {
		return "the column is computed on the way"
	}
	from := s.Sequence
	if from == nil {
		from = &schema.Sequence{Identity: schema.IdentityByDefault, Increment: 1, Cache: 1}
	}
	to := *from
	to.Last = nil
	if !x.Same() { // the bounds of another type are not this one's
		to.Type, to.Min, to.Max, to.Start = "", 0, 0, 0
	}
	if from.Identity != "" {
		if !isInteger(x.Native) {
			return "an identity is smallint, integer or bigint, and it is " + x.Native
		}
		to.Name = schema.Name{}
		m.out.Sequences[x.Name] = &to
		return ""
	}
	name, made := m.Sequences[from.Name]
	if !made {
		name = schema.Name{Schema: m.Target.Schema, Name: m.name(from.Name.Name, cut(m.Target.Name+"_"+x.Name, "_seq"))}
		m.Sequences[from.Name] = name
	}
	to.Name, to.Owned = name, from.Owned && !made
	m.out.Sequences[x.Name] = &to
	return ""
}

// defaultOf is a default in the target's SQL. A constant can go into a column of
// another type, as text that the server reads; another expression only where
// both ends are PostgreSQL and the types agree.
func (m *carrier) defaultOf(s *schema.Column, x *connectors.CarryColumn) (string, string) {
	if x.Value {
		return "", "the column is computed on the way"
	}
	tokens := scan(s.Default)
	if x.Same() && m.Kind == Kind {
		if why := home(tokens); why == "" {
			return s.Default, ""
		}
	}
	if text := constant(tokens); text != "" {
		return text, ""
	}
	switch {
	case m.Kind != Kind:
		return "", fmt.Sprintf("%s is in the words of %s", strings.TrimSpace(s.Default), m.Kind)
	case home(tokens) != "":
		return "", home(tokens)
	}
	return "", "the column is " + x.Native + " at the target"
}

// constant is a default that is a literal, whatever it is cast to; "" for another
// expression. Of what all databases write alike CURRENT_TIMESTAMP is one too.
func constant(tokens []token) string {
	for len(tokens) > 2 && tokens[0].is("(") && matching(tokens, 0) == len(tokens)-1 {
		tokens = tokens[1 : len(tokens)-1]
	}
	if len(tokens) == 0 {
		return ""
	}
	text, n := tokens[0].text, 1
	if (tokens[0].is("-") || tokens[0].is("+")) && nth(tokens, 1).kind == tokenNumber {
		text, n = text+tokens[1].text, 2
	}
	last := tokens[n-1]
	switch word := strings.ToUpper(last.text); {
	case last.kind == tokenString && !strings.HasPrefix(last.text, "B") && !strings.HasPrefix(last.text, "X"), last.kind == tokenNumber:
	case last.kind == tokenWord && (word == "TRUE" || word == "FALSE" || word == "NULL" || word == "CURRENT_TIMESTAMP" || word == "CURRENT_DATE"):
	case last.is("(") && matching(tokens, 0) < len(tokens)-1: // ('x')::type
		inner := constant(tokens[:matching(tokens, 0)+1])
		if inner == "" {
			return ""
		}
		text, n = inner, matching(tokens, 0)+1
	default:
		return ""
	}
	if !casts(tokens[n:]) || slices.Contains(moments, strings.ToLower(strings.Trim(text, "'"))) {
		return ""
	}
	return text
}

// moments are texts that mean another value each time they are read as a date.
var moments = []string{"now", "today", "tomorrow", "yesterday"}

// casts reports tokens that are casts and nothing else.
func casts(tokens []token) bool {
	for i, t := range tokens {
		switch {
		case i == 0 && !t.is("::"), t.is("::") && strings.HasPrefix(nth(tokens, i+1).text, "reg"):
			return false
		case t.kind == tokenOther && !strings.Contains(":: . ( ) [ ] ,", t.text), t.kind == tokenString:
			return false
		case t.kind == tokenWord && strings.ToUpper(t.text) == t.text: // a keyword: the server writes types in lower case
			return false
		}
	}
	return true
}
