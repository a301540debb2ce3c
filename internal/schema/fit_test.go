package schema

import "testing"

func TestFit(t *testing.T) {
	dec := func(p, s int) Type { return Type{Kind: Decimal, Precision: p, Scale: s} }
	text := func(n int) Type { return Type{Kind: Text, Length: n} }
	char := func(n int) Type { return Type{Kind: Text, Length: n, Fixed: true} }
	at := func(k Kind, p int) Type { return Type{Kind: k, Precision: p} }
	of := Of
	tests := []struct {
		src, dst Type
		want     FitClass
	}{
		{of(Int16), of(Int64), FitExact},
		{of(Int64), of(Int16), FitChecked},
		{of(Int64), of(Int64), FitExact},
		{of(Int16), of(Float32), FitExact},
		{of(Int32), of(Float32), FitChecked},
		{of(Int32), of(Float64), FitExact},
		{of(Int64), of(Float64), FitChecked},
		{of(Int32), dec(10, 0), FitExact},
		{of(Int32), dec(9, 0), FitChecked},
		{of(Int64), dec(38, 9), FitExact},
		{of(Int64), dec(38, 20), FitChecked},
		{of(Int64), dec(0, 0), FitExact},
		{of(Float32), of(Float64), FitExact},
		{of(Float64), of(Float32), FitLossy},
		{of(Float64), dec(38, 9), FitChecked},
		{of(Float64), dec(0, 0), FitChecked},
		{of(Float64), of(Int64), FitChecked},
		{dec(4, 0), of(Int16), FitExact},
		{dec(5, 0), of(Int16), FitChecked},
		{dec(5, 0), of(Int32), FitExact},
		{dec(9, 0), of(Int32), FitExact},
		{dec(18, 0), of(Int64), FitExact},
		{dec(19, 0), of(Int64), FitChecked},
		{dec(16, -2), of(Int64), FitExact},
		{dec(17, -2), of(Int64), FitChecked},
		{dec(0, 0), of(Int64), FitChecked},
		{dec(5, 2), of(Int64), FitChecked},
		{dec(15, 4), of(Float64), FitExact},
		{dec(16, 4), of(Float64), FitChecked},
		{dec(0, 0), of(Float64), FitChecked},
		{Type{Kind: Decimal, Floating: true}, of(Float64), FitChecked},
		{Type{Kind: Decimal, Floating: true}, dec(0, 0), FitExact},
		{dec(5, 2), dec(5, 2), FitExact},
		{dec(5, 2), dec(7, 4), FitExact},
		{dec(5, 2), dec(6, 4), FitChecked},
		{dec(5, 2), dec(10, 1), FitChecked},
		{dec(5, 2), dec(0, 0), FitExact},
		{dec(0, 0), dec(38, 9), FitChecked},
		{dec(5, 2), text(7), FitExact},
		{dec(5, 2), text(6), FitChecked},
		{dec(0, 0), text(0), FitExact},
		{dec(0, 0), text(40), FitChecked},
		{text(50), text(50), FitExact},
		{text(50), text(0), FitExact},
		{text(100), text(50), FitChecked},
		{text(0), text(50), FitChecked},
		{char(10), text(10), FitExact},
		{char(10), char(10), FitExact},
		{text(10), char(10), FitLossy},
		{char(5), char(10), FitLossy},
		{char(10), text(5), FitChecked},
		{text(0), of(Int64), FitChecked},
		{text(0), of(JSON), FitChecked},
		{of(JSON), text(0), FitExact},
		{of(JSON), of(JSON), FitExact},
		{of(UUID), text(36), FitExact},
		{of(UUID), text(35), FitChecked},
		{of(UUID), of(Bytes), FitExact},
		{of(Bytes), of(UUID), FitChecked},
		{Type{Kind: Bytes, Length: 16, Fixed: true}, of(UUID), FitExact},
		{of(Bytes), of(Int64), FitNone},
		{of(Bytes), text(0), FitExact},
		{of(Int64), of(Bytes), FitNone},
		{Type{Kind: Bytes, Length: 20}, Type{Kind: Bytes, Length: 10}, FitChecked},
		{of(Bool), of(Int16), FitExact},
		{of(Bool), dec(1, 0), FitExact},
		{of(Bool), dec(1, 1), FitNone},
		{dec(1, 0), of(Bool), FitChecked},
		{of(Bool), of(Float64), FitNone},
		{of(Bool), of(Date), FitNone},
		{of(Date), of(Timestamp), FitExact},
		{of(Date), of(TimestampTZ), FitLossy},
		{of(Timestamp), of(Date), FitChecked},
		{at(Timestamp, 0), of(Timestamp), FitExact},
		{at(Timestamp, 9), of(Timestamp), FitLossy},
		{of(Timestamp), at(Timestamp, 9), FitExact},
		{of(TimestampTZ), of(Timestamp), FitLossy},
		{of(Timestamp), of(TimestampTZ), FitLossy},
		{of(Time), of(Timestamp), FitNone},
		{of(Date), of(Time), FitNone},
		{of(TimestampTZ), of(Date), FitNone},
		{of(Int64), of(Timestamp), FitNone},
		{Type{}, of(Int64), FitNone},
	}
	for _, c := range tests {
		got, why := Fit(c.src, c.dst)
		if got != c.want || (why == "") != (got == FitExact) {
			t.Errorf("Fit(%s, %s) = %s, %q; want %s", c.src, c.dst, got, why, c.want)
		}
	}
}
