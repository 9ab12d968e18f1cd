package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// External is the name under which another system knows a record; records of the
// kinds that have one embed it. Among the live records of an organization it is
// unique for its kind.
type External struct {
	ExternalID *string `json:"externalId" doc:"The record's id in another system: unique for its kind in the organization, case matters; null for none" extension:"true"`
}

func (e *External) external() *External { return e }

// ExternalOf returns where the record has its external id; nil for a record of a kind
// that has none.
func ExternalOf(r Record) *External {
	if named, ok := r.(interface{ external() *External }); ok {
		return named.external()
	}
	return nil
}

// externalID returns the record's external id; "" for none, or no record.
func externalID(r Record) string {
	if e := ExternalOf(r); e != nil && e.ExternalID != nil {
		return *e.ExternalID
	}
	return ""
}

// MaxExternalID is how many characters an external id has at most.
const MaxExternalID = 255

// ExternalInput is what a request or a file says of an external id.
type ExternalInput struct {
	ExternalID Optional[*string] `json:"externalId,omitzero" maxLength:"255"`
}

// apply sets the record's external id.
func (in ExternalInput) apply(e *External, l Lookups) []FieldError {
	e.ExternalID = text(in.ExternalID, e.ExternalID)
	if in.ExternalID.Set && e.ExternalID != nil && strings.ContainsFunc(*e.ExternalID, unicode.IsControl) {
		return []FieldError{{l.at("externalId"), "must not contain control characters", *e.ExternalID}}
	}
	return nil
}

// CanBeExternalID reports whether any record can have the name: what else is asked
// for is no key of the table.
func CanBeExternalID(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= MaxExternalID
}

// ExternalID is a name of a record in another system; Was is the id of the record
// that had the name when it was looked up, "" for none.
type ExternalID struct {
	Name   string
	Record Record
	Was    string
}

// Coded is a course that is found under another code than before; "" for none.
type Coded struct {
	Course  *Course
	Was, Is string
}

// names notes by what else than its id a record is found from now on: before is the
// record as it was, nil for a new one. A deleted record's external id stays with it
// until another record takes it.
func (c *Change) names(before, after Record) {
	was, is := externalID(before), externalID(after)
	if was != is && was != "" {
		c.Freed = append(c.Freed, ExternalID{Name: was, Record: after})
	}
	if was != is && is != "" {
		c.Known = append(c.Known, ExternalID{Name: is, Record: after})
	}
	c.facets(after, before, after)
	course, ok := after.(*Course)
	if !ok {
		return
	}
	coded := Coded{Course: course, Is: course.Code}
	if old, ok := before.(*Course); ok {
		coded.Was = old.Code
	}
	// A course that is given a name may be one of before there were codes to find it by.
	if coded.Was != coded.Is || was != is {
		c.Coded = append(c.Coded, coded)
	}
}

// Resolve settles which names the change may take: known are the records that have
// them now, by name. A name of another live record is a conflict at the location.
func (c *Change) Resolve(known map[string]ExternalID, location string) error {
	for i, x := range c.Known {
		holder := known[x.Name]
		if holder.Record != nil && holder.Record.Base().ID != x.Record.Base().ID {
			err := Errorf(Conflict, "Another %s has the externalId already.", KindOf(x.Record))
			err.Fields = []FieldError{{location, "is that of another record, whose id is the value", holder.Record.Base().ID}}
			return err
		}
		c.Known[i].Was = holder.Was
	}
	return nil
}

// KnownNames lists the names that the change takes.
func (c *Change) KnownNames() []string {
	names := make([]string, len(c.Known))
	for i, x := range c.Known {
		names[i] = x.Name
	}
	return names
}
