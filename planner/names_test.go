package planner

import (
	"regexp"
	"strings"
	"testing"

	"penstock/internal/schema"

	"pgregory.net/rapid"
)

func TestWildcardsStopAtTheDot(t *testing.T) {
	for _, c := range []struct {
		pattern, schema, name string
		want                  bool
	}{
		{"APP.*", "APP", "ORDERS", true},
		{"*.ORDERS", "APP", "ORDERS", true},
		{"A*S", "APP", "ORDERS", false},
		{"*", "APP", "ORDERS", false},
		{"*", "", "orders", true},
		{"APP.T?", "APP", "T1", true},
		{"APP.T?", "APP", "T10", false},
		{"APP.Ä?", "APP", "ÄÖ", true},
		{"APP.a.b*", "APP", "a.bc", true},
	} {
		if got := fits(c.pattern, schema.Name{Schema: c.schema, Name: c.name}); got != c.want {
			t.Errorf("fits(%q, %s.%s) = %v, want %v", c.pattern, c.schema, c.name, got, c.want)
		}
	}
}

// A regular expression of the same meaning is the oracle.
func TestGlobMatchesAsARegularExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOf(rapid.SampledFrom([]rune("ab*?ä"))).Draw(t, "pattern")
		s := rapid.StringOf(rapid.SampledFrom([]rune("abä"))).Draw(t, "s")
		re := regexp.MustCompile("^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$")
		if got, want := glob(pattern, s), re.MatchString(s); got != want {
			t.Fatalf("glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

func TestNaturalIsATotalOrder(t *testing.T) {
	name := rapid.StringOf(rapid.SampledFrom([]rune("aT019_")))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if natural(a, b) != -natural(b, a) {
			t.Fatalf("natural(%q, %q) = %d, the other way round %d", a, b, natural(a, b), natural(b, a))
		}
		if (natural(a, b) == 0) != (a == b) {
			t.Fatalf("natural(%q, %q) = %d", a, b, natural(a, b))
		}
		if natural(a, b) <= 0 && natural(b, c) <= 0 && natural(a, c) > 0 {
			t.Fatalf("%q <= %q <= %q and not %q <= %q", a, b, c, a, c)
		}
	})
	for _, p := range [][2]string{{"T2", "T10"}, {"T9", "T10A"}, {"a", "b"}, {"T", "T1"}, {"T01", "T2"}} {
		if natural(p[0], p[1]) >= 0 {
			t.Errorf("%s does not come before %s", p[0], p[1])
		}
	}
}
