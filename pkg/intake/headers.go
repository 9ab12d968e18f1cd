package intake

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"skillscurriculum/pkg/catalog"
)

// headersTable lists the headers of each field, in the order in which columns are taken: a column becomes the first
// field that has its header and no column yet, and of several columns a field takes the header listed first. {n} counts
// from 1 to maxNumbered.
//
//go:embed headers.csv
var headersTable string

// maxNumbered is the highest number in a header that counts courses.
const maxNumbered = 10

// Header is a header that is known for a field.
type Header struct {
	Resource, Field string
	System          string // that writes it; "" for headers of many systems
	Text            string
	plain           string
}

// in reports whether files of the layout may have the header.
func (h Header) in(layout Layout) bool {
	own := h.layout()
	return own == Generic || layout == own || layout == Auto || layout == ""
}

// layout returns the layout of the header's system; Generic for systems without one.
func (h Header) layout() Layout {
	if layout := Layout(strings.ToUpper(h.System)); slices.Contains(Layouts(), layout) {
		return layout
	}
	return Generic
}

// Headers returns the table of headers.
var Headers = sync.OnceValue(func() []Header {
	lines, err := csv.NewReader(strings.NewReader(headersTable)).ReadAll()
	if err != nil {
		panic(err)
	}
	var all []Header
	for _, line := range lines[1:] {
		for n := 1; n <= maxNumbered; n++ {
			for text := range strings.SplitSeq(line[3], ";") {
				number := strings.NewReplacer("{n}", strconv.Itoa(n))
				text = number.Replace(strings.TrimSpace(text))
				all = append(all, Header{line[0], number.Replace(line[1]), line[2], text, plain(text)})
			}
			if !strings.Contains(line[1], "{n}") {
				break
			}
		}
	}
	return all
})

// of returns the headers of a resource.
var headersOf = sync.OnceValue(func() map[string][]Header {
	of := map[string][]Header{}
	for _, h := range Headers() {
		of[h.Resource] = append(of[h.Resource], h)
	}
	return of
})

// Fields returns the fields that a column of a resource may become, in order.
func Fields(kind catalog.Kind) (fields []string) {
	for _, h := range headersOf()[Resource(kind)] {
		if !slices.Contains(fields, h.Field) {
			fields = append(fields, h.Field)
		}
	}
	return fields
}

// Resource returns the name of a kind in requests and tables: course, transferPackage.
func Resource(kind catalog.Kind) string {
	if kind == "" {
		return ""
	}
	return strings.ToLower(string(kind[:1])) + string(kind[1:])
}

// KindNamed returns the kind of a resource that files contain, named in the singular or plural; "" for others.
func KindNamed(resource string) catalog.Kind {
	for _, kind := range tabular {
		if name := Resource(kind); strings.EqualFold(resource, name) || strings.EqualFold(resource, name+"s") {
			return kind
		}
	}
	return ""
}

// tabular are the kinds of records that tables contain.
var tabular = []catalog.Kind{
	catalog.CourseKind, catalog.SectionKind, catalog.ProgramKind, catalog.CredentialKind, catalog.JobKind,
	catalog.TransferPackageKind, catalog.ArticulationKind,
}

// plain returns the letters and digits of a header in lower case. # is read as the word number.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ReplaceAll(s, "#", "number"))
}

// assign returns the field of each column of a table; "" for columns without one.
func assign(resource string, header []string, o Options) []string {
	fields := make([]string, len(header))
	taken := map[string]bool{} // fields
	fixed := map[int]bool{}    // columns
	overrides := map[string]string{}
	for text, field := range o.Columns {
		overrides[plain(text)] = field
	}
	names := make([]string, len(header))
	for i, text := range header {
		names[i] = plain(text)
		if field, ok := overrides[names[i]]; ok && !taken[field] {
			fields[i], fixed[i] = field, true
			taken[field] = field != ""
		}
	}
	for _, h := range headersOf()[resource] {
		field := h.Field
		if field == "number" && !taken["subject"] { // it has both, such as BIO 101
			field = "code"
			if resource == Resource(catalog.SectionKind) {
				field = "courseExternalId"
			}
		}
		if taken[field] || !h.in(o.Layout) {
			continue
		}
		for i, name := range names {
			if name == h.plain && fields[i] == "" && !fixed[i] {
				fields[i], taken[field] = field, true
				break
			}
		}
	}
	return fields
}

