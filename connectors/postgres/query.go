package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// Transaction states, as the server reports them after each statement.
const (
	txIdle   = 'I'
	txOpen   = 'T'
	txFailed = 'E'
)

// exec runs a statement with parameters in text form and gives the rows it touched.
func exec(ctx context.Context, c *pgconn.PgConn, sql string, args ...any) (int64, error) {
	return query(ctx, c, sql, nil, args...)
}

// query runs a statement and gives each of its rows, whose values are text (nil
// for NULL) and live until each returns. The result is the count of rows that
// the statement says it touched.
func query(ctx context.Context, c *pgconn.PgConn, sql string, each func(row [][]byte) error, args ...any) (int64, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = text(a)
	}
	r := c.ExecParams(ctx, sql, params, nil, nil, nil)
	var stop error
	for r.NextRow() {
		if each != nil && stop == nil {
			stop = each(r.Values())
		}
	}
	tag, err := r.Close()
	if err != nil {
		return 0, orCancelled(ctx, failure(because(c, err), sql))
	}
	return tag.RowsAffected(), stop
}

// run runs statements without parameters, several if they stand in one text,
// and reports whether the last one gave a row.
func run(ctx context.Context, c *pgconn.PgConn, sql string) (found bool, err error) {
	r := c.Exec(ctx, sql)
	for r.NextResult() {
		found = false
		for rr := r.ResultReader(); rr.NextRow(); {
			found = true
		}
	}
	if err := r.Close(); err != nil {
		return false, orCancelled(ctx, failure(because(c, err), sql))
	}
	return found, nil
}

func text(a any) []byte {
	switch a := a.(type) {
	case nil:
		return nil
	case string:
		return []byte(a)
	case []byte:
		return a
	case int:
		return strconv.AppendInt(nil, int64(a), 10)
	case int64:
		return strconv.AppendInt(nil, a, 10)
	case bool:
		return strconv.AppendBool(nil, a)
	}
	panic(fmt.Sprintf("postgres: a parameter of type %T", a))
}

// number reads an integer that the server wrote.
func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("postgres: the server wrote %q for an integer", b))
	}
	return n
}

func isTrue(b []byte) bool { return string(b) == "t" }

// begin opens a transaction.
func begin(ctx context.Context, c *pgconn.PgConn) error {
	_, err := run(ctx, c, "BEGIN")
	return err
}

// commit ends a transaction. The server answers COMMIT with ROLLBACK where a
// statement before it had failed, and calls that a success.
func commit(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return orCancelled(ctx, failure(because(c, err), "COMMIT"))
	}
	if n := len(results); n == 0 || results[n-1].CommandTag.String() != "COMMIT" {
		return failure(fmt.Errorf("the server rolled the transaction back at COMMIT"), "")
	}
	return nil
}

// transaction runs f between BEGIN and COMMIT.
func transaction(ctx context.Context, c *pgconn.PgConn, f func() error) error {
	if err := begin(ctx, c); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = commit(ctx, c)
	}
	if err != nil {
		rollback(c)
	}
	return err
}

// rollback throws an open transaction away; a session that can't do it is closed.
func rollback(c *pgconn.PgConn) {
	if c == nil || c.IsClosed() || c.TxStatus() == txIdle && !c.IsBusy() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTime)
	defer cancel()
	if _, err := c.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		closeNow(c)
	}
}
