package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"penstock/connectors"
	"penstock/internal/schema"
	"penstock/planner/plan"
)

// sample is a plan of one pipeline with n tables that differ in names only.
func sample(n int) *plan.Plan {
	p := plan.Pipeline{
		Name: "p", Source: "source.a", Target: "target.b", Mode: "snapshot", Workers: 2, Memory: 64 << 20, Report: "1m",
		Resources: plan.Resources{Readers: 2, Writers: 1, Goroutines: 7, Slots: 6, SlotBytes: 11184810, MemoryBound: 64 << 20},
		BadRows:   plan.BadRows{Action: "stop"},
	}
	apply := plan.Stage{ID: "apply", Kind: plan.StageApply, Parallel: 1}
	for i := range n {
		name := fmt.Sprintf("T%d", i+1)
		t := plan.Table{
			Source: schema.Name{Schema: "A", Name: name}, Target: schema.Name{Name: strings.ToLower(name)},
			Read:    []plan.Read{{Name: "ID", Native: "NUMBER(9)", Type: schema.Type{Kind: schema.Decimal, Precision: 9}}},
			Filter:  "ID < 5 and ID > 1",
			Columns: []plan.Column{{Name: "id", Native: "bigint", Type: schema.Of(schema.Int64), Source: "ID", Decision: "exact"}},
			Key:     []string{"id"}, Range: plan.Range{Count: 2, Split: connectors.SplitBlocks},
			Chunk: plan.Chunk{Rows: 1000, RowBytes: 16, Restart: "chunk"}, Existing: "error", Create: true,
			Apply: plan.Apply{Mode: "copy", Indexes: "defer"}, OnNUL: "reject", OnInvalid: "reject",
		}
		t.Digest = p.DigestOf(&t)
		p.Tables = append(p.Tables, t)
		id := t.Source.String()
		p.Stages = append(p.Stages,
			plan.Stage{ID: "prepare " + id, Kind: plan.StagePrepare, Table: id, Parallel: 1, Statements: []connectors.Statement{{SQL: "CREATE TABLE " + t.Target.Name}}},
			plan.Stage{ID: "extract " + id, Kind: plan.StageExtract, Table: id, After: []string{"prepare " + id}, With: []string{"apply"}, Parallel: 2, Ranges: 2},
			plan.Stage{ID: "finish " + id, Kind: plan.StageFinish, Table: id, After: []string{"extract " + id}, Parallel: 1})
		apply.With = append(apply.With, "extract "+id)
		apply.Loads = append(apply.Loads, plan.TableStatements{Table: id, Statements: []connectors.Statement{
			{SQL: "BEGIN"}, {SQL: "INSERT INTO " + t.Target.Name + " VALUES (?)", Rows: 128, Comment: strings.Repeat("a long comment ", 12)}, {SQL: "COMMIT"}}})
	}
	p.Stages = append(p.Stages, apply)
	return &plan.Plan{FormatVersion: plan.FormatVersion, Pipelines: []plan.Pipeline{p}, Endpoints: []plan.Endpoint{
		{ID: "source.a", Connector: "x", Config: json.RawMessage(`{"host":"h","password":{"env":"PW"},"port":5}`), TLS: "verify", Built: true},
		{ID: "target.b", Connector: "y", Config: json.RawMessage(`{"path":"b.db"}`), Built: true},
	}}
}

func TestMarshalAndParseAreInverse(t *testing.T) {
	b, err := plan.Marshal(sample(3))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("}\n")) || !bytes.Contains(b, []byte("ID < 5 and ID > 1")) {
		t.Errorf("got %s: want a newline at the end and < and > as they are", b)
	}
	p, err := plan.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := plan.Marshal(p); !bytes.Equal(again, b) {
		t.Errorf("got\n%s\nwant\n%s", again, b)
	}
}

