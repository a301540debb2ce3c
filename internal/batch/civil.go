package batch

// Dates are days since 1970-01-01 in the proleptic Gregorian calendar with
// astronomical years: year 0 is 1 BC, year -1 is 2 BC. time.Time is left aside:
// it allocates in places, costs several times as much, and reads no year
// outside 0-9999.

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
	// Years that fit an int64 of microseconds, whatever the day.
	minYear = -290_307
	maxYear = 294_246
	// The last year that a database has a date of: PostgreSQL.
	farYear = 5_874_897
)

// civil turns days since the epoch into a date. Years are counted from March,
// so that the leap day is the last of a year; an era is 400 years of 146,097 days.
func civil(days int64) (year int64, month, day int) {
	z := days + 719_468 // days since 0000-03-01
	era := floorDiv(z, 146_097)
	doe := z - era*146_097 // day of the era
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	year = yoe + era*400
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// daysOf is the inverse of civil. month and day must be those of a real date.
func daysOf(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := int64(153*(month-3)+2)/5 + int64(day) - 1
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + doy - 719_468
}

func daysIn(year int64, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendDate writes 2006-01-02, with more digits of a year past 9999 and a
// minus before year 0.
func appendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	if y < 0 {
		dst = append(dst, '-')
		y = -y
	}
	if y > 9999 {
		dst = appendUint(dst, uint64(y/100))
	} else {
		dst = append2(dst, int(y/100))
	}
	c := int(y % 100)
	return append(dst, tens[c], ones[c], '-', tens[m], ones[m], '-', tens[d], ones[d])
}

// tens and ones are the digits of 0 to 99: a division costs more than a table.
var tens, ones = func() (t, o [100]byte) {
	for i := range t {
		t[i], o[i] = byte('0'+i/10), byte('0'+i%10)
	}
	return t, o
}()

// appendClock writes 15:04:05 and the fraction of a second where there is one,
// without trailing zeros. nanos are those below the microsecond.
func appendClock(dst []byte, micros int64, nanos int16) []byte {
	s := uint(micros / microsPerSecond)
	h, m := s/3600%100, s/60%60 // %100: a time beyond its day must not panic here
	s %= 60
	dst = append(dst, tens[h], ones[h], ':', tens[m], ones[m], ':', tens[s], ones[s])
	f := micros%microsPerSecond*1000 + int64(nanos)
	if f == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(100_000_000); f > 0; unit /= 10 {
		dst = append(dst, byte('0'+f/unit))
		f %= unit
	}
	return dst
}

func append2(dst []byte, v int) []byte { return append(dst, tens[v], ones[v]) }

func appendTimestamp(dst []byte, micros int64, nanos int16) []byte {
	days := floorDiv(micros, microsPerDay)
	dst = append(appendDate(dst, days), ' ')
	return appendClock(dst, micros-days*microsPerDay, nanos)
}
