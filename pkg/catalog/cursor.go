package catalog

import (
	"strconv"
	"strings"
)

// Cursor is a place in the change feed of an organization: behind the entry that is
// the Place'th of its page. The zero Cursor is the beginning.
type Cursor struct{ Page, Place int }

// String is the text form that clients see.
func (c Cursor) String() string {
	return "c" + strconv.FormatInt(int64(c.Page), 36) + "-" + strconv.FormatInt(int64(c.Place), 36)
}

// Before reports whether c is nearer to the beginning than d.
func (c Cursor) Before(d Cursor) bool {
	return c.Page < d.Page || c.Page == d.Page && c.Place < d.Place
}

// ParseCursor reads the text form; the empty text is the beginning. It returns false
// for what String does not return.
func ParseCursor(text string) (Cursor, bool) {
	if text == "" {
		return Cursor{}, true
	}
	left, right, ok := strings.Cut(strings.TrimPrefix(text, "c"), "-")
	page, err1 := strconv.ParseInt(left, 36, 32)
	place, err2 := strconv.ParseInt(right, 36, 32)
	c := Cursor{int(page), int(place)}
	return c, ok && err1 == nil && err2 == nil && page >= 0 && place >= 0 && c.String() == text
}
