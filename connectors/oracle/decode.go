package oracle

import (
	"database/sql/driver"
	"fmt"
	"time"
	"unsafe"

	"penstock/internal/batch"
	"penstock/internal/schema"
)

// append adds the value of a row, and returns why it has no place in the column.
func (d *decoder) append(c *batch.Column, row []driver.Value) (why string) {
	switch v := row[d.at].(type) {
	case nil:
		if d.lob && row[d.at+1] != nil { // it has a length: it is empty, not NULL
			c.AppendBytes(nil)
			return ""
		}
		c.AppendNull()
		return ""
	case string:
		return d.text(c, v)
	case time.Time:
		return d.time(c, v)
	case []byte:
		if d.kind == schema.Bytes {
			c.AppendBytes(v)
			return ""
		}
	case float64: // of a BINARY_FLOAT, too
		if c.Type.IsFloat() {
			c.AppendFloat(v)
			return ""
		}
	}
	return fmt.Sprintf("the driver gives a %T for it", row[d.at])
}

func (d *decoder) text(c *batch.Column, v string) string {
	switch d.kind {
	case schema.Text:
		if !c.Type.Fixed {
			c.AppendString(v)
			return ""
		}
	case schema.Bool:
		c.AppendBool(v == "1")
		return ""
	}
	if err := batch.ParseText(c, unsafe.Slice(unsafe.StringData(v), len(v))); err != nil {
		return err.Error()
	}
	return ""
}

const microsPerSecond = 1_000_000

// time keeps the fields of a date as they are: year, month and day are the same
// in the Gregorian calendar that everybody else counts backwards.
func (d *decoder) time(c *batch.Column, t time.Time) string {
	year, month, day := t.Date()
	if year < gregorian {
		var why string
		if t, why = early(t, year, month, day); why != "" {
			return why
		}
	}
	nanos := t.Nanosecond()
	micros := t.Unix()*microsPerSecond + int64(nanos/1000)
	switch d.kind {
	case schema.Timestamp, schema.TimestampTZ:
		c.AppendNanos(micros, int16(nanos%1000))
		return ""
	}
	return "it is a time"
}

// gregorian is the year in which Oracle changes from the Julian calendar.
const gregorian = 1582

// early looks after dates of the Julian calendar and of years before the first.
func early(t time.Time, year int, month time.Month, day int) (time.Time, string) {
	// The driver makes the first of March of a leap day that only the Julian
	// calendar has, and nobody can tell which it was.
	if month == time.March && day == 1 && year%100 == 0 && year%400 != 0 {
		return t, fmt.Sprintf("it is 29 February or 1 March of the year %d, which the driver can't tell apart: read the column through a view as TO_CHAR", year)
	}
	if year > 0 {
		return t, ""
	}
	// Oracle's year -1 is the one before the year 1, which everybody else calls 0
	// where they count with it.
	moved := time.Date(year+1, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if moved.Day() != day {
		return t, fmt.Sprintf("there is no 29 February in the year %d", year)
	}
	return moved, ""
}
