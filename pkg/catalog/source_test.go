package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Quotes of a cleaned copy are found in the text that a client sent, at the place nearest to where they stood.
func TestLocate(t *testing.T) {
	const text = "Databases\n\nDatabases  are\tdesigned;\n- SQL is   written,\n\n\u200bby stu\u00addents of éa.\n"
	evidence := []Evidence{
		{Quote: "Databases", Start: 0, End: 9},
		{Quote: "Databases", Start: 10, End: 19},
		{Quote: "Databases are | designed;", Start: 10, End: 34},
		{Quote: "SQL is written, by students of éa.", Start: 35},
		{Quote: "not there", Start: 3},
	}
	Locate(evidence, text)
	all := len([]rune(text))
	want := []Evidence{
		{Quote: "Databases", Start: 0, End: 9},
		{Quote: "Databases", Start: 11, End: 20},
		{Quote: "Databases  are\tdesigned;", Start: 11, End: 35},
		{Quote: "SQL is   written,\n\n\u200bby stu\u00addents of éa.", Start: 38, End: all - 1},
		{Quote: text, Start: 0, End: all},
	}
	if diff := cmp.Diff(want, evidence); diff != "" {
		t.Error(diff)
	}
}
