package batch

import (
	"sort"
	"strconv"
)

// Origin is where a source found the rows of a batch: what a report about a row
// names beside its key. Empty, it names nothing.
type Origin struct {
	files []originFile // ascending by row
	lines []int64      // by row, from 1
}

type originFile struct {
	row  int // the first row that comes from it
	name string
}

// Row says where the next row was found. It is called once for every row of a
// batch, or for none of them.
func (o *Origin) Row(file string, line int64) {
	if n := len(o.files); n == 0 || o.files[n-1].name != file {
		o.files = append(o.files, originFile{len(o.lines), file})
	}
	o.lines = append(o.lines, line)
}

// Place is "file:line" of a row, "" when it is not known.
func (o *Origin) Place(row int) string {
	if row >= len(o.lines) {
		return ""
	}
	i := sort.Search(len(o.files), func(i int) bool { return o.files[i].row > row }) - 1
	return o.files[i].name + ":" + strconv.FormatInt(o.lines[row], 10)
}

func (o *Origin) reset() { o.files, o.lines = o.files[:0], o.lines[:0] }

// Origin is the builder's record of where its rows come from.
func (b *Builder) Origin() *Origin { return &b.b.origin }

// Place is where the source found a row, "" when it does not say.
func (b *Batch) Place(row int) string { return b.origin.Place(row) }
