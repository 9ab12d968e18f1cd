package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// External is embedded in records that can have an external id: an id in another system,
// unique among the organization's live records of the same kind.
type External struct {
	ExternalID *string `json:"externalId" doc:"Id of the record in another system, unique among the organization's records of its kind and case-sensitive; null for none" extension:"true"`
}

func (e *External) external() *External { return e }

// ExternalOf returns the External of a record; nil if its kind has none.
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

// MaxExternalID is the maximum length of an external id in characters.
const MaxExternalID = 255

// ExternalInput is the input for an external id from a request or a file.
type ExternalInput struct {
	ExternalID Optional[*string] `json:"externalId,omitzero" maxLength:"255"`
}

// apply sets the record's external id.
func (in ExternalInput) apply(e *External, check checker) {
	e.ExternalID = text(in.ExternalID, e.ExternalID)
	if in.ExternalID.Set && e.ExternalID != nil && strings.ContainsFunc(*e.ExternalID, unicode.IsControl) {
		check.fault("externalId", "must not contain control characters", *e.ExternalID)
	}
}

// CanBeExternalID reports whether a name is a valid external id, and thus a valid key.
func CanBeExternalID(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= MaxExternalID
}

// ExternalID is the result of looking up an external id: Was is the id of the last record that
// had it, "" for none, and Record is that record, nil if it was deleted.
type ExternalID struct {
	Name   string
	Record Record
	Was    string
}

// updateNames updates the rows by which a record is found by external id, facet or code. before is nil for a new
// record. A deleted record's external id stays with it until another record takes it.
func (c *Change) updateNames(before, after Record) {
	was, is := externalID(before), externalID(after)
	if was != is && was != "" {
		c.With(&ExternalIDRelease{about[Record]{after}, was})
	}
	if was != is && is != "" {
		c.AssignExternalID(after, is)
	}
	c.changeFacets(after, before, after)
	course, ok := after.(*Course)
	if !ok {
		return
	}
	code := ""
	if old, ok := before.(*Course); ok {
		code = Normalized(old.Code)
	}
	// A course that gets an external id may predate the rows of codes.
	if now := Normalized(course.Code); code != now || was != is {
		c.With(&CodeChange{about[*Course]{course}, code, now})
	}
}

// AssignExternalID gives a record an external id.
func (c *Change) AssignExternalID(r Record, name string) {
	c.With(&ExternalIDAssignment{about[Record]{r}, name, ""})
}

// Resolve completes the change's external ids and CTIDs with the records that have them now. An identifier of another
// live record is a conflict. at is the location of the input, as in Lookups.
func (c *Change) Resolve(known, registered map[string]ExternalID, at string) error {
	l := Lookups{At: at}
	for _, a := range EffectsOf[*CTIDAssignment](c) {
		holder := registered[a.CTID]
		a.Was = holder.Was
		if holder.Record != nil && holder.Record.Base().ID == a.Record.Base().ID {
			holder.Record = nil
		}
		if err := CheckCTID(a.ID, a.Before, a.CTID, holder, l.at(a.At)); err != nil {
			return err
		}
	}
	for _, naming := range EffectsOf[*ExternalIDAssignment](c) {
		holder := known[naming.Name]
		if holder.Record != nil && holder.Record.Base().ID != naming.Record.Base().ID {
			err := Errorf(Conflict, "Another %s already has the externalId.", KindOf(naming.Record))
			err.Fields = []FieldError{{l.at("externalId"), "is in use by another record, whose id is the value",
				holder.Record.Base().ID}}
			return err
		}
		naming.Was = holder.Was
	}
	return nil
}

// ExternalIDs lists the external ids that the change assigns, all to records of one kind.
func (c *Change) ExternalIDs() (kind Kind, names []string) {
	for _, naming := range EffectsOf[*ExternalIDAssignment](c) {
		kind, names = KindOf(naming.Record), append(names, naming.Name)
	}
	return kind, names
}
