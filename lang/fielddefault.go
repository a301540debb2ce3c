package lang

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"penstock/internal/units"
)

// setDefault sets a field to its tag's default.
func setDefault(v reflect.Value, f field) {
	var err error
	switch f.typ {
	case typeSize:
		var n units.Size
		n, err = units.ParseSize(f.def)
		v.SetInt(int64(n))
	case typeRate:
		var n units.Rate
		n, err = units.ParseRate(f.def)
		v.SetInt(int64(n))
	case typeDuration:
		var n time.Duration
		n, err = units.ParseDuration(f.def)
		v.SetInt(int64(n))
	default:
		switch f.typ.Kind() {
		case reflect.String:
			if v.SetString(f.def); len(f.oneof) > 0 && !slices.Contains(f.oneof, f.def) {
				err = fmt.Errorf("it is none of %v", f.oneof)
			}
		case reflect.Bool:
			var b bool
			b, err = strconv.ParseBool(f.def)
			v.SetBool(b)
		case reflect.Int, reflect.Int64:
			var n int64
			n, err = strconv.ParseInt(f.def, 10, 64)
			v.SetInt(n)
		case reflect.Float64:
			var n float64
			n, err = strconv.ParseFloat(f.def, 64)
			v.SetFloat(n)
		case reflect.Slice:
			v.Set(reflect.ValueOf(strings.Fields(f.def)).Convert(f.typ))
		default:
			err = fmt.Errorf("a %s has no default", f.typ)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("lang: default:%q of setting %q: %v", f.def, f.name, err))
	}
}
