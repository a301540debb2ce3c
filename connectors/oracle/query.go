package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	goora "github.com/sijms/go-ora/v2"
)

// sqlSession fixes what the meaning of statements and of their texts depends on.
const sqlSession = "ALTER SESSION SET TIME_ZONE = '+00:00' NLS_CALENDAR = 'GREGORIAN' NLS_NUMERIC_CHARACTERS = '.,' NLS_SORT = 'BINARY' NLS_COMP = 'BINARY'"

// exec runs a statement that gives no rows.
func (c *conn) exec(ctx context.Context, sql string) error {
	return c.watched(ctx, func() error {
		stmt := goora.NewStmt(sql, c.Connection)
		_, err := stmt.Exec(nil)
		return errors.Join(err, closeStmt(stmt, err))
	})
}

// closeStmt closes a cursor after an answer of the database; after anything else
// the session is given up, cursor and all.
func closeStmt(stmt *goora.Stmt, err error) error {
	if err != nil && !isAnswer(err) {
		return nil
	}
	return stmt.Close()
}

// cursor is a statement whose rows are being read. Binds go by position: one for
// each place in the text.
type cursor struct {
	c    *conn
	stmt *goora.Stmt
	set  *goora.DataSet
	row  []driver.Value
}

func (c *conn) query(ctx context.Context, sql string, width int, binds ...driver.Value) (*cursor, error) {
	q := &cursor{c: c, row: make([]driver.Value, width)}
	named := make([]driver.NamedValue, len(binds))
	for i, v := range binds {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	err := c.watched(ctx, func() (err error) {
		q.stmt = goora.NewStmt(sql, c.Connection)
		q.set, err = q.stmt.Query_(named)
		return err
	})
	if err != nil {
		q.close(ctx)
		return nil, err
	}
	return q, nil
}

// next reads up to n rows and gives each to take, whose values it may not keep
// the slice of. It returns io.EOF behind the last row.
func (q *cursor) next(ctx context.Context, take func(row []driver.Value) (more bool, err error)) error {
	var taken error
	ended := false
	err := q.c.watched(ctx, func() error {
		for {
			err := q.set.Next(q.row)
			// A connection that ends is another error of the driver's by here.
			if errors.Is(err, io.EOF) {
				ended = true
				return nil
			}
			if err != nil {
				return err
			}
			more, err := take(q.row)
			if !more || err != nil {
				taken = err
				return nil
			}
		}
	})
	switch {
	case err != nil:
		return err
	case ended:
		return io.EOF
	}
	return taken
}

// close gives the cursor back to the server.
func (q *cursor) close(ctx context.Context) {
	if q.stmt == nil || q.c.bad {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = q.c.watched(ctx, q.stmt.Close) // a session that fails here is bad, and closed
	q.stmt = nil
}

// all reads every row of a statement of the dictionary.
func (c *conn) all(ctx context.Context, sql string, width int, take func(row []driver.Value) error, binds ...driver.Value) error {
	q, err := c.query(ctx, sql, width, binds...)
	if err != nil {
		return failure(err)
	}
	defer q.close(ctx)
	err = q.next(ctx, func(row []driver.Value) (bool, error) {
		err := take(row)
		return err == nil, err
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return failure(err)
}
