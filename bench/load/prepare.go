package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"penstock/bench/pgbench"
	"penstock/internal/workload"

	_ "modernc.org/sqlite" // database/sql drivers register themselves
)

// bench is a server with what the loaders read.
type bench struct {
	*pgbench.Server
	peers peers
}

// origin is the database that a table's files are written from and pgcopydb
// reads, which copies whatever is in it.
func origin(table string) string { return "origin_" + table }

// pieces is into how many files a table is cut, by its key: as many as there
// are workers at most, so that each has the same of them.
const pieces = 4

// prepare makes the files and the origin's tables that the cases ask for.
func (b *bench) prepare(chosen []load) error {
	done := map[string]bool{}
	need := func(what string, do func() error) error {
		if done[what] {
			return nil
		}
		done[what] = true
		fmt.Fprintln(os.Stderr, "making", what)
		return do()
	}
	for _, l := range chosen {
		if l.from == "synthetic" || l.from == "memory" || !b.peers.have(l.who) {
			continue
		}
		if err := need("the rows of "+l.table, func() error {
			if err := b.Exec("CREATE DATABASE " + origin(l.table)); err != nil {
				return err
			}
			if err := b.self(spec{table: l.table, from: "synthetic", workers: 2, indexes: "defer", to: origin(l.table)}, size(l.table)); err != nil {
				return err
			}
			return b.forget(l.table)
		}); err != nil {
			return err
		}
		var err error
		switch l.from {
		case "text", "file":
			err = need("text files of "+l.table, func() error { return b.files(l.table, "text") })
		case "binary":
			err = need("binary files of "+l.table, func() error { return b.files(l.table, "binary") })
		case "sqlite":
			err = need("an SQLite file of "+l.table, func() error {
				if err := b.self(spec{table: l.table, from: "synthetic", workers: 2, to: "sqlite"}, size(l.table)); err != nil {
					return err
				}
				return b.forgetSQLite(l.table)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// self runs this program as a loader, outside of any measurement.
func (b *bench) self(s spec, n int64) error {
	if out, err := b.command(s, n).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// forget drops what Penstock remembers of the origin's table: pgcopydb would
// copy it too.
func (b *bench) forget(table string) error {
	ctx := context.Background()
	conn, err := b.Connect(ctx, origin(table))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "DROP TABLE penstock_owner, penstock_table, penstock_chunk, penstock_script, penstock_ddl").ReadAll()
	return err
}

// forgetSQLite does the same to the SQLite file.
func (b *bench) forgetSQLite(table string) error {
	db, err := sql.Open("sqlite", b.sqliteFile(table))
	if err != nil {
		return err
	}
	_, err = db.Exec("DROP TABLE penstock_owner; DROP TABLE penstock_table; DROP TABLE penstock_chunk; DROP TABLE IF EXISTS penstock_script")
	return errors.Join(err, db.Close())
}

// files has the server write the table in one of COPY's formats.
func (b *bench) files(table, format string) error {
	ctx := context.Background()
	conn, err := b.Connect(ctx, origin(table))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	key := workload.Find(table).Key[0]
	options := "FORMAT " + format
	if format == "text" {
		options += ", DELIMITER '|'"
	}
	for i := range pieces {
		f, err := os.Create(b.piece(table, format, i))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		n := fmt.Sprintf("(SELECT max(%s) FROM %s)", key, table)
		sql := fmt.Sprintf("COPY (SELECT * FROM %s WHERE %s > %s * %d / %d AND %s <= %s * %d / %d ORDER BY %s) TO STDOUT (%s)", table, key, n, i, pieces, key, n, i+1, pieces, key, options)
		if _, err := conn.CopyTo(ctx, w, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) piece(table, format string, i int) string {
	return filepath.Join(b.Dir, fmt.Sprintf("%s-%d.%s", table, i+1, format))
}

func (b *bench) sqliteFile(table string) string { return filepath.Join(b.Dir, table+".db") }

// createTable is the target's table as every competitor finds it.
func createTable(table string, key bool) string {
	p := workload.Find(table)
	var columns []string
	for _, c := range p.Columns {
		columns = append(columns, c.Name+" "+native(c, "postgres")+" NOT NULL")
	}
	if key {
		columns = append(columns, "PRIMARY KEY ("+strings.Join(p.Key, ", ")+")")
	}
	return "CREATE TABLE " + table + " (" + strings.Join(columns, ", ") + ")"
}
