package diag

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearestFindsSlipsAndNothingElse(t *testing.T) {
	tables := []string{"SCOTT.BIG_TABLE", "SCOTT.BIG_TABLES", "SCOTT.EMP", "APP.ORDERS"}
	settings := []string{"filter", "key", "to", "by", "workers", "memory", "path"}
	for _, c := range []struct {
		wrong string
		names []string
		want  string
	}{
		{"SCOTT.BIG_TABEL", tables, "SCOTT.BIG_TABLE SCOTT.BIG_TABLES"},
		{"big_table", tables, "SCOTT.BIG_TABLE SCOTT.BIG_TABLES"},
		{"scott.emp", tables, "SCOTT.EMP"},
		{"ORDRES", tables, "APP.ORDERS"},
		{"INVOICES", tables, ""},
		{"wokers", settings, "workers"},
		{"Filter", settings, "filter"},
		{"kye", settings, "key"},
		{"ot", settings, "to"},
		{"colour", settings, ""},
		{"bath", settings, "path"},
		{"hotel", settings, ""},
		{"", settings, ""},
	} {
		if got := strings.Join(Nearest(c.wrong, c.names), " "); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.wrong, got, c.want)
		}
	}
}

// One slip in a word of at least two letters is always found, wherever it is.
func TestOneSlipIsFoundAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{2,12}`).Draw(t, "word")
		i := rapid.IntRange(0, len(word)-1).Draw(t, "at")
		letter := rapid.StringMatching(`[a-z]`).Draw(t, "letter")
		slip := word
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			slip = word[:i] + word[i+1:]
		case 1:
			slip = word[:i] + letter + word[i:]
		case 2:
			slip = word[:i] + letter + word[i+1:]
		case 3:
			if i > 0 {
				slip = word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:]
			}
		}
		if got := Nearest(slip, []string{"zzzzzzzzzzzzzzzzzzzzzzzzz", word}); len(got) != 1 || got[0] != word {
			t.Fatalf("Nearest(%q) = %q, want %q", slip, got, word)
		}
	})
}
