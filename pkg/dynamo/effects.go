package dynamo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// phase is when the rows of an effect are saved if a change takes several transactions.
type phase int

const (
	atOnce  phase = iota // the records, in one transaction
	ahead                // before the records: harmless without them
	claimed              // claimed before the records under a reservation, settled after them
)

// rows are the writes of one effect.
type rows struct {
	phase  phase
	writes []write // in one transaction with all other effects

	claim   step     // of phase claimed
	settle  []write  // of phase claimed
	reserve []string // of phase claimed: ids of the holders that need a reservation

	deletion *catalog.Deletion // with an owner it may be saved after the records
	saved    func()            // called once the records are saved
}

// effectRows returns the rows of an effect: the only place that lists all types of effects.
func (s *Store) effectRows(org catalog.OrgID, e catalog.Effect) (r rows, err error) {
	one := func(w write, err error) (rows, error) { return rows{writes: []write{w}}, err }
	switch e := e.(type) {
	case *catalog.Creation:
		return one(s.create(e.Record))
	case *catalog.Replacement:
		return one(s.replace(e))
	case *catalog.Deletion:
		pair, err := s.remove(e)
		return rows{writes: pair, deletion: e}, err
	case *catalog.Holding:
		return s.holding(e), nil
	case *catalog.DocumentHolding:
		return s.documentHolding(e), nil
	case *catalog.Revocation:
		return rows{phase: ahead, writes: []write{s.endReservation(org, e.Reservation)}}, nil
	case *catalog.Directory:
		return s.saveDirectory(e), nil
	case *catalog.CourseAddition:
		return s.countAddition(e.Record), nil
	case *catalog.Text:
		return one(s.put(textKey(org, e.Record.Base().ID), item{"text": binary(compress([]byte(e.Text)))}, nil), nil)
	case *catalog.ResultReplacement:
		return one(s.putResult(evidenceKey(org, e.Record.Base().ID), e.ExtractionResult))
	case *catalog.ExternalIDAssignment:
		return s.saveExternal(org, e), nil
	case *catalog.ExternalIDRelease:
		return one(s.freeExternal(org, e), nil)
	case *catalog.CTIDAssignment:
		return one(s.saveCTID(org, e), nil)
	case *catalog.CodeChange:
		return rows{writes: s.saveCode(org, e)}, nil
	case *catalog.Webhooks:
		return one(s.saveWebhooks(e))
	case *catalog.WebhookMessage:
		return one(s.sendMessage(*e))
	case *catalog.FacetChange:
		return rows{writes: s.facetWrites(org, e.Records)}, nil
	case *catalog.Entry:
		return rows{writes: s.saveApproved(org, e.Approved)}, nil
	case *catalog.Hint:
		return rows{phase: ahead, writes: s.saveHint(org, e)}, nil
	case *catalog.CourseGrant:
		return one(s.grant(e.Record), nil)
	case *catalog.ArticulationMove:
		return one(s.saveMove(org, e))
	case *catalog.ImportDescription:
		return one(s.describeImport(org, e))
	case *catalog.ImportRejection:
		return one(s.saveRejection(org, e))
	case *catalog.MapDecisionChange:
		return one(s.saveMapDecision(org, e))
	case *catalog.Link:
		return one(s.saveLink(e))
	case *catalog.IdempotencyRecord:
		return rows{writes: s.saveIdempotencyRecord(e)}, nil
	}
	return rows{}, fmt.Errorf("%T has no rows", e)
}

func (s *Store) create(r catalog.Record) (write, error) {
	row, err := s.encodeRecord(r)
	if err != nil {
		return write{}, err
	}
	w := s.putNew(keyOf(r), row)
	w.entry = entry(catalog.Created, r)
	return w, nil
}

// replace sets every attribute of the record but not those of the store: a waiting extraction
// keeps waiting unless it is restarted.
func (s *Store) replace(r *catalog.Replacement) (write, error) {
	row, err := s.encodeRecord(r.Record)
	if err != nil {
		return write{}, err
	}
	var e expression
	shape := shapeOf(r.Record)
	for _, name := range slices.Sorted(maps.Keys(row)) {
		switch {
		case name == api.PartitionKey, name == api.SortKey, slices.Contains(shape.guards, name):
		case !r.Restarted && slices.Contains(waiting, name):
			e.setOnce(name, row[name])
		default:
			e.set(name, row[name])
		}
	}
	for _, name := range shape.names {
		if _, ok := row[name]; !ok {
			e.remove(name)
		}
	}
	if state := catalog.ExtractionOf(r.Record); state != nil && state.ProcessingStatus != catalog.Processing {
		// A run in progress loses its claim: its syllabus is obsolete.
		e.remove(leaseToken, leaseUntil)
		if !waits(r.Record) {
			e.remove(waiting...)
		}
	}
	if i, ok := r.Record.(*catalog.Import); ok && i.Ended() {
		e.remove(waiting...)
	}
	e.unchanged(r.Was)
	shape.asLoaded(&e, row)
	w := write{action: s.update(keyOf(r.Record), &e)}
	if !r.Quiet {
		w.entry = entry(marked(r.Event), r.Record)
	}
	return w, nil
}

