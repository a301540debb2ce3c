//go:build oracle

package oracle_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/connectors/oracle"
	"penstock/internal/schema"
	"penstock/internal/secret"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"
)

// reality is the Oracle that make conformance-oracle was told of. Its user makes
// tables whose names begin with PENSTOCK_ in its own schema, and drops them.
func reality(t *testing.T) (*oracle.SourceConfig, connectors.Env, func(sql string)) {
	t.Helper()
	port, err := strconv.Atoi(cmp.Or(os.Getenv("ORACLE_PORT"), "1521"))
	if err != nil {
		t.Fatal(err)
	}
	c := &oracle.SourceConfig{Host: os.Getenv("ORACLE_HOST"), Port: port, Service: os.Getenv("ORACLE_SERVICE"), User: os.Getenv("ORACLE_USER"), Password: secret.Ref{Env: "ORACLE_PASSWORD"}}
	env := connectors.Env{Pipeline: "conformance", TLS: cmp.Or(os.Getenv("ORACLE_TLS"), "off"), Secrets: secret.Resolver{Env: os.LookupEnv}}
	o := &configurations.ConnectionConfig{PrefetchRows: 100}
	o.Servers = []configurations.ServerAddr{{Addr: c.Host, Port: c.Port, Protocol: "tcp"}}
	o.Protocol, o.ServiceName, o.UserID, o.DatabaseInfo.Password, o.Location = "tcp", c.Service, c.User, os.Getenv("ORACLE_PASSWORD"), "UTC"
	if env.TLS == "verify" {
		o.Protocol, o.Servers[0].Protocol, o.SSLVerify = "tcps", "tcps", true
	}
	o.SessionDataUnitSize, o.TransportDataUnitSize = 1<<16, 1<<16
	o.Language, o.Territory = "AMERICAN", "AMERICA"
	conn, err := goora.NewConnection("", o)
	if err == nil {
		err = conn.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return c, env, func(sql string) {
		t.Helper()
		if _, err := conn.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// remake drops a table where there is one, and makes it.
func remake(t *testing.T, do func(string), name, columns string) {
	t.Helper()
	drop := fmt.Sprintf("BEGIN EXECUTE IMMEDIATE 'DROP TABLE %s PURGE'; EXCEPTION WHEN OTHERS THEN IF SQLCODE <> -942 THEN RAISE; END IF; END;", name)
	do(drop)
	do("CREATE TABLE " + name + " " + columns)
	t.Cleanup(func() { do(drop) })
}

func TestConformanceOnOracle(t *testing.T) {
	c, env, do := reality(t)
	remake(t, do, "PENSTOCK_HEAP", "(id NUMBER(10) PRIMARY KEY, name VARCHAR2(40 CHAR), at DATE, note CLOB) SEGMENT CREATION IMMEDIATE")
	do("INSERT INTO PENSTOCK_HEAP SELECT LEVEL, 'name ' || MOD(LEVEL, 17), DATE '2026-01-02' + LEVEL, CASE MOD(LEVEL, 3) WHEN 0 THEN EMPTY_CLOB() WHEN 1 THEN TO_CLOB('note') END FROM dual CONNECT BY LEVEL <= 3000")
	remake(t, do, "PENSTOCK_IOT", "(a VARCHAR2(10), b TIMESTAMP(6), c BINARY_DOUBLE, PRIMARY KEY (a, b)) ORGANIZATION INDEX")
	do("INSERT INTO PENSTOCK_IOT SELECT 'k' || MOD(LEVEL, 10), TIMESTAMP '2026-01-01 00:00:00.5' + NUMTODSINTERVAL(LEVEL, 'SECOND'), LEVEL / 7 FROM dual CONNECT BY LEVEL <= 90")
	remake(t, do, "PENSTOCK_EMPTY", "(id NUMBER PRIMARY KEY)")
	owner := strings.ToUpper(c.User)
	next := 10_000
	h := conformance.SourceHarness{Definition: oracle.Definition(), Config: c, Env: env, Tables: map[string]int64{owner + ".PENSTOCK_HEAP": 3000}}
	h.Insert = func(t testing.TB, _ string) func() {
		next++
		do(fmt.Sprintf("INSERT INTO PENSTOCK_HEAP (id) VALUES (%d)", next))
		t.Cleanup(func() { do("DELETE FROM PENSTOCK_HEAP WHERE id >= 10000") })
		return func() {}
	}
	conformance.Source(t, h)
	conformance.Source(t, conformance.SourceHarness{Definition: oracle.Definition(), Config: c, Env: env, Tables: map[string]int64{owner + ".PENSTOCK_IOT": 90, owner + ".PENSTOCK_EMPTY": 0}})
}

// TestTypesOnOracle reads what the database made of literals.
func TestTypesOnOracle(t *testing.T) {
	c, env, do := reality(t)
	tests := []struct{ typ, literal, want string }{
		{"NUMBER", "1E40", "1" + strings.Repeat("0", 40)},
		{"NUMBER(5,-2)", "1234567", "1234600"},
		{"FLOAT(126)", "-1E-30", "-0." + strings.Repeat("0", 29) + "1"},
		{"BINARY_DOUBLE", "BINARY_DOUBLE_NAN", "NaN"},
		{"BINARY_FLOAT", "1.5f", "1.5"},
		{"CHAR(5 CHAR)", "'ab'", "ab   "},
		{"NVARCHAR2(20)", "N'ünï'", "ünï"},
		{"DATE", "DATE '-4712-01-01'", "-4711-01-01 00:00:00"},
		{"TIMESTAMP(9)", "TIMESTAMP '2026-03-29 02:30:00.123456789'", "2026-03-29 02:30:00.123456789"},
		{"TIMESTAMP(6) WITH TIME ZONE", "TIMESTAMP '2026-07-01 00:00:00 Europe/Zurich'", "2026-06-30 22:00:00+00:00"},
		{"TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP '2026-07-01 00:00:00 +05:30'", "2026-06-30 18:30:00+00:00"},
		{"INTERVAL DAY(2) TO SECOND(6)", "INTERVAL '-0 05:00:00' DAY TO SECOND", "-00 05:00:00.000000"},
		{"RAW(16)", "HEXTORAW('00FF')", `\x00ff`},
		{"CLOB", "EMPTY_CLOB()", ""},
		{"NCLOB", "TO_NCLOB('é')", "é"},
		{"BLOB", "HEXTORAW('00')", `\x00`},
		{"XMLTYPE", "XMLTYPE('<a>1</a>')", "<a>1</a>"},
		{"VARCHAR2(10)", "''", conformance.Null},
	}
	var columns, values, names []string
	for i, x := range tests {
		names = append(names, fmt.Sprintf("C%d", i))
		columns = append(columns, fmt.Sprintf("C%d %s", i, x.typ))
		values = append(values, x.literal)
	}
	remake(t, do, "PENSTOCK_TYPES", "("+strings.Join(columns, ", ")+")")
	do("INSERT INTO PENSTOCK_TYPES VALUES (" + strings.Join(values, ", ") + ")")
	src, err := oracle.Definition().Source.Open(context.Background(), c, env)
	if err != nil {
		t.Fatal(err)
	}
	rows := conformance.ReadAll(t, src, schema.Name{Schema: strings.ToUpper(c.User), Name: "PENSTOCK_TYPES"}, names)
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1", len(rows))
	}
	for i, x := range tests {
		if rows[0][i] != x.want {
			t.Errorf("%s of %s: got %q, want %q", x.typ, x.literal, rows[0][i], x.want)
		}
	}
}
