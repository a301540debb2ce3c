package main

import (
	"bytes"
	"database/sql"
	"strings"
	"time"

	"penstock/internal/batch"
	"penstock/internal/schema"
	"penstock/internal/workload"

	_ "modernc.org/sqlite"
)

// bareRows is how many rows a statement of bareValues carries: more gain
// nothing, and SQLite takes 32,766 parameters at most.
const bareRows = 100

// bareChunk is the rows of a transaction, the largest chunk of a pipeline.
const bareChunk = 100_000

// bareValues loads the job's rows with nothing but database/sql and multi-row
// VALUES: what the driver allows. Rows are made by a goroutine of their own.
func bareValues(path string, rows int64) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, small_number INTEGER, big_number BIGINT, short_string VARCHAR(50), created_date TIMESTAMP_TEXT)"); err != nil {
		return err
	}
	const tuple = "(?, ?, ?, ?, ?)"
	statement := "INSERT INTO t VALUES " + tuple + strings.Repeat(", "+tuple, bareRows-1)
	preset := workload.Find("big_table")
	types := make([]schema.Type, len(preset.Columns))
	all := make([]int, len(preset.Columns))
	for i, c := range preset.Columns {
		types[i], all[i] = c.Type, i
	}
	pool := batch.NewPool(types, batch.Limits{})
	made := make(chan *batch.Batch, 8)
	go func() {
		defer close(made)
		for from := int64(1); from <= rows; from += batch.DefaultRows {
			b := pool.Builder()
			workload.Table{Preset: preset, Seed: 1, Number: 1}.Fill(b, all, from, int(min(batch.DefaultRows, rows-from+1)))
			made <- b.Seal()
		}
	}()
	var tx *sql.Tx
	var insert *sql.Stmt
	args := make([]any, 0, 5*bareRows)
	inTx := 0
	flush := func(end bool) error {
		if tx == nil {
			if tx, err = db.Begin(); err != nil {
				return err
			}
			if insert, err = tx.Prepare(statement); err != nil {
				return err
			}
		}
		if len(args) == 5*bareRows {
			if _, err := insert.Exec(args...); err != nil {
				return err
			}
		} else if len(args) > 0 {
			if _, err := tx.Exec("INSERT INTO t VALUES "+tuple+strings.Repeat(", "+tuple, len(args)/5-1), args...); err != nil {
				return err
			}
		}
		inTx += len(args) / 5
		args = args[:0]
		if inTx >= bareChunk || end {
			inTx = 0
			t := tx
			tx = nil
			return t.Commit()
		}
		return nil
	}
	for b := range made {
		c := b.Columns
		for i := range b.Rows {
			if c[1].Ints[i] == 4 {
				continue
			}
			args = append(args, c[0].Ints[i], c[1].Ints[i], c[2].Ints[i], string(bytes.ToUpper(c[3].Bytes(i))),
				time.UnixMicro(c[4].Ints[i]).UTC().Format(time.DateTime))
			if len(args) == 5*bareRows {
				if err := flush(false); err != nil {
					return err
				}
			}
		}
		b.Release()
	}
	return flush(true)
}
