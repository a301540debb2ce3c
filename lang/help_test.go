package lang_test

import (
	"penstock/lang"

	"github.com/hashicorp/hcl/v2"
)

// covered is the bytes of a range.
func covered(spec *lang.Spec, r hcl.Range) string {
	b := spec.Files[r.Filename]
	if r.Start.Byte > r.End.Byte || r.End.Byte > len(b) {
		return "(outside)"
	}
	return string(b[r.Start.Byte:r.End.Byte])
}
