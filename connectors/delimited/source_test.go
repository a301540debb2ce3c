package delimited

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/conformance"
	"penstock/internal/batch"
	"penstock/internal/ranges"
	"penstock/internal/schema"

	"pgregory.net/rapid"
)

// write makes files in a fresh folder.
func write(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func numbered(from, to int) string {
	var b strings.Builder
	b.WriteString("id,name,at\n")
	for i := from; i <= to; i++ {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "%d,\"row \"\"%d\"\",\r\nof many\",2026-01-02 03:04:05.%06d\n", i, i, i)
		case 1:
			fmt.Fprintf(&b, "%d,,\n", i)
		default:
			fmt.Fprintf(&b, "%d,\"\",2026-01-02\r\n", i)
		}
	}
	return b.String()
}

var threeColumns = []Column{{Name: "id", Type: "bigint"}, {Name: "name", Type: "text", Nullable: true}, {Name: "at", Type: "timestamp", Nullable: true}}

func TestSourceConforms(t *testing.T) {
	dir := write(t, map[string]string{
		"one.csv": numbered(1, 300), "many-1.csv": numbered(1, 50), "many-2.csv": numbered(51, 51), "many-3.csv": "id,name,at\n", "many-4.csv": numbered(52, 120),
		"empty.csv": "id,name,at\n", "bare.csv": "a,b\n1,2\n3,4\n",
	})
	conformance.Source(t, conformance.SourceHarness{
		Definition: Definition(),
		Env:        connectors.Env{Dir: dir},
		Config: &SourceConfig{Form: csv(), Tables: []Table{
			{Name: "one", Path: "one.csv", Columns: threeColumns, Key: []string{"id"}},
			{Name: "many", Path: "many-*.csv", Columns: threeColumns},
			{Name: "empty", Path: "empty.csv", Columns: threeColumns},
			{Name: "bare", Path: filepath.Join(dir, "bare.csv")},
		}},
		Tables: map[string]int64{"one": 300, "many": 120, "empty": 0, "bare": 2},
	})
}

// opened is a table of an open source.
type opened struct {
	source connectors.Source
	table  *schema.Table
	snap   connectors.Snapshot
}

func openTable(t testing.TB, dir string, c *SourceConfig) opened {
	t.Helper()
	ctx := context.Background()
	src, err := openSource(ctx, c, connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return opened{src, &cat.Tables[0], snap}
}

func (o opened) pool() *batch.Pool {
	var types []schema.Type
	for _, c := range o.table.Columns {
		types = append(types, c.Type)
	}
	return batch.NewPool(types, batch.Limits{})
}

// read gives the rows and the bad rows of all chunks, in order, as texts.
// NULL is <null>.
func (o opened) read(chunks []ranges.Chunk) (rows, bad []string, err error) {
	x := connectors.Extract{Table: o.table, Bad: func(b connectors.BadRow) error { bad = append(bad, b.String()+" ["+b.Detail+"]"); return nil }}
	for _, c := range o.table.Columns {
		x.Columns = append(x.Columns, c.Name)
	}
	pool := o.pool()
	for _, c := range chunks {
		r, err := o.snap.OpenChunk(context.Background(), x, c)
		if err != nil {
			return rows, bad, err
		}
		for {
			b := pool.Builder()
			if err = r.Read(context.Background(), b); err != nil {
				b.Discard()
				break
			}
			in := b.Seal()
			for i := range in.Rows {
				rows = append(rows, in.Place(i)+" "+rowText(in, i))
			}
			in.Release()
		}
		if e := r.Close(); e != nil || !errors.Is(err, io.EOF) {
			return rows, bad, errors.Join(err, e)
		}
	}
	return rows, bad, nil
}

func rowText(b *batch.Batch, i int) string {
	var values []string
	for _, c := range b.Columns {
		v := "<null>"
		if !c.IsNull(i) {
			v = string(batch.AppendText(nil, c, i))
		}
		values = append(values, v)
	}
	return strings.Join(values, "|")
}

// whole and spans are the table in one chunk, and in spans of so many bytes.
func (o opened) whole(t reporter) []ranges.Chunk { return o.cut(t, connectors.SplitNone, 1) }

func (o opened) spans(t reporter, bytes int64) []ranges.Chunk {
	total := int64(0)
	for _, f := range o.snap.(*snapshot).tables[o.table.Name.Name].files {
		total += f.size
	}
	return o.cut(t, connectors.SplitBlocks, int(max(total/bytes, 1)))
}

func (o opened) cut(t reporter, kind connectors.SplitKind, count int) []ranges.Chunk {
	t.Helper()
	chunks, err := o.snap.Split(context.Background(), o.table, connectors.Split{Kind: kind, Count: count, ChunkRows: 1 << 40})
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	return chunks
}

// Whatever stands in the files, cut into spans of any length they give the rows
// and the bad rows of the whole, each once and at its place.
func TestSpansGiveEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		form := rapid.SampledFrom(forms).Draw(rt, "form")
		form.Encoding, form.Compression = "utf-8", "none"
		form.Header = rapid.Bool().Draw(rt, "header")
		files := map[string]string{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			body := string(text(rt, "text"))
			if rapid.Bool().Draw(rt, "mark") {
				body = "\ufeff" + body
			}
			if form.Header {
				body = "a" + form.Delimiter + "b\n" + body
			}
			files[fmt.Sprintf("f%d", i)] = body
		}
		dir := write(t, files)
		o := openTable(t, dir, &SourceConfig{Form: form, Tables: []Table{{Name: "t", Path: "f*", Columns: []Column{{Name: "a", Type: "text", Nullable: true}, {Name: "b", Type: "text", Nullable: true}}}}})
		rows, bad, err := o.read(o.whole(rt))
		if form.Header && err != nil { // the mark went before the header
			rt.Skip(err)
		}
		if err != nil {
			rt.Fatalf("%v", err)
		}
		spans := o.spans(rt, rapid.Int64Range(1, 64).Draw(rt, "span"))
		gotRows, gotBad, err := o.read(spans)
		if err != nil || !slices.Equal(rows, gotRows) || !slices.Equal(bad, gotBad) {
			rt.Fatalf("%q\nin %d spans: %q, bad %q, %v\nwhole: %q, bad %q", files, len(spans), gotRows, gotBad, err, rows, bad)
		}
	})
}

