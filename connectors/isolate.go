package connectors

import (
	"context"
	"errors"

	"penstock/internal/batch"
)

// Refusal is why a target does not take a row. It is in the chain of an error
// of class Data, which it explains.
type Refusal struct {
	At         int    // which of the rows of the call it is, from 1; 0 = the target does not say
	Column     string // "" when it is not one column that is wrong
	Constraint string // the target's name of what was violated; may be empty
	Code       string // the target's own: a SQLSTATE, "SQLITE_CONSTRAINT_CHECK"
	Reason     string // without any value of the row; it names the constraint
	Detail     string // the reason with values, for a spec that asks for them; "" = Reason says it all
	Hint       string // what to do, a whole sentence; may be empty
	// Waits is set when the row may go in once another one is there: a foreign
	// key within the table.
	Waits bool
	Err   error // what the target said
}

func (r *Refusal) Error() string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return r.Reason
}

func (r *Refusal) Unwrap() error { return r.Err }

// maxRounds bounds how often rows that wait for others are tried again: a table
// whose rows refer to each other backwards would else cost its square.
const maxRounds = 16

// Isolate finds the rows of a batch that a target refuses: what a BulkWriter
// has for WriteEach. try adds some rows, all of them or none, and tells by an
// error of class Data that the target refused one; a Refusal in it may say
// which. bad is told of each row that try refuses alone. Every other error, and
// bad's, comes back at once.
//
// Rows are tried in their order, so that of two rows with one key the first
// goes in. The pieces follow what is met: they double while they go in, end
// before a row that is named, are halved where none is, and begin behind a bad
// row with twice the rows that went in before it. So a batch costs a few times
// its rows, and statements by the number of the bad ones, however they lie.
//
// Where bad rows stand close together each takes over, if it is not nil: it
// adds some rows one by one and tells of those that did not go in.
func Isolate(ctx context.Context, rows int, sel batch.Selection, try func(batch.Selection) error, each func(batch.Selection, func(row int32, why *Refusal) error) error, bad func(row int32, why *Refusal) error) error {
	if sel == nil {
		sel = make(batch.Selection, rows)
		for i := range sel {
			sel[i] = int32(i)
		}
	}
	for round := 1; ; round++ {
		var waiting batch.Selection
		var why []*Refusal
		err := pieces(ctx, sel, try, each, func(row int32, r *Refusal) error {
			if !r.Waits {
				return bad(row, r)
			}
			waiting, why = append(waiting, row), append(why, r)
			return nil
		})
		if err != nil {
			return err
		}
		// When none of them went in, none will.
		if len(waiting) == len(sel) || round == maxRounds {
			for i, row := range waiting {
				if err := bad(row, why[i]); err != nil {
					return err
				}
			}
			return nil
		}
		if len(waiting) == 0 {
			return nil
		}
		sel = waiting
	}
}

// Where one row in denseRun or more is bad, so many rows are added one by one
// before pieces are tried again.
const (
	denseRun  = 16
	denseRows = 512
)

// pieces is one round of Isolate.
func pieces(ctx context.Context, left batch.Selection, try func(batch.Selection) error, each func(batch.Selection, func(int32, *Refusal) error) error, bad func(int32, *Refusal) error) error {
	size := len(left)
	good := 0   // rows that went in since the last bad one
	within := 0 // one of so many next rows is refused; 0 = nothing is known
	close := 0  // bad rows behind fewer than denseRun good ones, in a row
	for len(left) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if each != nil && close > 1 {
			n := min(denseRows, len(left))
			found := 0
			if err := each(left[:n], func(row int32, why *Refusal) error { found++; return bad(row, why) }); err != nil {
				return err
			}
			left, size, good, within = left[n:], n, n, 0
			if found < n/denseRun {
				close = 0
			}
			continue
		}
		n := min(size, len(left))
		err := try(left[:n])
		if err == nil {
			left, good, within = left[n:], good+n, max(0, within-n)
			size = 2 * good
			if within > 0 {
				size = (within + 1) / 2
			}
			continue
		}
		if ClassOf(err) != Data {
			return err
		}
		why := refusal(err)
		if n == 1 {
			if err := bad(left[0], why); err != nil {
				return err
			}
			if close++; good >= denseRun {
				close = 0
			}
			left, size, good, within = left[1:], max(1, 2*good), 0, 0
			continue
		}
		within, size = n, n/2
		if 0 < why.At && why.At <= n {
			within, size = why.At, max(1, why.At-1)
		}
	}
	return nil
}

// refusal is the Refusal in an error's chain, or one that says what the error says.
func refusal(err error) *Refusal {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Reason: "the target refused it", Detail: err.Error(), Err: err}
	}
	return r
}
