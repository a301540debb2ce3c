package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Marshal writes a plan in its one canonical form: fields in the order of the
// structs, two blanks of indent, no HTML escapes, a newline at the end. Equal
// plans give equal bytes.
func Marshal(p *Plan) ([]byte, error) {
	var b bytes.Buffer
	if err := Encode(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// compact is JSON on one line without HTML escapes.
func compact(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Parse reads a plan that Marshal wrote. Another format version and unknown
// fields are errors: a plan that is half understood would be half carried out.
func Parse(src []byte) (*Plan, error) {
	var head struct {
		FormatVersion *int `json:"format_version"`
	}
	if err := json.Unmarshal(src, &head); err != nil {
		return nil, syntax(src, err)
	}
	switch {
	case head.FormatVersion == nil:
		return nil, errors.New("it is no plan: it has no format_version. A plan is what `penstock plan --out FILE` writes")
	case *head.FormatVersion != FormatVersion:
		return nil, fmt.Errorf("its format_version is %d, this penstock reads %d: plan again with this version", *head.FormatVersion, FormatVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, fmt.Errorf("it has a field %s that this penstock does not know: plan again with this version", field)
		}
		return nil, syntax(src, err)
	}
	return &p, p.check()
}

// ParseToShow reads a plan of any version as far as this one understands it, to
// be looked at: what can't be carried out can still be read. notes are sentences
// on what is not as it should be.
func ParseToShow(src []byte) (p *Plan, notes []string, err error) {
	p, strict := Parse(src)
	if strict == nil {
		return p, nil, nil
	}
	p = &Plan{}
	if err := json.Unmarshal(src, p); err != nil {
		return nil, nil, syntax(src, err)
	}
	if p.FormatVersion == 0 || p.Pipelines == nil && p.Endpoints == nil {
		return nil, nil, strict
	}
	return p, []string{"A run would refuse it: " + strict.Error() + ". What this version understands of it is shown."}, nil
}

// syntax says in which line the JSON stops being a plan.
func syntax(src []byte, err error) error {
	var at int64 = -1
	var s *json.SyntaxError
	var t *json.UnmarshalTypeError
	switch {
	case errors.As(err, &s):
		at = s.Offset
	case errors.As(err, &t):
		at = t.Offset
		err = fmt.Errorf("%s can't be a %s", t.Field, t.Value)
	}
	if at < 0 || at > int64(len(src)) {
		return fmt.Errorf("it is no plan: %w", err)
	}
	return fmt.Errorf("it is no plan: line %d: %w", 1+bytes.Count(src[:at], []byte("\n")), err)
}

// check refuses a plan whose parts don't refer to each other, so that a runner
// need not look twice.
func (p *Plan) check() error {
	endpoints := map[string]bool{}
	for _, e := range p.Endpoints {
		endpoints[e.ID] = true
	}
	for i := range p.Pipelines {
		l := &p.Pipelines[i]
		for _, id := range []string{l.Source, l.Target} {
			if !endpoints[id] {
				return fmt.Errorf("pipeline %s uses %s, which is not among the plan's endpoints", l.Name, id)
			}
		}
		tables, stages := map[string]bool{}, map[string]bool{}
		for j := range l.Tables {
			t := &l.Tables[j]
			tables[t.Source.String()] = true
			if d := l.DigestOf(t); t.Digest != d {
				return fmt.Errorf("pipeline %s, table %s: the digest is not that of the table: the plan was edited by hand. Change the spec and plan again", l.Name, t.Source)
			}
		}
		for _, s := range l.Stages {
			if stages[s.ID] {
				return fmt.Errorf("pipeline %s has two stages %q", l.Name, s.ID)
			}
			stages[s.ID] = true
		}
		for _, s := range l.Stages {
			if s.Table != "" && !tables[s.Table] {
				return fmt.Errorf("pipeline %s, stage %q: there is no table %s", l.Name, s.ID, s.Table)
			}
			for _, id := range append(append([]string{}, s.After...), s.With...) {
				if !stages[id] {
					return fmt.Errorf("pipeline %s, stage %q: there is no stage %q", l.Name, s.ID, id)
				}
			}
		}
	}
	return nil
}
