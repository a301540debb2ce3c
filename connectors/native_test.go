package connectors

import (
	"slices"
	"strings"
	"testing"

	"penstock/internal/schema"
)

func TestSplitType(t *testing.T) {
	tests := []struct {
		native, word string
		args         []string
	}{
		{"NUMBER", "NUMBER", nil},
		{" numeric ( 10 , 2 ) ", "numeric", []string{"10", "2"}},
		{"TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE", []string{"6"}},
		{"INTERVAL DAY(2) TO SECOND(6)", "INTERVAL DAY TO SECOND", []string{"2", "6"}},
		{"VARCHAR2(50 CHAR)", "VARCHAR2", []string{"50 CHAR"}},
		{"nvarchar(max)", "nvarchar", []string{"max"}},
	}
	for _, c := range tests {
		got, err := SplitType(c.native)
		if err != nil || got.Word != c.word || !slices.Equal(got.Args, c.args) {
			t.Errorf("SplitType(%q) = %+v, %v; want %q %q", c.native, got, err, c.word, c.args)
		}
	}
	for _, bad := range []string{"", "(5)", "NUMBER(5", "NUMBER)5(", "NUMBER(5))"} {
		if got, err := SplitType(bad); err == nil {
			t.Errorf("SplitType(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestSplitDotted(t *testing.T) {
	tests := []struct {
		in   string
		want schema.Name
		err  string
	}{
		{"booker.big_table", schema.Name{Schema: "booker", Name: "big_table"}, ""},
		{"big_table", schema.Name{Name: "big_table"}, ""},
		{`"a.b"."c""d"`, schema.Name{Schema: "a.b", Name: `c"d`}, ""},
		{`s."x y"`, schema.Name{Schema: "s", Name: "x y"}, ""},
		{"a.b.c", schema.Name{}, "3 parts"},
		{".b", schema.Name{}, "empty part"},
		{"a.", schema.Name{}, "empty part"},
		{"", schema.Name{}, "empty part"},
		{`"a`, schema.Name{}, "not closed"},
		{`"a"b`, schema.Name{}, "only a dot"},
	}
	for _, c := range tests {
		got, err := SplitDotted(c.in)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("SplitDotted(%q) = %+v, %v; want %+v, error %q", c.in, got, err, c.want, c.err)
		}
	}
}

func FuzzSplitDotted(f *testing.F) {
	f.Add(`"a.b"."c""d"`)
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := SplitDotted(s); err == nil && n.Name == "" {
			t.Fatalf("SplitDotted(%q) gives an empty name", s)
		}
	})
}
