package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// Trimmed returns a text of an input without blanks at its ends; "" if no character in it is visible: controls, format
// characters and separators (Unicode's Cc, Cf and Z) alone are blank.
func Trimmed(s string) string {
	visible := func(r rune) bool { return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z) }
	if !strings.ContainsFunc(s, visible) {
		return ""
	}
	return strings.TrimSpace(s)
}

// Normalized returns a code or an institution's name in the form in which it is compared: upper case, without spaces,
// hyphens and dots, then without leading zeros in each run of ASCII digits. A run of zeros alone stays.
func Normalized(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, s)
	var b strings.Builder
	zeros := 0 // that begin a run of digits
	inRun := false
	for _, r := range s {
		digit := '0' <= r && r <= '9'
		if r == '0' && !inRun {
			zeros++
			continue
		}
		if !digit {
			b.WriteString(strings.Repeat("0", zeros))
		}
		zeros, inRun = 0, digit
		b.WriteRune(r)
	}
	return b.String() + strings.Repeat("0", zeros)
}

// Key identifies the alternative's set of codes: the sorted normalised codes, separated by commas, which no code
// contains.
func (alternative Alternative) Key() string {
	codes := make([]string, len(alternative.Courses))
	for i, course := range alternative.Courses {
		codes[i] = Normalized(course.Code)
	}
	slices.Sort(codes)
	return strings.Join(codes, ",")
}

// Same reports whether both are the same institution: their normalised names are equal, or their codes of the same
// type.
func (i Institution) Same(other Institution) bool {
	if Normalized(i.Name) == Normalized(other.Name) {
		return true
	}
	return i.CodeType != nil && other.CodeType != nil && *i.CodeType == *other.CodeType &&
		i.Code != nil && other.Code != nil && Normalized(*i.Code) != "" && Normalized(*i.Code) == Normalized(*other.Code)
}

// Named reports whether a name or code is the institution's, once normalised.
func (i Institution) Named(nameOrCode string) bool {
	asked := Normalized(nameOrCode)
	return asked != "" && (asked == Normalized(i.Name) || i.Code != nil && asked == Normalized(*i.Code))
}
