package catalog

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// ErrStale means that a record changed since it was loaded: load it and decide again.
var ErrStale = errors.New("changed since it was loaded")

// Change is the decision of a rule as a list of effects, which are saved atomically. It is
// refused as ErrStale if the state that it is based on has changed.
type Change struct {
	effects []Effect
	claims  []Effect // see ClaimNames
}

// Effect is one modification of an organization's rows. All its types are in this package;
// package dynamo turns each into rows in one place.
type Effect interface{ organization() OrgID }

// about is embedded in effects on one record.
type about[R Record] struct{ Record R }

func (a about[R]) organization() OrgID { return a.Record.Base().OrganizationID }

type (
	// Creation saves a new record.
	Creation struct{ about[Record] }

	// Replacement saves a record with its new content. Was is the updatedAt that it must still have in the store;
	// Restarted reports whether its extraction starts again. Event, "" for none, goes to the change feed and webhooks.
	Replacement struct {
		about[Record]
		Was       Time
		Restarted bool
		Event     string
		Quiet     bool // without an entry in the change feed
	}

	// Deletion deletes a record, marked with deletedAt. Owner is the id of the deleted record
	// that owned it; "" if it is deleted by itself.
	Deletion struct {
		about[Record]
		Was   Time
		Owner string
	}

	// Holding adds or releases the holders of a course, each a program ("program/course") or a credential with one of its
	// sections ("credential/section"), so that the course and the section cannot be deleted while they are held.
	Holding struct {
		about[*Course]
		Holders, Released []string
	}

	// DocumentHolding adds or releases records as holders of a document, their syllabus, which
	// cannot be deleted while it is held. See HolderOf.
	DocumentHolding struct {
		OrganizationID OrgID
		DocumentID     string
		Holders        []string
		Released       bool
	}

	// Revocation ends the reservation of a holder, so that it can no longer add the record.
	Revocation struct {
		about[Record] // the reserved record
		Reservation
	}

	// CourseAddition counts an addition of courses to a package, which must have been given none since it was loaded.
	CourseAddition struct{ about[*TransferPackage] }

	// Text stores the text from which the skills of a record are extracted.
	Text struct {
		about[Record]
		Text string
	}

	// ResultReplacement replaces the result of a record's last extraction.
	ResultReplacement struct {
		about[Record]
		*ExtractionResult
	}

	// ExternalIDAssignment gives a record an external id; Was is the id of the record that had it, "" for
	// none. See Resolve.
	ExternalIDAssignment struct {
		about[Record]
		Name, Was string
	}

	// ExternalIDRelease frees an external id.
	ExternalIDRelease struct {
		about[Record]
		Name string
	}

	// CTIDAssignment gives a record, or an outcome of one, a CTID in place of Before. ID is its own id, At the location
	// of the CTID in the input, and Was the id of the record that had it, "" for none. See Resolve.
	CTIDAssignment struct {
		about[Record]
		ID, CTID, Before, Was, At string
	}

	// CodeChange changes the normalised code by which a course is found; "" for none.
	CodeChange struct {
		about[*Course]
		Was, Is string
	}

	// FacetChange changes the facets by which records of one kind are found.
	FacetChange struct {
		OrganizationID OrgID
		Records        []FacetedRecord
	}

	// Entry adds articulations to the row of a key. See AddEntries.
	Entry struct {
		about[*Articulation]
		*Approved
	}

	// Hint maps a key to an articulation that is about to be approved.
	Hint struct {
		about[*Articulation]
		*Approved
	}

	// MapDecisionChange saves or, if Decision is nil, removes the decision on a cell of a program's map.
	MapDecisionChange struct {
		about[*Program]
		OutcomeID, CourseID string
		Decision            *MapDecision
	}

	// CourseGrant records that an approved articulation grants the course, which must exist.
	CourseGrant struct{ about[*Course] }

	// ImportDescription replaces the details of an import; nil removes them.
	ImportDescription struct {
		about[*Import]
		*ImportDetails
	}

	// ImportRejection stores the reasons why rows of a kind were rejected, by their place among them in the file. At is
	// the position of the import after these rows.
	ImportRejection struct {
		about[*Import]
		At      ImportPosition
		Reasons map[int]string
	}

	// ArticulationMove adds a move to the history of an articulation.
	ArticulationMove struct {
		about[*Articulation]
		Move
	}
)

