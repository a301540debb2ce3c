// Package units reads and prints sizes, rates and durations with their units.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written "8MiB".
type Size int64

// Rate is bytes per second, written "40MiB/s".
type Rate int64

const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

var sizeUnits = []struct {
	name string
	size float64
}{
	{"TiB", float64(TiB)}, {"GiB", float64(GiB)}, {"MiB", float64(MiB)}, {"KiB", float64(KiB)},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseSize reads a size: a number and one of B kB MB GB TB KiB MiB GiB TiB.
func ParseSize(s string) (Size, error) {
	t := strings.TrimSpace(s)
	for _, u := range sizeUnits {
		num, ok := strings.CutSuffix(t, u.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		if err != nil || f < 0 || math.IsNaN(f) || f*u.size >= math.MaxInt64 || strings.ContainsAny(num, "xXpP_eE") {
			break
		}
		return Size(f * u.size), nil
	}
	return 0, fmt.Errorf(`%q is not a size: write a number and a unit (B, KiB, MiB, GiB, TiB), such as "8MiB"`, s)
}

// ParseRate reads a size followed by "/s".
func ParseRate(s string) (Rate, error) {
	if num, ok := strings.CutSuffix(strings.TrimSpace(s), "/s"); ok {
		if n, err := ParseSize(num); err == nil && n > 0 {
			return Rate(n), nil
		}
	}
	return 0, fmt.Errorf(`%q is not a rate: write a size per second, such as "40MiB/s"`, s)
}

// ParseDuration reads a positive duration such as "60s", "1m30s" or "20ms".
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf(`%q is not a duration: write a positive number and a unit (ms, s, m, h), such as "60s"`, s)
	}
	return d, nil
}

// String prints a size in the largest unit that keeps it whole, else with one
// digit, in one of which there are four.
func (s Size) String() string {
	for _, u := range sizeUnits[:4] {
		n := Size(u.size)
		switch {
		case s >= n && s%n == 0:
			return fmt.Sprintf("%d%s", s/n, u.name)
		case s >= 4*n:
			return fmt.Sprintf("%.1f%s", float64(s)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", s)
}

func (r Rate) String() string { return Size(r).String() + "/s" }

// Count prints a whole number with a comma every three digits.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
