package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"penstock/connectors"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
	"penstock/internal/batch"
	"penstock/internal/schema"
	"penstock/internal/secret"
	"penstock/internal/workload"
)

// double is where a served double is, its first line of output.
type double struct {
	Host       string              `json:"host"`
	Port       int                 `json:"port"`
	Service    string              `json:"service"`
	User       string              `json:"user"`
	Password   string              `json:"password"`
	SCN        uint64              `json:"scn"`
	Read       map[string]string   `json:"read"`       // statements that read whole tables
	Statements map[string][]string `json:"statements"` // all that a plan shows of a table, by split
}

// serveDouble is the child's side.
func serveDouble() error {
	db := oracletest.NewDatabase()
	for _, name := range strings.Split(*serve, ",") {
		switch name {
		case "big_table":
			bigTable(db, *big)
		case "firenibble":
			fireNibble(db, *nibble)
		case "types":
			typesTable(db)
		default:
			return fmt.Errorf("there is no table %q to serve", name)
		}
	}
	s, err := oracletest.NewServer(db)
	if err != nil {
		return err
	}
	if *stall != "" {
		s.Spoil(oracletest.Fault{At: 1, Statement: *stall, Harm: oracletest.Stall})
	}
	at := double{Host: s.Host, Port: s.Port, Service: s.Service, User: s.User, Password: s.Password, SCN: db.SCN()}
	if at.Read, at.Statements, err = statements(&at); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close()
}

// statements are those that a plan shows.
func statements(d *double) (read map[string]string, all map[string][]string, err error) {
	src, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	cat, err := src.Catalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	read, all = map[string]string{}, map[string][]string{"": oracletest.Dictionary()}
	def := oracle.Definition().Source
	for i := range cat.Tables {
		t := &cat.Tables[i]
		x := connectors.Extract{Table: t, Columns: columnsOf(t)}
		for _, kind := range def.Splits(t) {
			x.Split.Kind = kind
			for _, s := range def.Explain.Read(x) {
				all[t.Name.String()] = append(all[t.Name.String()], s.SQL)
			}
		}
		x.Split.Kind = connectors.SplitNone
		read[t.Name.String()] = def.Explain.Read(x)[0].SQL
	}
	return read, all, nil
}

func columnsOf(t *schema.Table) (out []string) {
	for _, c := range t.Columns {
		if c.Problem == "" {
			out = append(out, c.Name)
		}
	}
	return out
}

// open opens the double as the source of a pipeline.
func (d *double) open() (connectors.Source, error) {
	return oracle.Definition().Source.Open(ctx, &oracle.SourceConfig{Host: d.Host, Port: d.Port, Service: d.Service, User: d.User, Password: secret.Ref{Env: "PASSWORD"}},
		connectors.Env{Pipeline: "bench", TLS: "off", Secrets: secret.Resolver{Env: func(string) (string, bool) { return d.Password, true }}})
}

// startDouble starts this program as a server.
func startDouble(tables string) (*double, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := exec.Command(self, "-serve", tables, fmt.Sprintf("-big=%d", *big), fmt.Sprintf("-firenibble=%d", *nibble))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = in.Close()
		if err := c.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "oracle: the double:", err)
		}
	}
	d := &double{}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(d); err != nil {
		stop()
		return nil, nil, err
	}
	return d, stop, nil
}

func bigTable(db *oracletest.Database, rows int) {
	fill(db, "big_table", rows, &oracletest.Table{Owner: "SCOTT", Name: "BIG_TABLE", PrimaryKey: []string{"ID"}, RowsPerBlock: 120, ExtentBlocks: 128, Columns: []oracletest.Column{
		{Name: "ID", Type: "NUMBER", NotNull: true}, {Name: "SMALL_NUMBER", Type: "NUMBER(5)"}, {Name: "BIG_NUMBER", Type: "NUMBER"}, {Name: "SHORT_STRING", Type: "VARCHAR2(50)"}, {Name: "CREATED_DATE", Type: "DATE"}}})
}

