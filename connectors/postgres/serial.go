package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/batch"
	"penstock/internal/change"

	"github.com/jackc/pgx/v5/pgconn"
)

// Serial does a section in one transaction that begins with its lanes' rows.
func (t *target) Serial(ctx context.Context, s connectors.Section) error {
	var from connectors.Checkpoint
	err := t.alone(ctx, func(c *pgconn.PgConn) error {
		return transaction(ctx, c, func() error {
			for i, l := range s.Lanes {
				to := s.To
				to.Changes = l.Changes
				if i == 0 {
					to.Changes += s.To.Changes
				}
				from = l
				if _, err := exec(ctx, c, moveCheckpoint, t.moveArgs(l, to)...); err != nil {
					return err
				}
			}
			from.Epoch = 0 // what fails now is no row of a lane
			return t.section(ctx, c, s)
		})
	})
	if isState(err, divisionByZero) && from.Epoch > 0 {
		return t.notMoved(ctx, from)
	}
	return at("apply to", t.env.Pipeline, err)
}

// section does the changes: each unbroken run of moves of a table as a set.
func (t *target) section(ctx context.Context, c *pgconn.PgConn, s connectors.Section) error {
	tables := map[string]*laneTable{}
	for _, x := range s.Tables {
		tables[x.Source.Name.String()] = newLaneTable(x)
	}
	of := func(r connectors.Ref) *laneTable {
		return tables[r.Batch.Sets[r.Change().Set].Table.Name.String()]
	}
	for i := 0; i < len(s.Changes); {
		table, op := of(s.Changes[i]), s.Changes[i].Change().Op
		j := i + 1
		for j < len(s.Changes) && of(s.Changes[j]) == table && s.Changes[j].Change().Op == op {
			j++
		}
		var err error
		if op == change.Truncate {
			_, err = run(ctx, c, "TRUNCATE TABLE "+quoteName(table.Target))
		} else {
			err = table.move(ctx, c, s.Changes[i:j])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", table.Target, err)
		}
		i = j
	}
	return nil
}

// moving is a row on its way to another key: where it stood, and the newest value
// of each column that a move set.
type moving struct {
	old    value // of the change that took it away
	values []value
}

// value is a row of columns.
type value struct {
	image *change.Image
	row   int32
}

// move takes the rows at all old keys away and puts them back under their last
// keys, as statements over all of them: done one by one, 1 to 2 meets a 2 that
// has yet to go to 3.
func (t *laneTable) move(ctx context.Context, c *pgconn.PgConn, changes []connectors.Ref) error {
	stood, err := t.takeAway(ctx, c, changes)
	if err != nil {
		return err
	}
	var all []*moving
	came := map[string][]*moving{} // by the key that they came to, the first one first
	for n, r := range changes {
		x := r.Change()
		set := r.Batch.Sets[x.Set]
		old := value{&set.Before, x.Before}
		key := t.keyText(old)
		var m *moving
		switch {
		case stood[key]:
			delete(stood, key)
			m = &moving{old: old, values: make([]value, len(t.Columns))}
			all = append(all, m)
		case len(came[key]) > 0:
			m, came[key] = came[key][0], came[key][1:]
		default:
			return &connectors.Error{Op: "apply to", Table: t.Target.String(), Class: connectors.Mismatch, Position: changes[n].Change().Position,
				Err:  fmt.Errorf("the row at %s gets another key, and is not there", key),
				Hint: `The target is not what the source's log says: verify the table. collisions = "repair" goes on.`}
		}
		mask := set.After.Mask(x.After)
		for col := range t.Columns {
			if mask.Has(col) {
				m.values[col] = value{&set.After, x.After}
			}
		}
		key = t.keyText(value{&set.After, x.After})
		came[key] = append(came[key], m)
	}
	return t.putBack(ctx, c, all)
}

// keyText tells a key from others, and for people which one it is.
func (t *laneTable) keyText(v value) string {
	var b []byte
	for i, k := range t.Key {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, t.Columns[k].Name...), " = "...)
		b = batch.AppendText(b, v.image.Columns[k], int(v.row))
	}
	return string(b)
}

const movesTable = "penstock_moves"

