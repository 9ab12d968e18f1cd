package api

import "testing"

func TestCoding(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "gzip, deflate, br": "gzip", "br;q=1.0, DEFLATE;q=0.5": "deflate", "gzip;q=0": "", "gzip;q=0.0, deflate": "deflate",
		"identity": "", "br": "", "gzip; q=0.2": "gzip", "*": "",
	} {
		if got := Coding(accept, CompressFrom); got != want {
			t.Errorf("%q is sent as %q, want %q", accept, got, want)
		}
		if got := Coding(accept, CompressFrom-1); got != "" {
			t.Errorf("a short response is sent as %q", got)
		}
	}
}

func TestTagsOfCodings(t *testing.T) {
	for _, coding := range []string{"", "gzip", "deflate"} {
		tag := CodedTag(`"abc"`, coding)
		if (tag == `"abc"`) != (coding == "") || PlainTag(tag) != `"abc"` {
			t.Errorf("%q: %s, %s", coding, tag, PlainTag(tag))
		}
	}
	for _, other := range []string{"*", `"abc-br"`, "abc-gzip", ""} {
		if PlainTag(other) != other {
			t.Errorf("%s became %s", other, PlainTag(other))
		}
	}
}