func TestTableIsCutEvenly(t *testing.T) {
	dir := write(t, map[string]string{"t.csv": numbered(1, 10000)})
	o := openTable(t, dir, &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv", Columns: threeColumns}}})
	for _, c := range []struct {
		ranges int
		rows   int64
		chunks int // at most
	}{{4, 1000, 16}, {2, 4900, 6}, {3, 100_000, 3}, {1, 3000, 5}, {7, 9, 1500}} {
		chunks, err := o.snap.Split(context.Background(), o.table, connectors.Split{Kind: connectors.SplitBlocks, Count: c.ranges, ChunkRows: c.rows})
		if err != nil {
			t.Fatal(err)
		}
		sum, ofRange := int64(0), map[int]int64{}
		for _, k := range chunks {
			if k.Rows > c.rows {
				t.Errorf("%+v: %s has %d rows", c, k, k.Rows)
			}
			sum += k.Rows
			ofRange[k.Range] += k.Rows
		}
		if sum != 10000 || len(ofRange) != c.ranges || len(chunks) > c.chunks {
			t.Errorf("%+v: %d rows in %d chunks of %d ranges", c, sum, len(chunks), len(ofRange))
		}
		for r, n := range ofRange {
			if even := 10000 / int64(c.ranges); n < even*4/5 || n > even*6/5 {
				t.Errorf("%+v: range %d has %d rows: %v", c, r, n, ofRange)
			}
		}
	}
}

// A file is frozen while a load goes on: what changes it is noticed, before it
// is read, while it is, and by a later run.
func TestChangedFileIsALostPosition(t *testing.T) {
	change := map[string]func(path string) error{
		"longer": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("4,x,\n")
				err = errors.Join(err, f.Close())
			}
			return err
		},
		"another time": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"replaced": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			text, _ := os.ReadFile(path)
			// The old file stays, so that its inode is not used again.
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, time.Time{}, info.ModTime()))
		},
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"t.csv": numbered(1, 3)})
			path := filepath.Join(dir, "t.csv")
			o := openTable(t, dir, &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv", Columns: threeColumns}}})
			point, err := o.snap.Position(o.table)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.source.Snapshot(context.Background(), connectors.SnapshotOptions{At: point}); err != nil {
				t.Errorf("a snapshot at the point of files that have not changed: %v", err)
			}
			chunks := o.whole(t)
			x := connectors.Extract{Table: o.table, Columns: []string{"id"}}
			r, err := o.snap.OpenChunk(context.Background(), x, chunks[0])
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			b := batch.NewPool([]schema.Type{schema.Of(schema.Int64)}, batch.Limits{Rows: 1}).Builder()
			if err := r.Read(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			_, _, err = o.read(chunks)
			if connectors.ClassOf(err) != connectors.LostPosition {
				t.Errorf("reading it afterwards: %v, want a lost position", err)
			}
			if name != "replaced" { // an open file that is replaced is still what it was
				for err = nil; err == nil; {
					err = r.Read(context.Background(), batch.NewPool([]schema.Type{schema.Of(schema.Int64)}, batch.Limits{}).Builder())
				}
				if connectors.ClassOf(err) != connectors.LostPosition {
					t.Errorf("reading it to the end: %v, want a lost position", err)
				}
			}
			if _, err := o.source.Snapshot(context.Background(), connectors.SnapshotOptions{At: point}); connectors.ClassOf(err) != connectors.LostPosition {
				t.Errorf("a later run at the point before: %v, want a lost position", err)
			}
		})
	}
}