func fireNibble(db *oracletest.Database, rows int) {
	t := &oracletest.Table{Owner: "APP_DB", Name: "FIRENIBBLE1", PrimaryKey: []string{"F0"}, RowsPerBlock: 24, ExtentBlocks: 128}
	for i, typ := range []string{"NUMBER(38)", "NUMBER(38)", "NUMBER(38)", "NUMBER(38)", "FLOAT(126)", "FLOAT(126)", "FLOAT(126)", "FLOAT(126)", "VARCHAR2(128)", "VARCHAR2(128)", "DATE", "DATE", "DATE", "VARCHAR2(128)", "VARCHAR2(128)", "VARCHAR2(128)"} {
		t.Columns = append(t.Columns, oracletest.Column{Name: fmt.Sprintf("F%d", i), Type: typ, NotNull: i == 0})
	}
	fill(db, "firenibble", rows, t)
}

// fill puts a preset's rows into a table.
func fill(db *oracletest.Database, preset string, rows int, t *oracletest.Table) {
	t.Analyzed = int64(rows)
	db.Create(t)
	p := workload.Find(preset)
	made := workload.Table{Preset: p, Seed: 1, Number: 1}
	var types []schema.Type
	var columns []int
	for i, c := range p.Columns {
		types, columns = append(types, c.Type), append(columns, i)
	}
	pool := batch.NewPool(types, batch.Limits{})
	const step = 5000
	for from := 0; from < rows; from += step {
		b := pool.Builder()
		n := min(step, rows-from)
		made.Fill(b, columns, int64(from+1), n)
		sealed := b.Seal()
		all := make([][]any, n)
		for i := range all {
			for _, c := range sealed.Columns {
				all[i] = append(all[i], string(batch.AppendText(nil, c, i)))
			}
		}
		sealed.Release()
		db.Insert(t, 0, all...)
	}
}

// typesTable has a column of each type that a second client can be asked about.
func typesTable(db *oracletest.Database) {
	t := db.Create(&oracletest.Table{Owner: "T", Name: "TYPES", PrimaryKey: []string{"ID"}, Columns: []oracletest.Column{
		{Name: "ID", Type: "NUMBER(9)", NotNull: true}, {Name: "N", Type: "NUMBER"}, {Name: "S", Type: "VARCHAR2(4000 CHAR)"}, {Name: "NS", Type: "NVARCHAR2(200)"}, {Name: "F", Type: "CHAR(5 CHAR)"},
		{Name: "D", Type: "DATE"}, {Name: "TS", Type: "TIMESTAMP(9)"}, {Name: "TZ", Type: "TIMESTAMP(6) WITH TIME ZONE"}, {Name: "BF", Type: "BINARY_FLOAT"}, {Name: "BD", Type: "BINARY_DOUBLE"},
		{Name: "R", Type: "RAW(2000)"}, {Name: "C", Type: "CLOB"}, {Name: "NC", Type: "NCLOB"}, {Name: "B", Type: "BLOB"}, {Name: "IV", Type: "INTERVAL DAY(2) TO SECOND(6)"},
		{Name: "J", Type: "JSON"}, {Name: "X", Type: "XMLTYPE"}, {Name: "V", Type: "VECTOR"}, {Name: "BO", Type: "BOOLEAN"}, {Name: "U", Type: "UROWID(4000)"}, {Name: "RI", Type: "ROWID"}}})
	long := strings.Repeat("0123456789abcdef", 5000)
	db.Insert(t, 0,
		[]any{1, "-123.456", "héllo", "日本", "ab", "2024-03-10 02:30:00", "2024-03-10 02:30:00.123456789", "2024-03-10 02:30:00+05:30", "1.5", "0.1", "dead", "ünï", "日本", "00ff", "-00 05:00:00.000000", `{"a": 1}`, "<a/>", "[1.0]", "TRUE", "*BAMAAJMCwQL+", "AAASZHAAEAAAAFXAAA"},
		[]any{2, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		[]any{3, "99999999999999999999999999999999999999", long[:3000], "x", "abcde", "9999-12-31 23:59:59", "1969-12-31 23:59:59.5", "2024-01-01 00:00:00-08:00", "-2.25", "-1e300", strings.Repeat("0a", 300), long, long, long, "+99 23:59:59.999999", "[]", "<b>x</b>", "[]", "FALSE", "x", "AAASZHAAEAAAAFXAAB"})
	many := db.Create(&oracletest.Table{Owner: "T", Name: "MANY", Columns: []oracletest.Column{{Name: "K", Type: "NUMBER(9)"}, {Name: "SAME", Type: "VARCHAR2(10)"}, {Name: "SOME", Type: "NUMBER(3)"}}})
	var rows [][]any
	for i := range 5000 {
		rows = append(rows, []any{i, "same", i / 7 % 3})
	}
	db.Insert(many, 0, rows...)
}
