package intake

import (
	"fmt"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// in reports whether files of the layout may have a header.
func in(h entry.Header, layout Layout) bool {
	own := layoutOfHeader(h)
	return own == Generic || layout == own || layout == Auto || layout == ""
}

// layoutOfHeader returns the layout of a header's system; Generic for systems without one.
func layoutOfHeader(h entry.Header) Layout {
	if layout := Layout(strings.ToUpper(h.System)); slices.Contains(Layouts(), layout) {
		return layout
	}
	return Generic
}

// assign returns the field of each column of a table; "" for columns without one.
func assign(resource string, header []string, o Options) []string {
	fields := make([]string, len(header))
	taken := map[string]bool{} // fields
	fixed := map[int]bool{}    // columns
	overrides := map[string]string{}
	for text, field := range o.Columns {
		overrides[entry.Plain(text)] = field
	}
	names := make([]string, len(header))
	for i, text := range header {
		names[i] = entry.Plain(text)
		if field, ok := overrides[names[i]]; ok && !taken[field] {
			fields[i], fixed[i] = field, true
			taken[field] = field != ""
		}
	}
	for _, h := range entry.HeadersOf()[resource] {
		field := h.Field
		if field == "number" && !taken["subject"] { // it has both, such as BIO 101
			field = "code"
			if resource == entry.Resource(catalog.SectionKind) {
				field = "courseExternalId"
			}
		}
		if taken[field] || !in(h, o.Layout) {
			continue
		}
		for i, name := range names {
			if name == h.Plain && fields[i] == "" && !fixed[i] {
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
		return !slices.Contains(fields, field) && (entry.PartOf[field] != "code" || !slices.Contains(fields, "code"))
	}
	for i, text := range header {
		name := entry.Plain(text)
		if _, decided := o.Columns[text]; fields[i] != "" || decided || len(name) < shortest {
			continue
		}
		for _, h := range entry.HeadersOf()[resource] {
			if len(h.Plain) >= shortest && free(h.Field) && in(h, o.Layout) && oneEdit(name, h.Plain) {
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
func lacking(kind catalog.Kind, fields []string, o Options) string {
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
	case kind == catalog.OutcomeListKind && has("guid") && o.Owner == "":
		return `the owner of the outcomes, which a file of Canvas does not name: a course or program`
	case kind == catalog.OutcomeListKind && has("guid"):
		return quoted("title")
	case kind == catalog.OutcomeListKind && o.Owner != "":
		return quoted("statement")
	case kind == catalog.OutcomeListKind:
		return quoted("owner", "statement")
	case kind == catalog.CourseKind && has("name") && !coded && !has("externalId"):
		return `a column "code", or "subject" and "number"`
	case kind == catalog.SectionKind && has("name") && !coded && !has("courseExternalId"):
		return `a column "courseExternalId", or "subject" and "number"`
	}
	return quoted("name")
}

// kindOf guesses the kind of a table's records: by a column that only one kind has, by the file's name, or else by most
// of the columns.
func kindOf(name string, header []string, o Options) catalog.Kind {
	if kind := catalog.ArticulationKind; o.Layout == TES ||
		lacking(kind, assign(entry.Resource(kind), header, o), o) == "" {
		return kind
	}
	if kind := catalog.OutcomeListKind; slices.Contains(assign(entry.Resource(kind), header, o), "guid") ||
		lacking(kind, assign(entry.Resource(kind), header, o), Options{}) == "" {
		return kind
	}
	if slices.ContainsFunc(header, func(h string) bool { return entry.Plain(h) == "courseexternalid" }) {
		return catalog.SectionKind
	}
	for _, of := range nameWords {
		if strings.Contains(entry.Plain(name), of.word) {
			return of.kind
		}
	}
	best, most := catalog.CourseKind, -1
	for _, kind := range entry.Tabular {
		fields := assign(entry.Resource(kind), header, o)
		n := assigned(fields)
		if lacking(kind, fields, o) == "" {
			n += 100
		}
		if n > most {
			best, most = kind, n
		}
	}
	return best
}

// telling reports whether the table's name, or a column that not every kind of record has, tells its kind.
func (t *table) telling(name string, o Options) bool {
	for _, of := range nameWords {
		if strings.Contains(entry.Plain(name), of.word) {
			return true
		}
	}
	overridden := map[string]bool{}
	for header := range o.Columns {
		overridden[entry.Plain(header)] = true
	}
	for i, field := range t.fields {
		header := entry.Plain(t.header[i])
		if overridden[header] {
			header = entry.Plain(field)
		}
		if field != "" && !common(header) {
			return true
		}
	}
	return false
}

// common reports whether courses, sections, programs, credentials and jobs all have a header, such as name and ID.
func common(header string) bool {
	return !slices.ContainsFunc(entry.Tabular[:5], func(kind catalog.Kind) bool {
		return !slices.ContainsFunc(entry.HeadersOf()[entry.Resource(kind)],
			func(h entry.Header) bool { return h.Plain == header })
	})
}

// nameWords are words in the names of files, the most specific first.
var nameWords = []struct {
	word string
	kind catalog.Kind
}{
	{"section", catalog.SectionKind}, {"program", catalog.ProgramKind}, {"credential", catalog.CredentialKind},
	{"job", catalog.JobKind}, {"schedule", catalog.SectionKind}, {"course", catalog.CourseKind},
}

// layoutOf returns the layout that has headers of the table that no other has.
func layoutOf(resource string, header []string) Layout {
	for _, text := range header {
		own := Generic
		for _, h := range entry.HeadersOf()[resource] {
			if h.Plain != entry.Plain(text) {
				continue
			}
			if layoutOfHeader(h) == Generic {
				own = Generic
				break
			}
			own = layoutOfHeader(h)
		}
		if own != Generic {
			return own
		}
	}
	return Generic
}
