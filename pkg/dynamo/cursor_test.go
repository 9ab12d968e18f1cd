package dynamo

import "testing"

func FuzzCursor(f *testing.F) {
	for _, cursor := range []string{"", "c0-0", "c1-2", "cz-10", "c-0", "\xff", "c1-1-1", "1-1", "c99999999999-1"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		page, place, ok := parseCursor(cursor)
		switch {
		case !ok || cursor == "":
		case page < 0 || place < 0:
			t.Errorf("%q leads to page %d, place %d", cursor, page, place)
		case formatCursor(page, place) != cursor:
			t.Errorf("%q is read as %q", cursor, formatCursor(page, place))
		}
	})
}
