package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// Cursor is a position in the change feed of an organization: after entry number Place of its
// page, counted from 1. The zero Cursor is the beginning.
type Cursor struct{ Page, Place int }

// String is the text form that clients see.
func (c Cursor) String() string {
	return "c" + strconv.FormatInt(int64(c.Page), 36) + "-" + strconv.FormatInt(int64(c.Place), 36)
}

// Before reports whether c comes before d in the feed.
func (c Cursor) Before(d Cursor) bool {
	return c.Page < d.Page || c.Page == d.Page && c.Place < d.Place
}

// MarshalText returns the text form.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses the text form.
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed, ok := ParseCursor(string(text))
	if !ok {
		return fmt.Errorf("not a cursor: %q", text)
	}
	*c = parsed
	return nil
}

// ParseCursor parses the text form; the empty text is the beginning. It returns false for a
// text that String does not produce.
func ParseCursor(text string) (Cursor, bool) {
	if text == "" {
		return Cursor{}, true
	}
	left, right, _ := strings.Cut(strings.TrimPrefix(text, "c"), "-")
	page, _ := strconv.ParseInt(left, 36, 32)
	place, _ := strconv.ParseInt(right, 36, 32)
	c := Cursor{int(page), int(place)}
	return c, place >= 0 && c.String() == text // an invalid number formats differently
}

// PageOf returns a page of a complete list.
func PageOf[T any](all []T, offset, limit int) []T {
	rest := all[min(offset, len(all)):]
	return rest[:min(limit, len(rest))]
}
