package diag

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// A range that its file does not have is told, after all diagnostics are.
func TestWriteRefusesARangeOutsideOfItsFile(t *testing.T) {
	files := map[string][]byte{"a.hcl": []byte("abc"), "empty.hcl": nil}
	for _, c := range []struct {
		file     string
		from, to int
		inside   bool
	}{
		{"a.hcl", 0, 3, true}, {"a.hcl", 3, 3, true}, {"empty.hcl", 0, 0, true},
		{"a.hcl", 2, 4, false}, {"a.hcl", 2, 1, false}, {"a.hcl", -1, 1, false}, {"empty.hcl", 0, 1, false}, {"b.hcl", 0, 0, false}, {"", 0, 0, false},
	} {
		var l List
		l.Errorf(UnknownBlock, hcl.Range{Filename: c.file, Start: hcl.Pos{Line: 1, Column: 1, Byte: c.from}, End: hcl.Pos{Line: 1, Column: 1, Byte: c.to}}, "Unknown block", "Mend it.")
		var b strings.Builder
		err := Write(&b, l, files, false)
		if (err == nil) != c.inside || !strings.Contains(b.String(), "PEN0101") {
			t.Errorf("%s %d to %d: got error %v and %q", c.file, c.from, c.to, err, b.String())
		}
	}
}
