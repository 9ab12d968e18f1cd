package catalog_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"skillscurriculum/pkg/catalog"
)

func TestTrimmed(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \t\n": "", "\x00": "", "\x01\x7f": "", "\u200b": "", "\ufeff": "", "\u00a0\u2028 \u202e": "",
		" CS 101\n": "CS 101", "\u200bCS": "\u200bCS", ".": ".", "e\u200d": "e\u200d", "\U0001f469\u200d\U0001f4bb": "\U0001f469\u200d\U0001f4bb",
	} {
		if got := catalog.Trimmed(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestNormalized(t *testing.T) {
	for in, want := range map[string]string{
		"CIS-0120l": "CIS120L", "CIS 120L": "CIS120L", " c.i.s 120 L ": "CIS120L", "CIS 0-120L": "CIS120L",
		"MATH 1A": "MATH1A", "MATH 001A02": "MATH1A2", "MATH 10": "MATH10", "MATH 100": "MATH100",
		"000": "000", "0": "0", "X00": "X00", "X 00 Y": "X00Y", "00-10": "10", "C-ID MATH 0 10": "CIDMATH10",
		"A 1001": "A1001", "A 09": "A9", "": "", "-. \t\u00a0": "", "1": "1", "Foothill College": "FOOTHILLCOLLEGE", "École": "ÉCOLE", "A_1": "A_1", "A/01": "A/1",
	} {
		if got := catalog.Normalized(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

var leading = regexp.MustCompile(`(^|[^0-9])0+([1-9])`)

// normalizedBySteps says the rule as it is written, one step after the other.
func normalizedBySteps(s string) string {
	s = strings.ToUpper(strings.ToValidUTF8(s, "\ufffd"))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '.' }), "")
	return leading.ReplaceAllString(s, "$1$2")
}

func FuzzNormalized(f *testing.F) {
	for _, seed := range []string{"CIS-0120l", "000", "0a00b010c", "ß ŉ ǆ İı", "0-0", "\xff0\xfe1", "٠١"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := catalog.Normalized(s)
		if again := catalog.Normalized(once); again != once {
			t.Errorf("%q is %q, then %q", s, once, again)
		}
		if want := normalizedBySteps(strings.ToValidUTF8(s, "\ufffd")); utf8Equal(s) && once != want {
			t.Errorf("%q is %q, want %q", s, once, want)
		}
		for _, same := range []string{strings.ToLower(once), strings.ToUpper(s), s + " ", "-" + s, strings.Join(strings.Split(s, ""), ".")} {
			if utf8Equal(s) && strings.ToUpper(strings.ToLower(once)) == once && catalog.Normalized(same) != once {
				t.Errorf("%q is %q, and %q is %q", s, once, same, catalog.Normalized(same))
			}
		}
	})
}

func utf8Equal(s string) bool { return strings.ToValidUTF8(s, "") == s }
