package schema

import "testing"

func TestParseTypeReadsWhatStringWrites(t *testing.T) {
	for _, want := range []Type{
		{Kind: Decimal, Floating: true}, Of(Bool), Of(Int16), Of(Int64), Of(Float32), Of(Decimal), {Kind: Decimal, Precision: 5}, {Kind: Decimal, Precision: 38, Scale: 9}, {Kind: Decimal, Precision: 5, Scale: -2},
		Of(Text), {Kind: Text, Length: 50}, {Kind: Text, Length: 3, Fixed: true}, Of(Bytes), {Kind: Bytes, Length: 16, Fixed: true},
		Of(Date), Of(Time), Of(Timestamp), {Kind: Timestamp, Precision: 9}, {Kind: TimestampTZ, Precision: 0}, Of(UUID), Of(JSON),
	} {
		if got, err := ParseType(want.String()); err != nil || got != want {
			t.Errorf("ParseType(%q) = %+v, %v; want %+v", want, got, err, want)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	for _, s := range []string{"", "invalid", "number", "int64(5)", "decimal(0)", "decimal(1,2,3)", "text(0)", "text(5", "text(5)x", "fixed text", "fixed int64", "floating int64", "floating decimal(5)", "timestamp(10)", "decimal(a)"} {
		if got, err := ParseType(s); err == nil {
			t.Errorf("ParseType(%q) = %+v, want an error", s, got)
		}
	}
}

func TestNormalKeepsEveryValue(t *testing.T) {
	for _, c := range [][2]Type{
		{{Kind: Decimal, Precision: 5, Scale: -2}, {Kind: Decimal, Precision: 7}},
		{{Kind: Decimal, Precision: 3, Scale: 5}, {Kind: Decimal, Precision: 5, Scale: 5}},
		{{Kind: Decimal, Precision: 5, Scale: 2}, {Kind: Decimal, Precision: 5, Scale: 2}},
		{Of(Decimal), Of(Decimal)},
	} {
		got := c[0].Normal()
		if class, why := Fit(c[0], got); got != c[1] || class != FitExact {
			t.Errorf("%s.Normal() = %s, %s %s; want %s", c[0], got, class, why, c[1])
		}
	}
}
