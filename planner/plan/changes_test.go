package plan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func recorded(t testing.TB, name string) *Plan {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../examples", name, name+".plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestChangesAreToldInWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"nothing", func(*Plan) {}, ""},
		{"estimates", func(p *Plan) { p.Pipelines[0].Tables[0].Estimates = &Estimates{Rows: 7} }, ""},
		{"workers", func(p *Plan) { p.Pipelines[0].Workers = 3 }, "pipeline quickstart: workers was 8, is 3"},
		{"table gone", func(p *Plan) { p.Pipelines[0].Tables = nil }, "pipeline quickstart: table big_table is gone"},
		{"column gone", func(p *Plan) { p.Pipelines[0].Tables[0].Columns = p.Pipelines[0].Tables[0].Columns[1:] }, "pipeline quickstart, table big_table: target column id is gone"},
		{"type", func(p *Plan) { p.Pipelines[0].Tables[0].Columns[0].Native = "TEXT" }, "pipeline quickstart, table big_table: target column id native was INTEGER, is TEXT"},
		{"source type", func(p *Plan) { p.Pipelines[0].Tables[0].Read[0].Native = "text" }, "pipeline quickstart, table big_table: source column id was bigint NOT NULL, is text NOT NULL"},
		{"filter", func(p *Plan) { p.Pipelines[0].Tables[0].Filter = "" }, "pipeline quickstart, table big_table: filter was small_number != 4, is unset"},
		{"ranges", func(p *Plan) { p.Pipelines[0].Tables[0].Range.Count = 2 }, "pipeline quickstart, table big_table: range count was 8, is 2"},
		{"statement", func(p *Plan) { p.Pipelines[0].Stages[0].Statements[0].SQL = "CREATE" }, "statement new: CREATE"},
		{"warning", func(p *Plan) {
			p.Warnings = append(p.Warnings, Warning{Code: "PEN0702", Object: "x", Summary: "In the clear"})
		}, "warning new: PEN0702 x: In the clear"},
		{"endpoint", func(p *Plan) { p.Endpoints[0].Throttle = 5 }, "endpoint source.shop: throttle bytes per second was unset, is 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := recorded(t, "quickstart")
			c.change(is)
			got := Changes(recorded(t, "quickstart"), is)
			if c.want == "" && got != nil {
				t.Errorf("got %q, want none", got)
			}
			if c.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("got %q, want a line with %q", got, c.want)
			}
		})
	}
}

// Whatever value of a plan is set to another one, it is told.
func TestNoChangeGoesUntold(t *testing.T) {
	base := []string{"quickstart", "big_table", "orders_dump"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(base).Draw(t, "plan")
		src, err := os.ReadFile(filepath.Join("../../examples", name, name+".plan.json"))
		if err != nil {
			t.Fatal(err)
		}
		var was, is Plan
		if json.Unmarshal(src, &was) != nil || json.Unmarshal(src, &is) != nil {
			t.Fatal("no plan")
		}
		path := mutate(t, reflect.ValueOf(&is).Elem(), "plan")
		equal := reflect.DeepEqual(object(bare(&was)), object(bare(&is)))
		if got := Changes(&was, &is); (len(got) == 0) != equal {
			t.Fatalf("after a change at %s: got %q, plans equal: %v", path, got, equal)
		}
	})
}

// mutate changes one value somewhere in v and says where.
func mutate(t *rapid.T, v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Struct:
		i := rapid.IntRange(0, v.NumField()-1).Draw(t, path)
		return mutate(t, v.Field(i), path+"."+v.Type().Field(i).Name)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			return path + " set"
		}
		return mutate(t, v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			return path + " left alone"
		}
		i := rapid.IntRange(-1, v.Len()-1).Draw(t, path)
		if i < 0 {
			v.SetLen(v.Len() - 1)
			return path + " shortened"
		}
		return mutate(t, v.Index(i), path)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8:
		return path + " left alone"
	}
	return path
}

func TestAPlanOfAnotherVersionCanBeLookedAt(t *testing.T) {
	src, err := Marshal(recorded(t, "quickstart"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"format":  strings.Replace(string(src), `"format_version": 1`, `"format_version": 2`, 1),
		"field":   strings.Replace(string(src), `"format_version": 1,`, `"format_version": 1, "colour": "red",`, 1),
		"by hand": strings.Replace(string(src), `"small_number != 4"`, `"small_number != 5"`, 1),
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: Parse takes it", name)
		}
		p, notes, err := ParseToShow([]byte(text))
		if err != nil || len(notes) != 1 || len(p.Pipelines) != 1 {
			t.Errorf("%s: got %+v, notes %q, %v; want the plan and one note", name, p, notes, err)
		}
	}
	for _, text := range []string{"", "{}", "[]", `{"format_version": 3}`, `{"hello": 1}`} {
		if p, _, err := ParseToShow([]byte(text)); err == nil {
			t.Errorf("%q: got %+v, want an error", text, p)
		}
	}
}
