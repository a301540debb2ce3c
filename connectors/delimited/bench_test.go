//go:build unix

package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"penstock/connectors"
)

// benchRows of big_table: five columns, about 66 bytes a row.
const benchRows = 1_000_000

func bigTable(b *testing.B, quote bool) (dir string, size int64) {
	var out bytes.Buffer
	out.WriteString("id,small_number,big_number,short_string,created_date\n")
	letters := bytes.Repeat([]byte("qwertyuiopasdfghjklzxcvbnm"), 3)
	q := ""
	if quote {
		q = `"`
	}
	for i := 1; i <= benchRows; i++ {
		n := 10 + i*7%41
		fmt.Fprintf(&out, "%d,%d,%d,%s%s%s,2025-%02d-%02d 00:00:00\n", i, i%4+1, 100+i*13%9900, q, letters[i%26:i%26+n], q, i%12+1, i%28+1)
	}
	dir = b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir, int64(out.Len())
}

// BenchmarkReadBigTable reads a million rows into batches an iteration.
func BenchmarkReadBigTable(b *testing.B) {
	for _, quote := range []bool{false, true} {
		b.Run(fmt.Sprintf("quoted=%v", quote), func(b *testing.B) {
			dir, size := bigTable(b, quote)
			o := openTable(b, dir, &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv", Columns: []Column{
				{Name: "id", Type: "bigint"}, {Name: "small_number", Type: "integer"}, {Name: "big_number", Type: "bigint"}, {Name: "short_string", Type: "varchar(50)"}, {Name: "created_date", Type: "timestamp"},
			}}}})
			pool, chunks := o.pool(), o.whole(b)
			x := connectors.Extract{Table: o.table, Columns: []string{"id", "small_number", "big_number", "short_string", "created_date"}}
			b.SetBytes(size)
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				r, err := o.snap.OpenChunk(context.Background(), x, chunks[0])
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					bb := pool.Builder()
					if err = r.Read(context.Background(), bb); err != nil {
						bb.Discard()
						break
					}
					in := bb.Seal()
					n += in.Rows
					in.Release()
				}
				if !errors.Is(err, io.EOF) || n != benchRows {
					b.Fatal(n, err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
			b.ReportMetric(float64((cpu(b)-began).Nanoseconds())/float64(b.N)/benchRows, "cpu-ns/row")
		})
	}
}

// cpu is what this process has used, also on a machine that others use too.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSplitBigTable looks a million rows through for the ends of chunks.
func BenchmarkSplitBigTable(b *testing.B) {
	for _, quote := range []bool{false, true} {
		b.Run(fmt.Sprintf("quoted=%v", quote), func(b *testing.B) {
			dir, size := bigTable(b, quote)
			o := openTable(b, dir, &SourceConfig{Form: csv(), Tables: []Table{{Name: "t", Path: "t.csv"}}})
			b.SetBytes(size)
			for b.Loop() {
				o.cut(b, connectors.SplitBlocks, 64)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}
