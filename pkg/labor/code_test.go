package labor

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The forms of codes are what these patterns say.
func TestCodesHaveTheirForm(t *testing.T) {
	forms := map[string]func(string) bool{`^[0-9]{2}\.[0-9]{4}$`: IsCIP, `^[0-9]{2}-[0-9]{4}$`: IsSOC, `^[0-9]{1,2}$`: IsState, `^[0-9]{5}$`: IsCBSA}
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.OneOf(rapid.StringMatching(`[0-9]{1,3}[.\-]?[0-9]{0,5}`), rapid.StringMatching(`[0-9]{2}[.\-][0-9]{4}`),
			rapid.StringMatching(`[0-9]{1,5}.?`)).Draw(t, "code")
		for form, is := range forms {
			if is(code) != regexp.MustCompile(form).MatchString(code) {
				t.Fatalf("%q and %s", code, form)
			}
		}
	})
}

func TestStateOfMetro(t *testing.T) {
	for title, want := range map[string]string{
		"Yakima, WA": "53", "San Juan-Bayamón-Caguas, PR": "72", "New York-Newark-Jersey City, NY-NJ": "", "WA": "", "": "",
		"Winston, Salem, NC": "37", "Yakima,WA": "", "Yakima, wa": "",
	} {
		if got := StateOfMetro(title); got != want {
			t.Errorf("%q is in %q, want %q", title, got, want)
		}
	}
}
