package catalog

import (
	"errors"
	"reflect"
	"slices"
)

// ErrStale means that a record was changed by somebody else since it was loaded:
// load again and decide again.
var ErrStale = errors.New("changed since it was loaded")

// Change is what a rule decided: everything in it is saved in one transaction, or
// nothing is. A change is bound to what was loaded: it is refused as ErrStale
// when that is no longer so.
type Change struct {
	Created  []Record
	Replaced []Replacement
	Deleted  []Deletion // a record before those that go because it goes
	Held     []Hold
	Released []Hold
	// Documents are held by other records than before.
	Documents []DocumentHold
	// Revoked are reservations of holders that do not contain what they reserve, and
	// may not any more when this change is saved.
	Revoked []Reservation
	// Directories are the lists that gained or lost records, already changed.
	Directories []*Directory
	// Jobs are the extractions to be queued once the change is saved.
	Jobs []ExtractionJob
	// Grown are packages that are given courses, and have not been given any since.
	Grown []*TransferPackage
	// Texts are what extractions were asked for.
	Texts []Text
	// Outcomes take the place of those of replaced records.
	Outcomes []RecordOutcome
	// Known are the names of other systems that records take, Freed those that they
	// give up. See Resolve.
	Known, Freed []ExternalID
	// Coded are the courses that are found under another code than before.
	Coded []Coded
	// Webhooks are the organization's webhooks, already changed; nil where they stay.
	Webhooks *Webhooks
	// Messages are to be sent to webhooks, once more or without a change of a record.
	Messages []WebhookMessage
	// Refaceted are the records that are found under other facets than before.
	Refaceted []Refaceted
	// Approved are the keys under which articulations are entered, Hints those that only
	// lead to them, and Granted the courses that approved articulations grant, which
	// must be there.
	Approved []*Approved
	Hints    []Hint
	Granted  []*Course
	// Moves are those that articulations made.
	Moves []ArticulationMove
	// Links are made to pages of records.
	Links []*Link
	// Idempotency is stored under its key in the same transaction.
	Idempotency *IdempotencyRecord
}

// Text is a text whose skills are to be extracted.
type Text struct {
	RecordID string
	Text     string
}

// ArticulationMove is a move of an articulation.
type ArticulationMove struct {
	Articulation *Articulation
	Move
}

// RecordOutcome is the outcome of a record's last extraction.
type RecordOutcome struct {
	RecordID string
	*Outcome
}

// Replacement is a record with its new content, and the updatedAt that it must
// still have in the store. Event is what happened to it beyond that it changed, "" for
// nothing; the change feed and webhooks show it.
type Replacement struct {
	Record Record
	Was    Time
	Event  string
}

// Deletion is a record to be taken out, marked with deletedAt.
type Deletion struct {
	Record Record
	Was    Time
}

// Hold marks a course as held by a program (Holder is its id) or by a credential
// that contains one of its sections (Holder is the ids "credential/section"), so
// that neither can be deleted under its holder.
type Hold struct {
	Course *Course
	Holder string
}

// Reservation is the mark of a change that is saved in several steps, the first of
// which holds courses for a record, its holder, which does not contain them yet; or
// documents for records that are not there yet, and whose parent is the holder then.
// Without its reservation that change is not brought to its end.
type Reservation struct {
	Holder string // id of the program or credential, or of the records' parent
	Token  string // of this one change
}

// ExtractionJob names an extraction to be run.
type ExtractionJob struct {
	OrganizationID OrgID  `json:"organizationId"`
	Kind           Kind   `json:"kind"`
	ID             string `json:"id"`
	PackageID      string `json:"packageId,omitempty"`
	// RequestedAt is the updatedAt with which the record became PENDING: it tells this
	// request from a later one. Zero for any.
	RequestedAt Time `json:"requestedAt,omitempty"`
}

// IdempotencyRecord is the stored response of a successful request, replayed for
// later requests with the same key.
type IdempotencyRecord struct {
	Key       string // the client's Idempotency-Key
	Request   string // digest of operation, path and body
	Status    int
	Location  string
	Body      []byte
	ExpiresAt Time
}

// IdempotencyTTL is how long a stored response is replayed.
const IdempotencyTTL = 24 * 60 * 60 * 1000 // ms

