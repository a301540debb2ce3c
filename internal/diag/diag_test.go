package diag

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
)

func bytesOf(file string, from, to int) hcl.Range {
	return hcl.Range{Filename: file, Start: hcl.Pos{Line: 1, Column: from + 1, Byte: from}, End: hcl.Pos{Line: 1, Column: to + 1, Byte: to}}
}

func TestApartKeepsWhatIsAboutOtherBytes(t *testing.T) {
	earlier := List{{Code: "A", Subject: bytesOf("f", 10, 20)}, {Code: "W", Severity: Warning, Subject: bytesOf("f", 40, 50)}}
	later := List{
		{Code: "inside", Subject: bytesOf("f", 12, 15)}, {Code: "same", Subject: bytesOf("f", 10, 20)}, {Code: "encloses", Subject: bytesOf("f", 0, 99)},
		{Code: "empty, at its end", Subject: bytesOf("f", 20, 20)},
		{Code: "beside", Subject: bytesOf("f", 20, 30)}, {Code: "other file", Subject: bytesOf("g", 10, 20)}, {Code: "of a warning", Subject: bytesOf("f", 40, 50)},
	}
	got := later.Apart(earlier)
	if len(got) != 3 || got[0].Code != "beside" || got[1].Code != "other file" || got[2].Code != "of a warning" {
		t.Errorf("got %v", got)
	}
	if len(later) != 7 {
		t.Error("the list itself was changed")
	}
}

func TestSortedIsByPlaceAndSaysEachThingOnce(t *testing.T) {
	l := List{{Code: "B", Subject: bytesOf("f", 5, 6)}, {Code: "A", Subject: bytesOf("f", 1, 2)}, {Code: "B", Subject: bytesOf("f", 5, 6)}, {Code: "C", Subject: bytesOf("e", 9, 10)}}
	got := l.Sorted()
	if len(got) != 3 || got[0].Code != "C" || got[1].Code != "A" || got[2].Code != "B" {
		t.Errorf("got %v", got)
	}
}