func TestParseRefusesWhatItDoesNotUnderstand(t *testing.T) {
	good, err := plan.Marshal(sample(1))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for _, c := range []struct{ name, src, want string }{
		{"another version", edit(`"format_version": 1`, `"format_version": 2`), "plan again with this version"},
		{"no version", `{"pipelines": []}`, "it is no plan"},
		{"no JSON", "pipelines:", "line 1"},
		{"an unknown field", edit(`"name": "p"`, `"name": "p", "nmae": "q"`), `field "nmae"`},
		{"a wrong type", edit(`"workers": 2`, `"workers": "2"`), "workers can't be a string"},
		{"something behind it", string(good) + "{}", "line 166: invalid character"},
		{"an edited filter", edit(`"ID < 5 and ID > 1"`, `"ID < 6 and ID > 1"`), "edited by hand"},
		{"an endpoint that is not there", edit(`"source": "source.a"`, `"source": "source.z"`), "source.z"},
		{"a stage that is not there", edit(`"prepare A.T1"`+"\n", `"prepare A.T2"`+"\n"), `"prepare A.T2"`},
		{"two stages of one name", edit(`"id": "finish A.T1"`, `"id": "prepare A.T1"`), "two stages"},
	} {
		_, err := plan.Parse([]byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.want)
		}
	}
}

func TestDefinitionLeavesOutWhatARunMayChange(t *testing.T) {
	p := sample(1).Pipelines[0]
	x := &p.Tables[0]
	want := string(p.Definition(x))
	p.Workers, p.Memory, p.Report = 99, 1, "2h"
	x.Create, x.Existing, x.Apply, x.Chunk, x.Range.Why = false, "append", plan.Apply{Mode: "row"}, plan.Chunk{Rows: 1}, "other"
	x.Estimates, x.Columns[0].Native, x.NotCarried = &plan.Estimates{Rows: 4}, "int8", []string{"x"}
	if got := string(p.Definition(x)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	x.Range.Auto, x.Range.Count = true, 17
	if got := string(p.Definition(x)); strings.Contains(got, "17") {
		t.Errorf("got %s: an automatic count follows the workers", got)
	}
}

func TestTextFoldsTablesThatDifferInNamesOnly(t *testing.T) {
	var folded, all bytes.Buffer
	p := sample(5)
	if err := plan.Text(&folded, p, plan.TextOptions{Run: "penstock run x.hcl"}); err != nil {
		t.Fatal(err)
	}
	if err := plan.Text(&all, p, plan.TextOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 tables alike: A.T1 to A.T5", "A.T3 -> t3", "the same for the other 4 tables", "128 rows at a time", "password from env PW", "next: penstock run x.hcl"} {
		if !strings.Contains(folded.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, folded.String())
		}
	}
	if strings.Contains(folded.String(), "CREATE TABLE t2") || !strings.Contains(all.String(), "CREATE TABLE t2") || !strings.Contains(all.String(), "INSERT INTO t5") {
		t.Errorf("folded:\n%s\nall:\n%s", folded.String(), all.String())
	}
	for _, l := range strings.Split(folded.String()+all.String(), "\n") {
		if utf8.RuneCountInString(l) > 100 || strings.TrimRight(l, " ") != l {
			t.Errorf("line of %d columns: %q", utf8.RuneCountInString(l), l)
		}
	}
}

func BenchmarkText2000Tables(b *testing.B) {
	p := sample(2000)
	for b.Loop() {
		if err := plan.Text(io.Discard, p, plan.TextOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshal2000Tables(b *testing.B) {
	p := sample(2000)
	for b.Loop() {
		if _, err := plan.Marshal(p); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	b, err := plan.Marshal(sample(2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format_version":1}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := plan.Parse(src)
		if err != nil {
			return
		}
		b, err := plan.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Parse(b)
		if err != nil {
			t.Fatalf("what Marshal wrote is refused: %v\n%s", err, b)
		}
		if again, _ := plan.Marshal(q); !bytes.Equal(again, b) {
			t.Fatalf("got\n%s\nwant\n%s", again, b)
		}
		if err := plan.Text(&bytes.Buffer{}, p, plan.TextOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