// Records lists every record that the change saves, deletes or depends on.
func (c *Change) Records() []Record {
	records := slices.Clone(c.Created)
	for _, r := range c.Replaced {
		records = append(records, r.Record)
	}
	for _, d := range c.Deleted {
		records = append(records, d.Record)
	}
	for _, h := range slices.Concat(c.Held, c.Released) {
		records = append(records, h.Course)
	}
	for _, p := range c.Grown {
		records = append(records, p)
	}
	for _, x := range slices.Concat(c.Known, c.Freed) {
		records = append(records, x.Record)
	}
	for _, coded := range c.Coded {
		records = append(records, coded.Course)
	}
	for _, course := range c.Granted {
		records = append(records, course)
	}
	return records
}

// Empty reports whether there is nothing to save.
func (c *Change) Empty() bool {
	return len(c.Created) == 0 && len(c.Replaced) == 0 && len(c.Deleted) == 0 && len(c.Links) == 0 && c.Webhooks == nil && len(c.Messages) == 0 && c.Idempotency == nil
}

// Create adds a new record. A listed one has taken its number from dir.
func (c *Change) Create(r Record, dir *Directory) {
	c.Created = append(c.Created, r)
	c.names(nil, r)
	c.syllabusMoved("", r)
	c.touch(dir)
	c.queue(r)
}

// Add begins the life of a listed record: it gets its id, and its place in the list.
// Now is read after dir was, so that records are listed in the order of createdAt.
func (c *Change) Add(r Record, ids IDs, dir *Directory, org OrgID, now Time) {
	*r.Base() = NewMeta(ids.Sequenced(dir.Kind, dir.Take()), org, now)
	c.Create(r, dir)
}

// ReplaceChanged saves a record that is not as it was before, and reports whether
// that is so.
func ReplaceChanged[T any, R interface {
	*T
	Record
}](c *Change, before T, after R, now Time) bool {
	changed := !reflect.DeepEqual(before, *after)
	if changed {
		c.names(R(&before), after)
		c.syllabusMoved(HeldDocument(R(&before)), after)
		c.Replace(after, now)
	}
	return changed
}

// Replace saves a changed record and moves its updatedAt on. What it is found by has
// not changed: see ReplaceChanged.
func (c *Change) Replace(r Record, now Time) {
	meta := r.Base()
	was := meta.UpdatedAt
	meta.UpdatedAt = was.After(now)
	c.Replaced = append(c.Replaced, Replacement{Record: r, Was: was})
}

// Happened notes an event, one of Events, of a record that is replaced.
func (c *Change) Happened(event string, r Record) {
	for i := range c.Replaced {
		if c.Replaced[i].Record == r {
			c.Replaced[i].Event = event
		}
	}
}

// Delete takes a record out; a listed one leaves dir.
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
	c.Deleted = append(c.Deleted, Deletion{r, was})
	if course, ok := r.(*Course); ok {
		c.Coded = append(c.Coded, Coded{Course: course, Was: course.Code})
	}
	if document := HeldDocument(r); document != "" {
		c.Documents = append(c.Documents, DocumentHold{document, HolderOf(r), true})
	}
	c.facets(r, r, nil)
	c.touch(dir)
}

// Grows notes that the package is given courses: it must still be there
// with the courses that were counted, and not be deleted without these.
func (c *Change) Grows(p *TransferPackage) {
	if !slices.Contains(c.Grown, p) {
		c.Grown = append(c.Grown, p)
	}
}

func (c *Change) touch(dir *Directory) {
	if dir != nil && !slices.Contains(c.Directories, dir) {
		c.Directories = append(c.Directories, dir)
	}
}

// queue asks for the extraction of a record that waits for one.
func (c *Change) queue(r Record) {
	if state := ExtractionOf(r); state != nil && state.ProcessingStatus == Pending {
		c.Jobs = append(c.Jobs, JobOf(r))
	}
}

// JobOf returns the job that extracts the record's skills, as it is requested now.
func JobOf(r Record) ExtractionJob {
	job := ExtractionJob{OrganizationID: r.Base().OrganizationID, Kind: KindOf(r), ID: r.Base().ID, RequestedAt: r.Base().UpdatedAt}
	if job.Kind.Nested() {
		job.PackageID = ParentOf(r)
	}
	return job
}

// Restart queues the extraction of a record that was put back to PENDING.
func (c *Change) Restart(r Record) { c.queue(r) }

// What happened to a record of the change feed.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// RecordChange is one change of the feed. Cursor is the place behind it, Event what
// happened beyond What, one of Events; "" for nothing.
type RecordChange struct {
	Cursor   Cursor
	What     string
	Event    string
	Kind     Kind
	ID       string
	ParentID string
	At       Time
}
