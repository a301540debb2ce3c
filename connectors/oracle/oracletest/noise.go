package oracletest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

func sortedExtents(in []extent) []extent {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b extent) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.block, b.block)) })
	return out
}

// printable is noise of printable characters, as DBMS_RANDOM.STRING('p', n) gives
// it: quotation marks among them.
func printable(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte(' ' + rand.IntN(95)))
	}
	return b.String()
}

// noiseColumn is a column of the statement that measures a network: a literal
// between two hashes of a new identifier, so that no row repeats another.
var noiseColumn = regexp.MustCompile(`to_char\(ora_hash\(sys_guid\(\)\),'FMXXXXXXXX'\) \|\| '([^']*)' \|\| to_char\(ora_hash\(sys_guid\(\)\),'FMXXXXXXXX'\)`)

// noise answers that statement; nil where it is another.
func noise(sql string, binds [][]byte) *result {
	rest := noiseColumn.ReplaceAllString(sql, "x")
	found := noiseColumn.FindAllStringSubmatch(sql, -1)
	if rest != "SELECT x c1, x c2, x c3, x c4, x c5 FROM dual CONNECT BY rownum < :n" || len(binds) != 1 {
		return nil
	}
	res := &result{}
	for i := range found {
		res.columns = append(res.columns, column{name: fmt.Sprintf("C%d", i+1), kind: typeVarchar, size: 4000, chars: 4000, nullable: true})
	}
	left := numberInt(binds[0]) - 1
	res.next = func() ([][]byte, *Error) {
		if left <= 0 {
			return nil, nil
		}
		left--
		row := make([][]byte, len(found))
		for i, m := range found {
			row[i] = fmt.Appendf(nil, "%X%s%X", rand.Uint32(), m[1], rand.Uint32())
		}
		return row, nil
	}
	return res
}
