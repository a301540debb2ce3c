package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"penstock/connectors"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

// Whatever stands in the columns of a split, NULLs, equal keys, mixed storage
// classes, texts that are not UTF-8, every row is of exactly one chunk. Rows
// inserted after the cut are too: the edges are asked of every row at the end.
func TestAnyTableIsCutIntoAPartition(t *testing.T) {
	path := makeFile(t)
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		c, err := openConn(path, create, timeout(0))
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		value := rapid.OneOf(
			rapid.Just("NULL"),
			rapid.Map(rapid.IntRange(-3, 3), func(i int) string { return fmt.Sprint(i) }),
			rapid.Map(rapid.Int64(), func(i int64) string { return fmt.Sprint(max(i, -1<<63+1)) }),
			rapid.SampledFrom([]string{"0.5", "-1e300", "'a'", "'A'", "''", "'z' || char(0)", "x''", "x'00ff'", "CAST(x'80ff' AS TEXT)", "'é'"}),
		)
		collate := rapid.SampledFrom([]string{"", " COLLATE NOCASE"}).Draw(t, "collation")
		declared := rapid.SampledFrom([]string{"INTEGER", "TEXT", "NUMERIC", "BLOB", "REAL"})
		exec := func(sql string) {
			if err := c.exec(ctx, sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		exec("DROP TABLE IF EXISTS t")
		exec("CREATE TABLE t (a " + declared.Draw(t, "a") + collate + ", b " + declared.Draw(t, "b") + ", c " + declared.Draw(t, "c") + ")")
		insert := func(label string) (n int) {
			for _, r := range rapid.SliceOfN(rapid.SliceOfN(value, 3, 3), 0, 40).Draw(t, label) {
				exec("INSERT INTO t VALUES (" + strings.Join(r, ", ") + ")")
				n++
			}
			return n
		}
		n := insert("rows")
		tab := &schema.Table{Name: schema.Name{Name: "t"}, Storage: storageRowid, Columns: []schema.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
		s := connectors.Split{Kind: connectors.SplitKey, By: []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "columns")],
			Count: rapid.IntRange(1, 9).Draw(t, "count"), ChunkRows: rapid.Int64Range(1, 12).Draw(t, "chunk")}
		if rapid.Bool().Draw(t, "by rowid") {
			s.Kind, s.By = connectors.SplitBlocks, nil
		}
		chunks, err := cutTable(ctx, c, tab, s)
		if err != nil {
			t.Fatal(err)
		}
		n += insert("later rows")
		q := newRead(connectors.Extract{Table: tab, Columns: []string{"a"}, Split: s})
		q.columns = "rowid"
		var got []int64
		for _, k := range chunks {
			lo, err1 := edgeArgs(k.Lo)
			hi, err2 := edgeArgs(k.Hi)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if _, err := c.query(ctx, q.statement(k.Lo != nil, k.Hi != nil), append(lo, hi...), func(s *stmt) error { got = append(got, s.int(0)); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(got)
		if distinct := slices.Compact(slices.Clone(got)); len(got) != n || len(distinct) != n {
			t.Fatalf("%d chunks by %v hold %d rows, %d of them distinct; the table has %d\n%v", len(chunks), q.by, len(got), len(distinct), n, chunks)
		}
	})
}

func TestEdgesOfRowidsStayInsideTheirSpan(t *testing.T) {
	for _, c := range []struct {
		ids  string
		s    connectors.Split
		want string
	}{
		{"(1), (10)", connectors.Split{Count: 1, ChunkRows: 100}, "[open, open) of 1"},
		{"(1), (10)", connectors.Split{Count: 2, ChunkRows: 100}, "[open, 6) of 1, [6, open) of 2"},
		{"(1), (10)", connectors.Split{Count: 1, ChunkRows: 5}, "[open, 6) of 1, [6, open) of 1"},
		{"(7)", connectors.Split{Count: 4, ChunkRows: 1}, "[open, open) of 1"},
		{"(9223372036854775806), (9223372036854775807)", connectors.Split{Count: 2, ChunkRows: 1}, "[open, 9223372036854775807) of 1, [9223372036854775807, open) of 2"},
		// All of 64 bits and two rows: the edges are looked up.
		{"(-9223372036854775808), (9223372036854775807)", connectors.Split{Count: 2, ChunkRows: 1}, "[open, 9223372036854775807) of 1, [9223372036854775807, open) of 2"},
		{"(-9223372036854775808), (9223372036854775807)", connectors.Split{Count: 2, ChunkRows: 1 << 60}, "[open, -8070450532247928832) of 1, "},
	} {
		path := makeFile(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES "+c.ids)
		conn, err := openConn(path, readOnly, timeout(0))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.close()
		c.s.Kind = connectors.SplitBlocks
		chunks, err := cutTable(context.Background(), conn, &schema.Table{Name: schema.Name{Name: "t"}, Storage: storageRowid, Columns: []schema.Column{{Name: "id"}}}, c.s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range chunks {
			got = append(got, fmt.Sprintf("[%s, %s) of %d", k.Lo, k.Hi, k.Range))
		}
		if text := strings.Join(got, ", "); text != c.want && !(strings.HasSuffix(c.want, ", ") && strings.HasPrefix(text, c.want)) {
			t.Errorf("ids %s, %+v:\n got %s\nwant %s", c.ids, c.s, text, c.want)
		}
	}
}
