package entry

import (
	_ "embed"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"skillscurriculum/pkg/catalog"
)

// headersTable lists the headers of each field, in the order in which columns are taken: a column becomes the first
// field that has its header and no column yet, and of several columns a field takes the header listed first. {n} counts
// from 1 to MaxNumbered.
//
//go:embed headers.csv
var headersTable string

// MaxNumbered is the highest number in a header that counts courses.
const MaxNumbered = 10

// Header is a header that is known for a field.
type Header struct {
	Resource, Field string
	System          string // that writes it; "" for headers of many systems
	Text            string
	Plain           string // see Plain
}

// Headers returns the table of headers.
var Headers = sync.OnceValue(func() []Header {
	lines, err := csv.NewReader(strings.NewReader(headersTable)).ReadAll()
	if err != nil {
		panic(err)
	}
	var all []Header
	for _, line := range lines[1:] {
		for n := 1; n <= MaxNumbered; n++ {
			for text := range strings.SplitSeq(line[3], ";") {
				number := strings.NewReplacer("{n}", strconv.Itoa(n))
				text = number.Replace(strings.TrimSpace(text))
				all = append(all, Header{line[0], number.Replace(line[1]), line[2], text, Plain(text)})
			}
			if !strings.Contains(line[1], "{n}") {
				break
			}
		}
	}
	return all
})

// HeadersOf returns the headers by resource.
var HeadersOf = sync.OnceValue(func() map[string][]Header {
	of := map[string][]Header{}
	for _, h := range Headers() {
		of[h.Resource] = append(of[h.Resource], h)
	}
	return of
})

// Fields returns the fields that a column of a resource may become, in order.
func Fields(kind catalog.Kind) (fields []string) {
	for _, h := range HeadersOf()[Resource(kind)] {
		if !slices.Contains(fields, h.Field) {
			fields = append(fields, h.Field)
		}
	}
	return fields
}

// Resource returns the name of a kind in requests and tables: course, transferPackage.
func Resource(kind catalog.Kind) string {
	switch kind {
	case "":
		return ""
	case catalog.OutcomeListKind:
		return "outcome"
	}
	return kind.Resource()
}

// KindNamed returns the kind of a resource that files contain, named in the singular or plural; "" for others.
func KindNamed(resource string) catalog.Kind {
	for _, kind := range Tabular {
		if name := Resource(kind); strings.EqualFold(resource, name) || strings.EqualFold(resource, name+"s") {
			return kind
		}
	}
	return ""
}

// Tabular lists the kinds of records that tables contain.
var Tabular = []catalog.Kind{
	catalog.CourseKind, catalog.SectionKind, catalog.ProgramKind, catalog.CredentialKind, catalog.JobKind,
	catalog.TransferPackageKind, catalog.ArticulationKind, catalog.OutcomeListKind,
}

// hint is a part of a header that says what its cells must be like.
var hint = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\((?:max |required|optional|mandatory)[^)]*\)`)
})

// Plain returns the letters and digits of a header in lower case, without hints such as (max 30 characters). # is read
// as the word number.
func Plain(s string) string {
	if strings.Contains(s, "(") {
		s = hint().ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ReplaceAll(s, "#", "number"))
}