// remove moves a record to the partition of deleted ones if it is as it was loaded.
func (s *Store) remove(d *catalog.Deletion) ([]write, error) {
	row, err := s.encodeRecord(d.Record)
	if err != nil {
		return nil, err
	}
	var e expression
	e.unchanged(d.Was)
	shapeOf(d.Record).asLoaded(&e, row)
	for _, name := range waiting {
		delete(row, name)
	}
	switch d.Record.(type) {
	case *catalog.Import: // its file of rejected rows
		row[api.PendingIndexPartitionKey] = text(deletions)
		row[api.PendingIndexSortKey] = number(int64(s.Now()))
	case *catalog.Document:
		// Its file may still be uploaded until its last upload URL has expired.
		row[api.PendingIndexPartitionKey] = text(deletions)
		row[api.PendingIndexSortKey] = number(int64(s.Now()) + catalog.UploadTTL)
	}
	live := keyOf(d.Record)
	gone := s.delete(live, &e)
	gone.entry, gone.row = entry(catalog.Deleted, d.Record), sizeOfRow(row)
	return []write{gone, s.put(live.deleted(), row, nil)}, nil
}

// holding returns the updates of a course's holders.
func (s *Store) holding(h *catalog.Holding) rows {
	course, claims := h.Record, len(h.Holders) > 0
	r := rows{phase: claimed}
	union := slices.Clone(course.HeldBy)
	for _, holder := range h.Holders {
		id, _, _ := strings.Cut(holder, "/")
		r.reserve = append(r.reserve, id)
		if !slices.Contains(union, holder) {
			union = append(union, holder)
		}
	}
	released := func(holder string) bool { return slices.Contains(h.Released, holder) }
	final := slices.DeleteFunc(slices.Clone(union), released)
	r.writes = []write{s.hold(course, final, claims)}
	between := *course
	if claims {
		between.HeldBy, between.Taken = union, course.Taken+1
		r.claim.do = []write{s.hold(course, union, true)}
		if len(union) > len(course.HeldBy) {
			r.claim.undo = []write{s.hold(&between, course.HeldBy, false)}
		}
	}
	if len(final) < len(union) {
		r.settle = []write{s.hold(&between, final, false)}
	}
	return r
}

// hold changes the holders of a course, which must be as they were loaded. With claims, which
// is for new holders, the course itself must be unchanged too, and its counter goes up, so
// that a change decided on the earlier holders becomes stale.
func (s *Store) hold(course *catalog.Course, holders []string, claims bool) write {
	var e expression
	if len(holders) == 0 {
		e.remove(heldBy)
	} else {
		e.set(heldBy, stringSet(holders))
	}
	e.is(heldBy, stringSet(course.HeldBy))
	e.counted(taken, course.Taken)
	if claims {
		e.unchanged(course.UpdatedAt)
		e.set(taken, number(course.Taken+1))
	}
	return write{action: s.update(keyOf(course), &e), row: s.bytesOf(course)}
}

// documentHolding returns the updates of a document's holders. The document must exist; its
// other holders do not matter, so that concurrent holds do not conflict.
func (s *Store) documentHolding(h *catalog.DocumentHolding) rows {
	k, _ := recordKey(h.OrganizationID, catalog.DocumentKind, "", h.DocumentID)
	update := func(change func(e *expression, attribute string, set types.AttributeValue)) []write {
		e := exists()
		change(e, heldBy, stringSet(h.Holders))
		return []write{{action: s.update(k, e), row: catalog.MaxDocumentHolders * holderBytes}}
	}
	if h.Released {
		released := update((*expression).exclude)
		return rows{phase: claimed, writes: released, settle: released}
	}
	held := update((*expression).include)
	r := rows{phase: claimed, writes: held, claim: step{held, update((*expression).exclude)}}
	for _, holder := range h.Holders {
		_, parent, _ := catalog.HolderRecord(holder)
		r.reserve = append(r.reserve, parent)
	}
	return r
}

// countAddition counts an addition of courses to a package.
func (s *Store) countAddition(p *catalog.TransferPackage) rows {
	e := exists()
	e.counted(additions, p.Additions)
	e.set(additions, number(p.Additions+1))
	return rows{writes: []write{{action: s.update(keyOf(p), e), row: s.bytesOf(p)}}, saved: func() { p.Additions++ }}
}