func (d *DocumentHolding) organization() OrgID   { return d.OrganizationID }
func (f *FacetChange) organization() OrgID       { return f.OrganizationID }
func (d *Directory) organization() OrgID         { return d.OrganizationID }
func (w *Webhooks) organization() OrgID          { return w.OrganizationID }
func (m *WebhookMessage) organization() OrgID    { return m.OrganizationID }
func (l *Link) organization() OrgID              { return l.OrganizationID }
func (r *IdempotencyRecord) organization() OrgID { return r.OrganizationID }

// Reservation marks a change that is saved in several steps. The first step holds courses for
// a record, their holder, that does not contain them yet, or documents for records that do not
// exist yet, with their parent as the holder. The change fails if its reservation is revoked.
type Reservation struct {
	Holder string // id of the program or credential, or of the records' parent
	Token  string // unique to the change
}

// ExtractionJob identifies an extraction to run.
type ExtractionJob struct {
	OrganizationID OrgID  `json:"organizationId"`
	Kind           Kind   `json:"kind"`
	ID             string `json:"id"`
	PackageID      string `json:"packageId,omitempty"`
	// RequestedAt is the updatedAt with which the record became PENDING, which distinguishes requests. Zero matches any.
	RequestedAt Time `json:"requestedAt,omitempty"`
}

// Organization returns the organization of the record.
func (j ExtractionJob) Organization() OrgID { return j.OrganizationID }

// IdempotencyRecord is the stored response of a successful request, replayed for later requests with the same key.
type IdempotencyRecord struct {
	OrganizationID OrgID
	Key            string // the client's Idempotency-Key
	Request        string // digest of operation, path and body
	Status         int
	Location       string
	Body           []byte
	ExpiresAt      Time
}

// IdempotencyTTL is the time for which a stored response is replayed.
const IdempotencyTTL = 24 * 60 * 60 * 1000 // ms

// NewChange returns a change of independent effects: webhooks and their messages, links, idempotency records.
func NewChange(effects ...Effect) *Change { return &Change{effects: effects} }

// With adds an independent effect.
func (c *Change) With(e Effect) { c.effects = append(c.effects, e) }

// Effects lists the effects.
func (c *Change) Effects() []Effect { return c.effects }

// EffectsOf lists the effects of one type, in the order in which they were decided.
func EffectsOf[E Effect](c *Change) (list []E) {
	for _, e := range c.effects {
		if of, ok := e.(E); ok {
			list = append(list, of)
		}
	}
	return list
}

// effect returns the change's effect for which is returns true, and adds fresh() if there is none.
func effect[E Effect](c *Change, is func(E) bool, fresh func() E) E {
	for _, e := range c.effects {
		if of, ok := e.(E); ok && is(of) {
			return of
		}
	}
	e := fresh()
	c.With(e)
	return e
}

// ClaimNames moves the names of new listed records, their codes and the external ids that no record had, from the
// effects to the claims, and reports whether there are any. Claims are saved before the rest, so that more records fit
// into one transaction: a name of a record that does not exist is harmless, and the next record takes it over.
func (c *Change) ClaimNames() bool {
	created := map[Record]bool{}
	for _, e := range EffectsOf[*Creation](c) {
		created[e.Record] = KindOf(e.Record).Listed()
	}
	c.effects = slices.DeleteFunc(c.effects, func(e Effect) (claimed bool) {
		switch e := e.(type) {
		case *ExternalIDAssignment:
			claimed = created[e.Record] && e.Was == ""
		case *CodeChange:
			claimed = created[e.Record] && e.Was == ""
		}
		if claimed {
			c.claims = append(c.claims, e)
		}
		return claimed
	})
	return len(c.claims) > 0
}

