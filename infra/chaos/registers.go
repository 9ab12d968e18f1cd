package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of registers other than fields.
const (
	member   = "member"   // followed by the id of a course or section
	sections = "sections" // of a credential, see replacedOnly
	syllabus = "syllabus" // URL or document
	reviewed = "review"   // followed by the id of a skill
	file     = "file"     // of a document
	created  = "created"  // number of the records with a marker
	answered = "answered" // by an organization, followed by an Idempotency-Key
)

// Values of the registers member, file and answered.
const (
	in      = "in"
	present = "present"
)

func membership(container, id string) string { return container + " " + member + " " + id }

// replacedOnly reports whether clients only replace a credential's sections as a whole, and never add or remove one.
func replacedOnly(credential string) bool { return credential[len(credential)-2] < '8' }

// fields returns the effects of a body on a record: strings and numbers, members and the syllabus.
func fields(id string, body object) map[string]string {
	effects := map[string]string{}
	for name, value := range body {
		switch name {
		case "text", "effectiveTo": // stored in another row; changed by a superseding articulation
		case "syllabusHref", "documentId":
			effects[id+" "+syllabus] = plain(value)
		case "courseOrder", "courseSectionIds":
			ids := value.([]string)
			if name == "courseSectionIds" && replacedOnly(id) {
				effects[id+" "+sections] = strings.Join(ids, " ")
				break
			}
			for _, other := range ids {
				effects[membership(id, other)] = in
			}
		default:
			switch value.(type) {
			case string, int:
				effects[id+" "+name] = plain(value)
			}
		}
	}
	return effects
}

// plain formats a string or number of a request, response or row; "" for null.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// valueIn reads a register from the JSON of a record or its row. It returns false if the register is not part of it.
func valueIn(record object, register string) (string, bool) {
	name, other, _ := strings.Cut(register, " ")
	switch name {
	case "", reviewed, file, promised:
		return "", false
	case syllabus:
		return text(record, "syllabusHref") + text(record, "documentId"), true
	case sections:
		return strings.Join(sectionsOf(record), " "), true
	case member:
		if slices.Contains(sectionsOf(record), other) || slices.Contains(texts(record, "courseOrder"), other) {
			return in, true
		}
		return "", true
	}
	return plain(record[name]), true
}

// sectionsOf lists the ids of a credential's sections.
func sectionsOf(credential object) (ids []string) {
	profiles, _ := credential["sections"].([]any)
	for _, p := range profiles {
		profile, _ := p.(object)
		ids = append(ids, text(profile, "sectionId"))
	}
	return ids
}