// takeAway moves the rows at the old keys into a temporary table and returns
// which keys had one.
func (t *laneTable) takeAway(ctx context.Context, c *pgconn.PgConn, changes []connectors.Ref) (map[string]bool, error) {
	if _, err := run(ctx, c, fmt.Sprintf("DROP TABLE IF EXISTS pg_temp.%s; CREATE TEMPORARY TABLE %[1]s (LIKE %s) ON COMMIT DROP", movesTable, quoteName(t.Target))); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var olds []value
	for _, r := range changes {
		v := value{&r.Batch.Sets[r.Change().Set].Before, r.Change().Before}
		if key := t.keyText(v); !seen[key] {
			seen[key] = true
			olds = append(olds, v)
		}
	}
	rows := make([]int32, len(olds))
	for i := range rows {
		rows[i] = int32(i)
	}
	var params [][]byte
	for _, k := range t.Key {
		p, err := t.fields[k].appendValues(nil, rows, func(i int32) (*batch.Column, int) { return olds[i].image.Columns[k], int(olds[i].row) })
		if err != nil {
			return nil, err
		}
		params = append(params, p)
	}
	from, is := t.unnest(t.Key)
	from = strings.TrimSuffix(strings.Replace(from, ") AS u(", ") WITH ORDINALITY AS u(", 1), ")") + ", n)"
	sql := fmt.Sprintf("WITH gone AS (DELETE FROM %s AS t USING %s WHERE %s RETURNING u.n AS penstock_n, t.*), kept AS (INSERT INTO pg_temp.%s (%s) SELECT %[5]s FROM gone) SELECT penstock_n FROM gone",
		quoteName(t.Target), from, t.same(is), movesTable, quoteList(t.names()))
	stood := map[string]bool{}
	r := c.ExecParams(ctx, sql, params, nil, binaryFormat, nil)
	for r.NextRow() {
		stood[t.keyText(olds[number(r.Values()[0])-1])] = true
	}
	if _, err := r.Close(); err != nil {
		return nil, orCancelled(ctx, failure(err, sql))
	}
	return stood, nil
}

func (t *laneTable) names() (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

// putBack inserts the rows under their last keys, with what the moves set: a
// statement for each set of columns.
func (t *laneTable) putBack(ctx context.Context, c *pgconn.PgConn, all []*moving) error {
	groups := map[string][]*moving{}
	var order []string
	for _, m := range all {
		b := make([]byte, len(m.values))
		for i := range m.values {
			b[i] = '0'
			if m.values[i].image != nil {
				b[i] = '1'
			}
		}
		if groups[string(b)] == nil {
			order = append(order, string(b))
		}
		groups[string(b)] = append(groups[string(b)], m)
	}
	for _, which := range order {
		g := groups[which]
		rows := make([]int32, len(g))
		for i := range rows {
			rows[i] = int32(i)
		}
		// The old key, then what is set.
		columns := slices.Clone(t.Key)
		values := []func(int32) (*batch.Column, int){}
		for _, k := range t.Key {
			values = append(values, func(i int32) (*batch.Column, int) { return g[i].old.image.Columns[k], int(g[i].old.row) })
		}
		take := make([]string, len(t.Columns))
		var from string
		var is []string
		for col := range t.Columns {
			if which[col] == '1' {
				columns = append(columns, col)
				values = append(values, func(i int32) (*batch.Column, int) {
					return g[i].values[col].image.Columns[col], int(g[i].values[col].row)
				})
			}
		}
		from, is = t.unnest(columns)
		for n, col := range columns[len(t.Key):] {
			take[col] = is[len(t.Key)+n]
		}
		for col := range take {
			if take[col] == "" {
				take[col] = "t." + quote(t.Columns[col].Name)
			}
		}
		var params [][]byte
		for n, col := range columns {
			p, err := t.fields[col].appendValues(nil, rows, values[n])
			if err != nil {
				return err
			}
			params = append(params, p)
		}
		sql := fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM pg_temp.%s AS t JOIN %s ON %s",
			quoteName(t.Target), quoteList(t.names()), strings.Join(take, ", "), movesTable, from, t.same(is))
		r := c.ExecParams(ctx, sql, params, nil, binaryFormat, nil)
		for r.NextRow() {
		}
		tag, err := r.Close()
		if err != nil {
			return orCancelled(ctx, failure(err, sql))
		}
		if n := tag.RowsAffected(); n != int64(len(g)) {
			return &connectors.Error{Op: "apply to", Table: t.Target.String(), Class: connectors.Mismatch, Err: fmt.Errorf("%d rows were to get another key, %d did", len(g), n)}
		}
	}
	return nil
}