// assigned returns the number of columns that have a field.
func assigned(fields []string) (n int) {
	for _, field := range fields {
		if field != "" {
			n++
		}
	}
	return n
}

// suggestions returns, for each column without a field, the free field that has a header one edit away.
func suggestions(resource string, header, fields []string, o Options) []string {
	suggested := make([]string, len(header))
	free := func(field string) bool {
		return !slices.Contains(fields, field) && (partOf[field] != "code" || !slices.Contains(fields, "code"))
	}
	for i, text := range header {
		name := plain(text)
		if _, decided := o.Columns[text]; fields[i] != "" || decided || len(name) < shortest {
			continue
		}
		for _, h := range headersOf()[resource] {
			if len(h.plain) >= shortest && free(h.Field) && h.in(o.Layout) && oneEdit(name, h.plain) {
				suggested[i] = h.Field
				break
			}
		}
	}
	return suggested
}

// shortest is the minimum length of headers that are compared: shorter ones differ by one edit from too many.
const shortest = 4

// oneEdit reports whether one insertion, deletion, substitution or transposition makes a of b.
func oneEdit(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) < len(y) {
		x, y = y, x
	}
	i := 0
	for i < len(y) && x[i] == y[i] {
		i++
	}
	switch rest := y[i:]; len(x) - len(y) {
	case 1:
		return slices.Equal(x[i+1:], rest)
	case 0:
		return len(rest) > 0 && (slices.Equal(x[i+1:], rest[1:]) ||
			len(rest) > 1 && x[i] == rest[1] && x[i+1] == rest[0] && slices.Equal(x[i+2:], rest[2:]))
	}
	return false
}

// lacking returns which columns a table needs besides the fields that it has; "" for none.
func lacking(kind catalog.Kind, fields []string) string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(fields, name) })
	}
	quoted := func(names ...string) string {
		for _, name := range names {
			if !has(name) {
				return fmt.Sprintf("a column %q", name)
			}
		}
		return ""
	}
	if has("fileName", "documentId") && (kind == catalog.CourseKind || kind == catalog.SectionKind) {
		return ""
	}
	coded := has("subject", "number") || has("code")
	switch {
	case kind == catalog.JobKind:
		return quoted("name", "employerId")
	case kind == catalog.TransferPackageKind:
		return quoted("name", "transferFromInstitution")
	case kind == catalog.ArticulationKind && (!has("institution") || !has("codes") && !has("sendCode1")):
		return `the columns "institution" and "codes", or those of TES`
	case kind == catalog.ArticulationKind:
		return ""
	case kind == catalog.CourseKind && has("name") && !coded && !has("externalId"):
		return `a column "code", or "subject" and "number"`
	case kind == catalog.SectionKind && has("name") && !coded && !has("courseExternalId"):
		return `a column "courseExternalId", or "subject" and "number"`
	}
	return quoted("name")
}

// kindOf guesses the kind of a table's records: from the file's name, else the kind that most columns belong to.
func kindOf(name string, header []string, o Options) catalog.Kind {
	if kind := catalog.ArticulationKind; o.Layout == TES || lacking(kind, assign(Resource(kind), header, o)) == "" {
		return kind
	}
	for _, of := range nameWords {
		if strings.Contains(plain(name), of.word) {
			return of.kind
		}
	}
	best, most := catalog.CourseKind, -1
	for _, kind := range tabular {
		fields := assign(Resource(kind), header, o)
		n := assigned(fields)
		if lacking(kind, fields) == "" {
			n += 100
		}
		if n > most {
			best, most = kind, n
		}
	}
	return best
}

// nameWords are words in the names of files, the most specific first.
var nameWords = []struct {
	word string
	kind catalog.Kind
}{
	{"section", catalog.SectionKind}, {"program", catalog.ProgramKind}, {"credential", catalog.CredentialKind},
	{"job", catalog.JobKind}, {"course", catalog.CourseKind},
}

// layoutOf returns the layout that has headers of the table that no other has.
func layoutOf(resource string, header []string) Layout {
	for _, text := range header {
		own := Generic
		for _, h := range headersOf()[resource] {
			if h.plain != plain(text) {
				continue
			}
			if h.layout() == Generic {
				own = Generic
				break
			}
			own = h.layout()
		}
		if own != Generic {
			return own
		}
	}
	return Generic
}