// Claims lists what ClaimNames has moved.
func (c *Change) Claims() []Effect { return c.claims }

// CheckOwner refuses a change with an effect on another organization.
func (c *Change) CheckOwner(org OrgID) error {
	for _, e := range slices.Concat(c.effects, c.claims) {
		if e.organization() != org {
			return fmt.Errorf("%T belongs to the organization %q, not to %q", e, e.organization(), org)
		}
	}
	return nil
}

// Empty reports whether there is nothing to save.
func (c *Change) Empty() bool { return len(c.effects) == 0 }

// Create saves a new record. A listed record has taken its number from dir.
func (c *Change) Create(r Record, dir *Directory) {
	c.With(&Creation{about[Record]{r}})
	c.updateIndexes(nil, r)
	c.saveDirectory(dir)
}

// Add creates a listed record with a new id and a place in the list. It reads the time after
// dir was loaded, so that records are listed in the order of createdAt.
func (c *Change) Add(r Record, ids IDs, dir *Directory, now func() Time) {
	*r.Base() = NewMeta(ids.Sequenced(dir.Kind, dir.Take()), dir.OrganizationID, now())
	c.Create(r, dir)
}

// Copy returns a shallow copy of a record before it is changed, for Replace.
func Copy[R Record](r R) R {
	before := reflect.New(reflect.TypeOf(r).Elem())
	before.Elem().Set(reflect.ValueOf(r).Elem())
	return before.Interface().(R)
}

// ReplaceChanged replaces a record if it differs from before, and reports whether it does.
func ReplaceChanged[T any, R interface {
	*T
	Record
}](c *Change, before T, after R, now Time) bool {
	changed := !reflect.DeepEqual(before, *after)
	if changed {
		c.Replace(R(&before), after, now)
	}
	return changed
}

// Replace saves a changed record with a new updatedAt; before is the record as it was loaded
// (see Copy). It also updates the rows that find the record, its holds, and starts an
// extraction that it now waits for. A record is saved once, in its final version.
func (c *Change) Replace(before, after Record, now Time) {
	c.updateIndexes(before, after)
	if slices.ContainsFunc(c.effects, func(e Effect) bool {
		created, ok := e.(*Creation)
		return ok && created.Record == after
	}) {
		return
	}
	replaced := effect(c, func(r *Replacement) bool { return r.Record == after }, func() *Replacement {
		was := before.Base().UpdatedAt
		after.Base().UpdatedAt = was.After(now)
		return &Replacement{about: about[Record]{after}, Was: was}
	})
	replaced.Restarted = replaced.Restarted || restarted(before, after)
}

// restarted reports whether the record waits for a new extraction.
func restarted(before, after Record) bool {
	was, now := ExtractionOf(before), ExtractionOf(after)
	if now == nil || now.ProcessingStatus != Pending {
		return false
	}
	switch after := after.(type) {
	case *Section:
		if after.AwaitsOutcomes() {
			return false
		}
		was := before.(*Section)
		return was.ProcessingStatus != Pending || was.AwaitsOutcomes() || after.hasOtherSyllabus(*was)
	case *OutcomeList:
		return was.ProcessingStatus != Pending || after.hasOtherStatements(before.(*OutcomeList))
	}
	return was.ProcessingStatus != Pending
}

// updateIndexes updates the rows by which a record is found, and its hold on a document. before is nil for a new
// record.
func (c *Change) updateIndexes(before, after Record) {
	c.updateNames(before, after)
	c.assignCTIDs(before, after)
	document := ""
	if before != nil {
		document = HeldDocument(before)
	}
	c.moveDocumentHold(document, after)
}

