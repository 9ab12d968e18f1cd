package catalog

import "testing"

func FuzzCursor(f *testing.F) {
	for _, cursor := range []string{"", "c0-0", "c1-2", "cz-10", "c-0", "\xff", "c1-1-1", "1-1", "c99999999999-1"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cursor, ok := ParseCursor(text)
		switch {
		case !ok || text == "":
		case cursor.Page < 0 || cursor.Place < 0:
			t.Errorf("%q leads to page %d, place %d", text, cursor.Page, cursor.Place)
		case cursor.String() != text:
			t.Errorf("%q is read as %q", text, cursor)
		}
	})
}

func TestCursorsAreOrdered(t *testing.T) {
	order := []Cursor{{}, {0, 1}, {0, 9}, {1, 0}, {1, 3}, {40, 1}}
	for i, c := range order {
		for j, d := range order {
			if c.Before(d) != (i < j) {
				t.Errorf("%s before %s: %v", c, d, c.Before(d))
			}
		}
	}
}
