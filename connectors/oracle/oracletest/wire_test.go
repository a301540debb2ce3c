package oracletest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesReadBackAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Byte(), 0, rapid.SampledFrom([]int{5, shortValue, shortValue + 1, chunkSize + 10}).Draw(t, "limit")).Draw(t, "value")
		n := rapid.Uint64().Draw(t, "number")
		m := &message{}
		m.value(v)
		m.uint(n)
		m.counted(v)
		r := &request{b: m.b}
		if got := r.value(); !bytes.Equal(got, v) {
			t.Fatalf("%x reads back as %x", v, got)
		}
		if got := r.uint(); got != n {
			t.Fatalf("%d reads back as %d", n, got)
		}
		if got := r.counted(); !bytes.Equal(got, v) || r.err != nil || r.more() {
			t.Fatalf("%x, counted, reads back as %x (%v)", v, got, r.err)
		}
	})
}

func TestNumbersAreWrittenAsOracleDoes(t *testing.T) {
	tests := []struct {
		text string
		want []byte // as DUMP shows them in Oracle's documentation and articles
	}{
		{"0", []byte{128}}, {"1", []byte{193, 2}}, {"100", []byte{194, 2}}, {"123", []byte{194, 2, 24}}, {"-1", []byte{62, 100, 102}}, {"0.1", []byte{192, 11}}, {"-123.45", []byte{61, 100, 78, 56, 102}},
	}
	for _, c := range tests {
		if got := Number(c.text); !bytes.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", c.text, got, c.want)
		}
		if got := numberText(c.want); got != c.text {
			t.Errorf("%v is %s, want %s", c.want, got, c.text)
		}
	}
}

// TestOnlyItsOwnStatementsAreAnswered: a form that it does not know is refused,
// and fails whoever closes the server.
func TestOnlyItsOwnStatementsAreAnswered(t *testing.T) {
	db := NewDatabase()
	db.Create(&Table{Owner: "T", Name: "T", Columns: []Column{{Name: "A", Type: "NUMBER"}, {Name: "Z", Type: "TIMESTAMP(6) WITH TIME ZONE"}}})
	s, err := NewServer(db)
	if err != nil {
		t.Fatal(err)
	}
	c := &session{server: s}
	for _, sql := range []string{
		"SELECT * FROM T.T", "select 1 from dual", "DELETE FROM t", "SELECT t.\"A\" FROM \"T\".\"T\" t",
		"SELECT UPPER(t.\"A\") FROM \"T\".\"T\" AS OF SCN :scn t", "SELECT t.\"Z\" FROM \"T\".\"T\" AS OF SCN :scn t",
		"SELECT t.\"A\" FROM \"T\".\"T\" AS OF SCN :scn t WHERE t.\"A\" LIKE :x", "ALTER SESSION SET NLS_SORT = 'GERMAN'",
	} {
		if _, e := c.run(sql, [][]byte{Int(int64(db.SCN())), Int(1)}); e == nil {
			t.Errorf("%s was answered", sql)
		}
	}
	if _, e := c.run("SELECT t.\"A\" FROM \"T\".\"T\" AS OF SCN :scn t", [][]byte{Int(int64(db.SCN()))}); e != nil {
		t.Errorf("a statement of its own was refused: %s", e.Text)
	}
	if s.Close() == nil {
		t.Error("Close says nothing of the statements that were not its own")
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte{3, functionExecute, 0, 1, 1})
	f.Add([]byte{1, 6, 0, 'x', 0})
	f.Add([]byte{3, functionWho, 0, 1, 1, 4, 1, 1, 1, 1, 1, 1, 1, 'u'})
	f.Add([]byte{messagePiggyback, functionCloseCursors, 0, 1, 1, 1, 1, 2, 3, functionPing, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Server{User: "U", Password: "p", DB: NewDatabase(), Denied: map[string]bool{}}
		for _, open := range []bool{false, true} {
			c := &session{server: s, open: open, cursors: map[int]*cursor{}}
			_, _ = c.dispatch(&request{b: b}) // no panic, whatever it is
		}
	})
}

func FuzzStatement(f *testing.F) {
	f.Add("SELECT t.\"A\", TO_CHAR(t.\"B\") FROM \"T\".\"T\" AS OF SCN :scn t WHERE (t.\"A\" < :hi OR t.\"A\" IS NULL) ORDER BY t.\"A\" NULLS FIRST")
	f.Add("SELECT k1 FROM (SELECT t.\"A\" k1, ROW_NUMBER() OVER (ORDER BY t.\"A\") n FROM \"T\".\"T\" AS OF SCN :scn t) WHERE n > 1 AND MOD(n - 1, :step) = 0 ORDER BY n")
	f.Fuzz(func(t *testing.T, sql string) {
		if q, err := parseSelect(sql); err == nil && q.name == "" && q.owner == "" && len(sql) < 20 {
			t.Fatalf("%q is no statement, and parses", sql)
		}
	})
}
