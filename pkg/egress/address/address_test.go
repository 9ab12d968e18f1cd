package address

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	hosts := []string{"127.0.0.1:8090", " files.local:80 "}
	for href, ok := range map[string]bool{
		"https://college.example/syllabus.pdf":        true,
		"HTTPS://college.example:8443/a%20b?x=y#page": true,
		"https://10.0.0.1/judged-when-fetching":       true,
		"https://[::1]/judged-when-fetching":          true,
		"http://127.0.0.1:8090/a.html":                true,
		"http://FILES.local/a.html":                   true,
		"http://127.0.0.1:8091/other-port":            false,
		"http://college.example/a.pdf":                false,
		"https://user:secret@college.example/":        false,
		"https://user@college.example/":               false,
		"http://user@127.0.0.1:8090/":                 false,
		"ftp://college.example/a.pdf":                 false,
		"file:///etc/passwd":                          false,
		"javascript:alert(1)":                         false,
		"data:text/plain,hello":                       false,
		"gopher://127.0.0.1:8090/":                    false,
		"college.example/a.pdf":                       false,
		"//college.example/a.pdf":                     false,
		"/a.pdf":                                      false,
		"https:a.pdf":                                 false,
		"https://":                                    false,
		"https://:443/":                               false,
		"https://college.example:port/":               false,
		"https://college.example:65536/":              false,
		"https://college.example:65535/":              true,
		"https://college example/":                    false,
		"https://college.example/\r\nHost: evil":      false,
		"https://%zz/":                                false,
		"https://college.example\\@evil.example/":     false,
		"": false,
		"https://a.example/" + strings.Repeat("x", 4e3): false,
	} {
		if err := Check(href, hosts); (err == nil) != ok {
			t.Errorf("%q: %v, want ok %v", href, err, ok)
		}
	}
}
