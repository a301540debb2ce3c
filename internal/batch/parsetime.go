package batch

import (
	"fmt"

	"penstock/internal/schema"
)

// clockText reads dates and times from the left. bad stays set once anything
// was not as expected, so that the steps need no checks between them.
type clockText struct {
	s   []byte
	bad bool
}

// parseTime reads a Date, Time, Timestamp or TimestampTZ.
func parseTime(dst *Column, s []byte) (why string) {
	t := dst.Type
	p := clockText{s: s}
	var micros int64
	var nanos, digits int
	switch t.Kind {
	case schema.Date:
		days := p.date(farYear)
		if p.bad || len(p.s) > 0 {
			return fmt.Sprintf("%q is not a date of the form 2006-01-02", short(s))
		}
		dst.AppendInt(days)
		return ""
	case schema.Time:
		micros, nanos, digits = p.clock()
		if p.bad || len(p.s) > 0 {
			return fmt.Sprintf("%q is not a time of the form 15:04:05.000000", short(s))
		}
	default:
		days := p.date(maxYear)
		if len(p.s) > 0 && (p.s[0] == ' ' || p.s[0] == 'T') {
			p.s = p.s[1:]
			micros, nanos, digits = p.clock()
		}
		micros += days * microsPerDay
		form := "2006-01-02 15:04:05.000000"
		if t.Kind == schema.TimestampTZ {
			micros -= p.offset() * microsPerSecond
			form += "+00:00, with an offset or Z"
		}
		if p.bad || len(p.s) > 0 {
			return fmt.Sprintf("%q is not a timestamp of the form %s", short(s), form)
		}
	}
	if digits > t.Precision {
		return fmt.Sprintf("%q has %d digits of a second and %s takes %d", short(s), digits, t, t.Precision)
	}
	dst.AppendNanos(micros, int16(nanos))
	return ""
}

// plainTimestamp is the fast way for what nearly every timestamp looks like: a
// year of four digits and no fraction, 2006-01-02 15:04:05.
func plainTimestamp(s []byte) (micros int64, ok bool) {
	if len(s) != 19 || s[4] != '-' || s[7] != '-' || s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	century, year := twoDigits(s[0], s[1]), twoDigits(s[2], s[3])
	month, day := twoDigits(s[5], s[6]), twoDigits(s[8], s[9])
	hour, minute, second := twoDigits(s[11], s[12]), twoDigits(s[14], s[15]), twoDigits(s[17], s[18])
	if (century|year|month|day|hour|minute|second) >= 128 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	y := int64(century)*100 + int64(year)
	if day > 28 && int(day) > daysIn(y, int(month)) {
		return 0, false
	}
	return daysOf(y, int(month), int(day))*microsPerDay + int64(hour*3600+minute*60+second)*microsPerSecond, true
}

// twoDigits is their number, 128 or more when one is no digit.
func twoDigits(a, b byte) uint32 {
	a, b = a-'0', b-'0'
	if a > 9 || b > 9 {
		return 128
	}
	return uint32(a)*10 + uint32(b)
}

// date reads a day of a year up to most.
func (p *clockText) date(most int64) (days int64) {
	neg := p.skip('-')
	year := p.number(4, 7)
	if neg {
		year = -year
	}
	p.need('-')
	month := p.number(2, 2)
	p.need('-')
	day := p.number(2, 2)
	p.bad = p.bad || year <= minYear || year > most || month < 1 || month > 12 || day < 1 || day > int64(daysIn(year, int(min(max(month, 1), 12))))
	if p.bad {
		return 0
	}
	return daysOf(year, int(month), int(day))
}

// clock reads 15:04:05 with a fraction of up to nine digits; 24:00:00 is the
// end of the day. digits are those of the fraction, trailing zeros left aside.
func (p *clockText) clock() (micros int64, nanos, digits int) {
	hour := p.number(2, 2)
	p.need(':')
	minute := p.number(2, 2)
	p.need(':')
	second := p.number(2, 2)
	fraction := int64(0)
	if p.skip('.') {
		n := 0
		for ; n < len(p.s) && isDigit(p.s[n]); n++ {
			if n < 9 {
				fraction = fraction*10 + int64(p.s[n]-'0')
			}
			if p.s[n] != '0' {
				digits = n + 1
			}
		}
		p.bad = p.bad || n == 0 || digits > 9
		for i := n; i < 9; i++ {
			fraction *= 10
		}
		p.s = p.s[n:]
	}
	p.bad = p.bad || hour > 24 || minute > 59 || second > 59 || hour == 24 && (minute|second|fraction) != 0
	micros = (hour*3600+minute*60+second)*microsPerSecond + fraction/1000
	return micros, int(fraction % 1000), digits
}

// offset reads Z, +hh, +hh:mm or +hh:mm:ss and returns seconds east of UTC.
func (p *clockText) offset() int64 {
	if p.skip('Z') {
		return 0
	}
	west := p.skip('-')
	if !west {
		p.need('+')
	}
	seconds := p.number(2, 2) * 3600
	for unit := int64(60); unit > 0 && p.skip(':'); unit /= 60 {
		n := p.number(2, 2)
		p.bad = p.bad || n > 59
		seconds += n * unit
	}
	p.bad = p.bad || seconds > 18*3600 // beyond any zone there is
	if west {
		return -seconds
	}
	return seconds
}

// number reads least to most digits.
func (p *clockText) number(least, most int) (v int64) {
	n := 0
	for n < most && n < len(p.s) && isDigit(p.s[n]) {
		v = v*10 + int64(p.s[n]-'0')
		n++
	}
	p.bad = p.bad || n < least
	p.s = p.s[n:]
	return v
}

func (p *clockText) skip(c byte) bool {
	if len(p.s) == 0 || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *clockText) need(c byte) { p.bad = !p.skip(c) || p.bad }