// SetEvent adds an event, one of Events, to the replacement of a record.
func (c *Change) SetEvent(event string, r Record) {
	for _, replaced := range EffectsOf[*Replacement](c) {
		if replaced.Record == r {
			replaced.Event = event
		}
	}
}

// Delete deletes a record; a listed one leaves dir. Owners are deleted before the records that they own.
func (c *Change) Delete(r Record, now Time, dir *Directory) {
	meta := r.Base()
	was := meta.UpdatedAt
	meta.UpdatedAt = was.After(now)
	deleted := meta.UpdatedAt
	meta.DeletedAt = &deleted
	if dir != nil {
		seq, _ := Sequence(dir.Kind, meta.ID)
		dir.Drop(seq)
	}
	owner := ParentOf(r)
	if !slices.ContainsFunc(c.effects, func(e Effect) bool {
		deleted, ok := e.(*Deletion)
		return ok && deleted.Record.Base().ID == owner
	}) {
		owner = ""
	}
	c.With(&Deletion{about[Record]{r}, was, owner})
	if course, ok := r.(*Course); ok {
		c.With(&CodeChange{about[*Course]{course}, Normalized(course.Code), ""})
	}
	if document := HeldDocument(r); document != "" {
		c.holdDocument(r, document, true)
	}
	c.changeFacets(r, r, nil)
	c.saveDirectory(dir)
}

// Revoke ends reservations of the record.
func (c *Change) Revoke(r Record, reserved []Reservation) {
	for _, reservation := range reserved {
		c.With(&Revocation{about[Record]{r}, reservation})
	}
}

// CountAddition counts an addition of courses to a package, which must still exist with the courses
// that were counted and must not be deleted without the new ones.
func (c *Change) CountAddition(p *TransferPackage) {
	effect(c, func(a *CourseAddition) bool { return a.Record == p }, func() *CourseAddition {
		return &CourseAddition{about[*TransferPackage]{p}}
	})
}

// StoreText stores the text of an extraction.
func (c *Change) StoreText(r Record, text string) { c.With(&Text{about[Record]{r}, text}) }

// ReplaceResult replaces the result of the record's last extraction.
func (c *Change) ReplaceResult(r Record, o *ExtractionResult) {
	c.With(&ResultReplacement{about[Record]{r}, o})
}

// Move adds a move to an articulation's history.
func (c *Change) Move(a *Articulation, move Move) {
	c.With(&ArticulationMove{about[*Articulation]{a}, move})
}

// saveDirectory saves the directory of a list that gained or lost records.
func (c *Change) saveDirectory(dir *Directory) {
	if dir != nil {
		effect(c, func(other *Directory) bool { return other == dir }, func() *Directory { return dir })
	}
}

// Jobs lists the extractions to queue once the change is saved.
func (c *Change) Jobs() (jobs []ExtractionJob) {
	for _, e := range c.effects {
		switch e := e.(type) {
		case *Creation:
			if state := ExtractionOf(e.Record); state != nil && state.ProcessingStatus == Pending {
				jobs = append(jobs, JobOf(e.Record))
			}
		case *Replacement:
			if e.Restarted {
				jobs = append(jobs, JobOf(e.Record))
			}
		}
	}
	return jobs
}

// JobOf returns the job for the record's current request for an extraction.
func JobOf(r Record) ExtractionJob {
	meta := r.Base()
	job := ExtractionJob{OrganizationID: meta.OrganizationID, Kind: KindOf(r), ID: meta.ID, RequestedAt: meta.UpdatedAt}
	if job.Kind.Nested() {
		job.PackageID = ParentOf(r)
	}
	return job
}

// The changes of a record in the change feed.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// RecordChange is one entry of the feed. Cursor is the position after it; Event is one of Events or "".
type RecordChange struct {
	Cursor   Cursor
	What     string
	Event    string
	Kind     Kind
	ID       string
	ParentID string
	At       Time
}