func TestFilesThatCanNotBeOfTheTable(t *testing.T) {
	tests := []struct {
		name, file, want string
		class            connectors.Class
		form             func(*Form)
	}{
		{"columns in another order", "name,id,at\nx,1,\n", `names "name" where the table has column "id"`, connectors.Schema, nil},
		{"a column too many", "id,name,at,more\n1,x,,\n", "names 4 columns, the table has 3", connectors.Schema, nil},
		{"compressed", "\x1f\x8b\x08\x00", `compression = "gzip"`, connectors.Fatal, nil},
		{"not compressed", "id,name,at\n", "no file in gzip", connectors.Fatal, func(f *Form) { f.Compression = "gzip" }},
		{"not compressed either", "id,name,at\n", "zstd is broken or cut short", connectors.Fatal, func(f *Form) { f.Compression = "zstd" }},
		{"no order of bytes", "i\x00d\x00", "byte order mark", connectors.Fatal, func(f *Form) { f.Encoding = "utf-16" }},
	}
	for _, c := range tests {
		form := csv()
		if c.form != nil {
			c.form(&form)
		}
		o := openTable(t, write(t, map[string]string{"t.csv": c.file}), &SourceConfig{Form: form, Tables: []Table{{Name: "t", Path: "t.csv", Columns: threeColumns}}})
		_, _, err := o.read(o.whole(t))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "t.csv") || connectors.ClassOf(err) != c.class {
			t.Errorf("%s: %v (class %s), want %q, the file's name and class %s", c.name, err, connectors.ClassOf(err), c.want, c.class)
		}
	}
	o := openTable(t, t.TempDir(), &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "absent-*.csv", Columns: threeColumns}}})
	if _, err := o.snap.Position(o.table); err == nil || !strings.Contains(err.Error(), "no file matches absent-*.csv") {
		t.Errorf("without any file: %v", err)
	}
}

// A file that was cut short must not pass for one that ends there.
func TestCompressedFileThatIsCutShortIsAnError(t *testing.T) {
	for kind, ext := range map[string]string{"gzip": ".gz", "zstd": ".zst"} {
		dir := filepath.Join(t.TempDir(), "out")
		tg := &target{dir: dir, config: TargetConfig{Form: csv()}}
		tg.config.Compression = kind
		tg.layout = layoutOf(t, csv())
		l := crashTable()
		loadInto(t, tg, l, 20000)
		path := filepath.Join(dir, "t-1-0001.csv"+ext)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		form := csv()
		form.Compression = kind
		c := &SourceConfig{Form: form, Tables: []Table{{Name: "t", Path: "cut", Columns: []Column{{Name: "id", Type: "bigint"}}}}}
		for _, n := range []int{len(whole), len(whole) - 1, len(whole) / 2, 20} {
			if err := os.WriteFile(filepath.Join(dir, "cut"), whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			o := openTable(t, dir, c)
			rows, _, err := o.read(o.whole(t))
			if n == len(whole) {
				if err != nil || len(rows) != 20000 {
					t.Errorf("%s: %d rows, %v; want 20000", kind, len(rows), err)
				}
			} else if err == nil || !strings.Contains(err.Error(), kind+" is broken or cut short") {
				t.Errorf("%s, %d of %d bytes: %d rows, %v", kind, n, len(whole), len(rows), err)
			}
		}
	}
}

func TestHeaderMayHaveOtherNamesForColumnsOfTheSpec(t *testing.T) {
	o := openTable(t, write(t, map[string]string{"t.csv": "Number,LABEL,AT\n1,a,\n"}), &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv", Columns: threeColumns}}})
	if rows, _, err := o.read(o.whole(t)); err != nil || !slices.Equal(rows, []string{"t.csv:2 1|a|<null>"}) {
		t.Errorf("got %q, %v", rows, err)
	}
}

func TestPatternOfTheSpecsFolderIsTakenAsItStands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skip("this file system does not take the name: ", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openTable(t, dir, &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "*.csv"}}})
	if rows, _, err := o.read(o.whole(t)); err != nil || !slices.Equal(rows, []string{"t.csv:2 1"}) {
		t.Errorf("got %q, %v", rows, err)
	}
}

func TestBadRowWithoutAPlaceForItEndsTheReading(t *testing.T) {
	o := openTable(t, write(t, map[string]string{"t.csv": "id,name,at\n1,a,\nx,b,\n"}), &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv", Columns: threeColumns}}})
	r, err := o.snap.OpenChunk(context.Background(), connectors.Extract{Table: o.table, Columns: []string{"name", "id"}}, o.whole(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Read(context.Background(), batch.NewPool([]schema.Type{schema.Of(schema.Text), schema.Of(schema.Int64)}, batch.Limits{}).Builder())
	if connectors.ClassOf(err) != connectors.Data || !strings.Contains(err.Error(), `t.csv:3:1, column id: the value is none of bigint`) {
		t.Errorf("got %v of class %s", err, connectors.ClassOf(err))
	}
}
