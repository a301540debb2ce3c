//go:build unix

package postgrestest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

var databases atomic.Int64

// Database is an empty database of the server, dropped when the test ends.
type Database struct {
	*Server
	Name string
}

// Database makes one.
func (s *Server) Database(t testing.TB) *Database {
	t.Helper()
	d := &Database{Server: s, Name: fmt.Sprintf("test_%d", databases.Add(1))}
	run := func(sql string) {
		t.Helper()
		c, err := s.Connect(context.Background(), User)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		if _, err := c.Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE DATABASE " + d.Name)
	t.Cleanup(func() { run("DROP DATABASE " + d.Name + " WITH (FORCE)") })
	return d
}

// Exec runs statements, several of them if they stand in one text.
func (d *Database) Exec(t testing.TB, sql string) {
	t.Helper()
	d.Query(t, sql)
}

// Query runs a statement and gives the rows of the last result as the server
// writes them; NULL is a nil slice.
func (d *Database) Query(t testing.TB, sql string) [][][]byte {
	t.Helper()
	c := d.Conn(t)
	defer c.Close(context.Background())
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if len(results) == 0 {
		return nil
	}
	return results[len(results)-1].Rows
}

// Ask gives the rows of a query as text, columns joined by | and rows by blanks.
func (d *Database) Ask(t testing.TB, sql string) string {
	t.Helper()
	var rows []string
	for _, r := range d.Query(t, sql) {
		var values []string
		for _, v := range r {
			values = append(values, string(v))
		}
		rows = append(rows, strings.Join(values, "|"))
	}
	return strings.Join(rows, " ")
}

// Conn connects to the database as the superuser; the caller closes it.
func (d *Database) Conn(t testing.TB) *pgconn.PgConn {
	t.Helper()
	c, err := d.Connect(context.Background(), d.Name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
