package oracletest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Values are kept as they go on the wire. NUMBERs, dates, timestamps and RAWs
// sort as their octets do.

// Number is a NUMBER from plain decimal text, with an exponent at most.
func Number(text string) []byte {
	digits, exponent, _ := strings.Cut(strings.ToUpper(text), "E")
	shift, _ := strconv.Atoi(exponent)
	digits, negative := strings.CutPrefix(strings.TrimPrefix(digits, "+"), "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	all := whole + fraction
	point := len(whole) + shift
	lead := len(all) - len(strings.TrimLeft(all, "0"))
	all, point = all[lead:], point-lead
	all = strings.TrimRight(all, "0")
	if all == "" {
		return []byte{0x80}
	}
	if point%2 != 0 { // pairs of digits begin at the point
		all, point = "0"+all, point+1
	}
	if len(all)%2 != 0 {
		all += "0"
	}
	exp := point/2 - 1
	var out []byte
	if negative {
		out = append(out, byte(62-exp))
	} else {
		out = append(out, byte(193+exp))
	}
	for i := 0; i < len(all); i += 2 {
		v := (all[i]-'0')*10 + all[i+1] - '0'
		if negative {
			out = append(out, 101-v)
		} else {
			out = append(out, v+1)
		}
	}
	if negative && len(out) < 21 {
		out = append(out, 102)
	}
	return out
}

// Int is a NUMBER.
func Int(v int64) []byte { return Number(strconv.FormatInt(v, 10)) }

// numberText is plain decimal text of a NUMBER.
func numberText(v []byte) string {
	if len(v) == 0 || v[0] == 0x80 {
		return "0"
	}
	negative := v[0]&0x80 == 0
	exp := int(v[0]) - 193
	if negative {
		exp = 62 - int(v[0])
		if v[len(v)-1] == 102 {
			v = v[:len(v)-1]
		}
	}
	var b strings.Builder
	for _, d := range v[1:] {
		n := int(d) - 1
		if negative {
			n = 101 - int(d)
		}
		fmt.Fprintf(&b, "%02d", n)
	}
	digits, point := b.String(), (exp+1)*2
	switch {
	case point <= 0:
		digits = "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		digits += strings.Repeat("0", point-len(digits))
	default:
		digits = digits[:point] + "." + digits[point:]
	}
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(digits, "0")
	}
	digits = strings.TrimSuffix(digits, ".")
	if t := strings.TrimLeft(digits, "0"); t != "" && t[0] != '.' {
		digits = t
	} else {
		digits = "0" + t
	}
	if negative {
		digits = "-" + digits
	}
	return digits
}

// numberInt is a NUMBER that is a whole number of 64 bits.
func numberInt(v []byte) int64 {
	n, _ := strconv.ParseInt(numberText(v), 10, 64)
	return n
}

// clock is a point in time as Oracle's fields hold it. Years before the first
// are negative, there is none of zero.
type clock struct {
	year, month, day, hour, minute, second, nanos int
	offset                                        int // minutes east of UTC
}

// parseClock reads [-]2006-01-02[ 15:04:05[.999999999]][+07:00].
func parseClock(text string) (clock, error) {
	var c clock
	body, before := strings.CutPrefix(text, "-")
	if i := strings.LastIndexAny(body, "+-"); i > 10 {
		h, m, _ := strings.Cut(body[i+1:], ":")
		hours, _ := strconv.Atoi(h)
		minutes, _ := strconv.Atoi(m)
		c.offset = hours*60 + minutes
		if body[i] == '-' {
			c.offset = -c.offset
		}
		body = body[:i]
	}
	body, fraction, _ := strings.Cut(body, ".")
	if len(body) == 10 {
		body += " 00:00:00"
	}
	if _, err := fmt.Sscanf(body, "%d-%d-%d %d:%d:%d", &c.year, &c.month, &c.day, &c.hour, &c.minute, &c.second); err != nil {
		return c, fmt.Errorf("%q is no time: %w", text, err)
	}
	if fraction != "" {
		c.nanos, _ = strconv.Atoi((fraction + "000000000")[:9])
	}
	if before {
		c.year = -c.year
	}
	return c, nil
}

// date is a DATE: seven octets.
func (c clock) date() []byte {
	return []byte{byte(c.year/100 + 100), byte(c.year%100 + 100), byte(c.month), byte(c.day), byte(c.hour + 1), byte(c.minute + 1), byte(c.second + 1)}
}

// timestamp is a TIMESTAMP: a date and nanoseconds.
func (c clock) timestamp() []byte {
	return binary.BigEndian.AppendUint32(c.date(), uint32(c.nanos))
}

// zoned is a TIMESTAMP WITH TIME ZONE: its fields in UTC, and the offset.
func (c clock) zoned() []byte {
	return append(c.utc().timestamp(), byte(c.offset/60+20), byte(c.offset%60+60))
}

// utc is the same moment in UTC.
func (c clock) utc() clock {
	if c.offset == 0 {
		return c
	}
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute-c.offset, c.second, c.nanos, time.UTC)
	return clock{year: t.Year(), month: int(t.Month()), day: t.Day(), hour: t.Hour(), minute: t.Minute(), second: t.Second(), nanos: t.Nanosecond()}
}

// clockText is SYYYY-MM-DD HH24:MI:SS of a date, with .FF9 of a timestamp.
func clockText(v []byte, fraction bool) string {
	year := (int(v[0])-100)*100 + int(v[1]) - 100
	sign := " "
	if year < 0 {
		sign, year = "-", -year
	}
	s := fmt.Sprintf("%s%04d-%02d-%02d %02d:%02d:%02d", sign, year, v[2], v[3], v[4]-1, v[5]-1, v[6]-1)
	if fraction {
		n := uint32(0)
		if len(v) >= 11 {
			n = binary.BigEndian.Uint32(v[7:])
		}
		s += fmt.Sprintf(".%09d", n)
	}
	return s
}

// binaryFloat is a BINARY_FLOAT: the IEEE octets, turned so that they sort.
func binaryFloat(v float32) []byte {
	b := math.Float32bits(v)
	if b>>31 == 0 {
		b |= 1 << 31
	} else {
		b = ^b
	}
	return binary.BigEndian.AppendUint32(nil, b)
}

func binaryDouble(v float64) []byte {
	b := math.Float64bits(v)
	if b>>63 == 0 {
		b |= 1 << 63
	} else {
		b = ^b
	}
	return binary.BigEndian.AppendUint64(nil, b)
}

// utf16be is text in the national character set.
func utf16be(text []byte) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}
