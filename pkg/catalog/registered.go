package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Registered is embedded in records that have a CTID, their identifier in the Credential Registry, unique among all
// records of the organization.
type Registered struct {
	CTID string `json:"ctid" doc:"Identifier in the Credential Registry: ce- and a UUID; derived from id unless it was set" extension:"true"`
}

func (r *Registered) registered() *Registered { return r }

// RegisteredOf returns the Registered of a record; nil if its kind has none.
func RegisteredOf(r Record) *Registered {
	if known, ok := r.(interface{ registered() *Registered }); ok {
		return known.registered()
	}
	return nil
}

// DerivedCTID returns the CTID of the record with the id, unless another was set: a UUID of version 4 with bits of the
// id's SHA-256.
func DerivedCTID(id string) string {
	sum := sha256.Sum256([]byte(id))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	digits := hex.EncodeToString(sum[:16])
	return "ce-" + digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// DeriveCTID derives the CTID of a record that lacks one.
func DeriveCTID(r Record) {
	if known := RegisteredOf(r); known != nil && known.CTID == "" {
		known.CTID = DerivedCTID(r.Base().ID)
	}
	if list, ok := r.(*OutcomeList); ok {
		for i, o := range list.Outcomes {
			list.Outcomes[i].CTID = cmp.Or(o.CTID, DerivedCTID(o.ID))
		}
	}
}

// RegisteredInput is the input for a CTID from a request or a file.
type RegisteredInput struct {
	CTID Optional[string] `json:"ctid,omitzero" pattern:"^ce-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" doc:"Identifier in the Credential Registry, ce- and a UUID of version 4 in lower case; can be set once"`
}

func (in RegisteredInput) apply(r *Registered) { r.CTID = in.CTID.Or(r.CTID) }

// assignCTIDs adds the assignments of CTIDs that have changed. before is nil for a new record.
func (c *Change) assignCTIDs(before, after Record) {
	is := RegisteredOf(after)
	if is == nil {
		return
	}
	DeriveCTID(after)
	was := DerivedCTID(after.Base().ID)
	if before != nil {
		was = RegisteredOf(before).CTID
	}
	assign := func(id, ctid, was, at string) {
		if ctid != was {
			c.With(&CTIDAssignment{about: about[Record]{after}, ID: id, CTID: ctid, Before: was, At: at})
		}
	}
	assign(after.Base().ID, is.CTID, was, "ctid")
	if list, ok := after.(*OutcomeList); ok {
		old, _ := before.(*OutcomeList)
		for i, o := range list.Outcomes {
			was := DerivedCTID(o.ID)
			if old != nil && old.Find(o.ID) != nil {
				was = old.Find(o.ID).CTID
			}
			assign(o.ID, o.CTID, was, fmt.Sprintf("outcomes[%d].ctid", i))
		}
	}
}

// CheckCTID returns a conflict at the location if a CTID cannot be set on the record with the id: before is the
// present one, "" for a new record, and holder is what has the CTID now.
func CheckCTID(id, before, ctid string, holder ExternalID, location string) error {
	message, value := "", ""
	switch {
	case before == ctid:
		return nil
	case before != "" && before != DerivedCTID(id):
		message, value = "was set before and never changes; the value is the present one", before
	case strings.HasPrefix(holder.Was, "org_"):
		message, value = "is in use by the organization, whose id is the value", holder.Was
	case holder.Record != nil && holder.Record.Base().ID != id && holds(holder.Record, ctid):
		message, value = "is in use by another record, whose id is the value", holder.Record.Base().ID
	default:
		return nil
	}
	err := Errorf(Conflict, "The ctid cannot be set.")
	err.Fields = []FieldError{{location, message, value}}
	return err
}

// holds reports whether a record that was given a CTID still has it: an outcome may have left its list.
func holds(r Record, ctid string) bool {
	list, ok := r.(*OutcomeList)
	return !ok || list.CTID == ctid || slices.ContainsFunc(list.Outcomes, func(o Outcome) bool { return o.CTID == ctid })
}

// CTIDs lists the CTIDs that the change assigns.
func (c *Change) CTIDs() (ctids []string) {
	for _, a := range EffectsOf[*CTIDAssignment](c) {
		ctids = append(ctids, a.CTID)
	}
	return ctids
}

// AlternativeCTID returns the CTID of an alternative, by its index: the first one has that of the articulation.
func (a *Articulation) AlternativeCTID(index int) string {
	if index == 0 {
		return a.CTID
	}
	return DerivedCTID(a.ID + "/" + strconv.Itoa(index))
}
