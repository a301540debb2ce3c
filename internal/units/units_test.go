package units

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]Size{
		"0B": 0, "1B": 1, "8MiB": 8 << 20, "1.5KiB": 1536, "2 GiB": 2 << 30, "1TiB": 1 << 40,
		"1kB": 1000, "3MB": 3e6, "1GB": 1e9, "1TB": 1e12, " 64MiB ": 64 << 20,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "8", "MiB", "8mib", "-1B", "1e3B", "0x10B", "1_0B", "NaNB", "InfB", "9000000TiB", "8MiB/s", "1,5KiB", "8 M"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestParseRateAndDuration(t *testing.T) {
	if got, err := ParseRate("40MiB/s"); err != nil || got != 40<<20 {
		t.Errorf("ParseRate gave %d, %v", got, err)
	}
	for _, in := range []string{"40MiB", "0B/s", "40MiB/m", "/s"} {
		if got, err := ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", in, got)
		}
	}
	if got, err := ParseDuration("1m30s"); err != nil || got != 90*time.Second {
		t.Errorf("ParseDuration gave %s, %v", got, err)
	}
	for _, in := range []string{"", "60", "-1s", "0s", "1d", "fast"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %s, want an error", in, got)
		}
	}
}

// What is printed reads back as the same size, or within the digit it shows.
func TestSizeReadsBackAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Range(0, 1<<50).Draw(t, "size"))
		got, err := ParseSize(s.String())
		if err != nil {
			t.Fatalf("%d prints as %q: %v", s, s, err)
		}
		if d := float64(got - s); d > float64(s)/100 || -d > float64(s)/100 {
			t.Fatalf("%d prints as %q, which is %d", s, s, got)
		}
	})
}

func TestCount(t *testing.T) {
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567", -9223372036854775808: "-9,223,372,036,854,775,808"} {
		if got := Count(in); got != want {
			t.Errorf("Count(%d) = %q, want %q", in, got, want)
		}
	}
}
