package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Attributes that no record shows.
const (
	heldBy     = "heldBy"      // of a course or document: string set of its holders
	taken      = "taken"       // of a course: how often it was put into something, or granted
	grown      = "grown"       // of a package: how often it was given courses
	leaseToken = "leaseToken"  // of an extraction: whose run it is
	leaseUntil = "leaseUntil"  // Unix ms
	attempts   = "attempts"    // runs begun
	waitsSince = "waitsSince"  // of an extraction: Unix ms, what openSince was before the sweeper came
	requested  = "requestedAt" // of an extraction: Unix ms, the updatedAt with which it became PENDING
	reviews    = "reviews"     // of a section or transfer course: see review.go
	byHand     = "byHand"      // of a section: whether its skills were set by hand
	provenance = "provenance"  // of a section or transfer course: how its skills were extracted
)

// waiting are the attributes of an extraction that has not ended; attempts may stay.
var waiting = []string{api.PendingIndexPartitionKey, api.PendingIndexSortKey, waitsSince, requested, attempts}

// transactionLimit is DynamoDB's; the journal takes one of them.
const transactionLimit = 99

// Commit saves a change in one transaction, with its entries in the change feed,
// and returns catalog.ErrStale when something that the change was decided on is
// no longer so: a record changed, a list gained or lost a record, the idempotency
// key was used meanwhile. A record of another organization is refused.
//
// A change that is larger than a transaction is saved in several: first what only
// holds courses and documents, under a reservation; then the records, if the reservation still
// stands; then what is deleted along with its owner, which is the first of the
// deletions. A hold without its record does no harm (see catalog.Hold), and whoever
// deletes what is held in spite of it revokes the reservation. Once the records are saved
// the change is done, whatever breaks off after that: CompleteDeletions does the rest.
func (s *Store) Commit(ctx context.Context, org catalog.OrgID, c *catalog.Change) error {
	for _, r := range c.Records() {
		if r.Base().OrganizationID != org {
			return fmt.Errorf("%s belongs to another organization than %s", r.Base().ID, org)
		}
	}
	if c.Webhooks != nil && c.Webhooks.OrganizationID != org || slices.ContainsFunc(c.Messages, func(m catalog.WebhookMessage) bool { return m.OrganizationID != org }) {
		return fmt.Errorf("a webhook belongs to another organization than %s", org)
	}
	once, claim, settle := s.holds(c)
	named, unnamed := s.documentHolds(org, c.Documents)
	for _, st := range named {
		once, claim = append(once, st.do), append(claim, st)
	}
	for _, w := range unnamed {
		once, settle = append(once, w), append(settle, []write{w})
	}
	var revoked []write
	for _, r := range c.Revoked {
		revoked = append(revoked, s.endReservation(org, r))
	}
	records, deleted, err := s.writesOf(org, c)
	if err != nil {
		return err
	}
	if records, err = s.lead(ctx, org, c.Hints, records); err != nil {
		return err
	}
	if whole := slices.Concat(records, slices.Concat(deleted...), once, revoked); len(whole) <= transactionLimit {
		if err := s.transact(ctx, org, whole); err != nil {
			return err
		}
		s.remember(org, c)
		return nil
	}
	if len(records) > transactionLimit {
		return fmt.Errorf("a change of %d rows is more than one transaction takes", len(records))
	}
	var first []step
	for _, w := range revoked {
		first = append(first, step{do: w})
	}
	if len(claim) > 0 {
		for _, r := range reservations(c) {
			first = append(first, step{do: s.reserve(org, r)})
			records = append(records, s.endReservation(org, r))
		}
	}
	undo, err := s.takeSteps(ctx, org, append(first, claim...))
	if err != nil {
		return err
	}
	n := min(len(deleted), (transactionLimit-len(records))/2)
	rest := c.Deleted[n:]
	if len(rest) > 0 {
		s.owes(deleted[0])
	}
	if err := s.transact(ctx, org, slices.Concat(records, slices.Concat(deleted[:n]...))); err != nil {
		s.undo(ctx, org, undo, err)
		return err
	}
	s.remember(org, c)
	// What is left is only a claim, or has lost its owner and goes as it is.
	if err := s.saveAllApart(ctx, org, settle); err != nil {
		return err
	}
	return s.removeOwned(ctx, org, rest)
}

// Fits reports whether Commit saves a change in one transaction.
func (s *Store) Fits(org catalog.OrgID, c *catalog.Change) (bool, error) {
	holds, _, _ := s.holds(c)
	named, unnamed := s.documentHolds(org, c.Documents)
	records, deleted, err := s.writesOf(org, c)
	all := len(holds) + len(named) + len(unnamed) + len(c.Revoked) + len(records) + len(slices.Concat(deleted...)) + len(c.Hints)
	return all <= transactionLimit, err
}

// lead returns the writes of a change's records with those of its hints, or saves the
// hints first where they are too many for one transaction: one that leads to what is
// not approved in the end does no harm.
func (s *Store) lead(ctx context.Context, org catalog.OrgID, hints []catalog.Hint, records []write) ([]write, error) {
	var writes []write
	for _, h := range hints {
		writes = append(writes, s.saveHint(org, h))
	}
	if len(records)+len(writes) <= transactionLimit {
		return append(records, writes...), nil
	}
	for chunk := range slices.Chunk(writes, transactionLimit) {
		if err := s.transact(ctx, org, chunk); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// writesOf returns the writes of a change's records, lists and what goes with them, and
// those of each deletion.
func (s *Store) writesOf(org catalog.OrgID, c *catalog.Change) (records []write, deleted [][]write, err error) {
	add := func(w write, wrong error) {
		records, err = append(records, w), cmp.Or(err, wrong)
	}
	for _, r := range c.Created {
		add(s.create(r))
	}
	for _, r := range c.Replaced {
		add(s.replace(c, r))
	}
	for _, d := range c.Deleted {
		pair, wrong := s.remove(d, unchanged(d))
		deleted, err = append(deleted, pair), cmp.Or(err, wrong)
	}
	for _, d := range c.Directories {
		records = append(records, s.saveDirectory(org, d))
	}
	for _, p := range c.Grown {
		records = append(records, s.grow(p))
	}
	for _, t := range c.Texts {
		row := textKey(org, t.RecordID).attributes()
		row["text"] = binary(compress([]byte(t.Text)))
		records = append(records, write{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}})
	}
	for _, o := range c.Outcomes {
		add(s.putOutcome(evidenceKey(org, o.RecordID), o.Outcome))
	}
	for _, x := range c.Known {
		records = append(records, s.saveExternal(org, x))
	}
	for _, x := range c.Freed {
		records = append(records, s.freeExternal(org, x))
	}
	for _, coded := range c.Coded {
		records = append(records, s.saveCode(org, coded)...)
	}
	if c.Webhooks != nil {
		action, wrong := s.saveWebhooks(c.Webhooks)
		add(write{action: action}, wrong)
	}
	for _, m := range c.Messages {
		add(s.sendMessage(m))
	}
	records = append(records, s.refacet(org, c.Refaceted)...)
	for _, a := range c.Approved {
		records = append(records, s.saveApproved(org, a))
	}
	for _, course := range c.Granted {
		records = append(records, s.grant(course))
	}
	for _, m := range c.Moves {
		add(s.saveMove(org, m))
	}
	for _, l := range c.Links {
		add(s.saveLink(l))
	}
	if c.Idempotency != nil {
		records = append(records, s.saveIdempotencyRecord(org, c.Idempotency)...)
	}
	return records, deleted, nil
}

// step is a write that may be undone by another one; none for one that leaves nothing.
type step struct {
	do   write
	undo []write
}

// takeSteps saves the steps, as many at a time as fit, and returns how to undo them.
// Those taken before one that is stale are undone.
func (s *Store) takeSteps(ctx context.Context, org catalog.OrgID, steps []step) (undo [][]write, err error) {
	for chunk := range slices.Chunk(steps, transactionLimit) {
		var writes []write
		for _, st := range chunk {
			writes = append(writes, st.do)
		}
		if err := s.transact(ctx, org, writes); err != nil {
			s.undo(ctx, org, undo, err)
			return nil, err
		}
		for _, st := range chunk {
			if st.undo != nil {
				undo = append(undo, st.undo)
			}
		}
	}
	return undo, nil
}

// undo takes back the steps of a change that was refused. What cannot be taken back is
// a hold without its record.
func (s *Store) undo(ctx context.Context, org catalog.OrgID, steps [][]write, refused error) {
	if errors.Is(refused, catalog.ErrStale) {
		_ = s.saveAllApart(ctx, org, steps)
	}
}

func (s *Store) saveAllApart(ctx context.Context, org catalog.OrgID, parts [][]write) error {
	for chunk := range slices.Chunk(parts, transactionLimit/2) {
		if err := s.saveApart(ctx, org, chunk); err != nil {
			return err
		}
	}
	return nil
}

// saveApart saves what does not belong together: together where that is possible,
// else in halves. What cannot be saved by itself has gone meanwhile.
func (s *Store) saveApart(ctx context.Context, org catalog.OrgID, parts [][]write) error {
	for range 3 { // a conflict, or a full page of the feed, is over by then
		if err := s.transact(ctx, org, slices.Concat(parts...)); !errors.Is(err, catalog.ErrStale) {
			return err
		}
	}
	if len(parts) == 1 {
		return nil
	}
	half := len(parts) / 2
	return errors.Join(s.saveApart(ctx, org, parts[:half]), s.saveApart(ctx, org, parts[half:]))
}

// remember keeps the directories as they are now for the next page, and counts
// what the loaded packages were given.
func (s *Store) remember(org catalog.OrgID, c *catalog.Change) {
	for _, d := range c.Directories {
		d.Version++
		s.directories.Store(directoryKey(org, d.Kind), d)
	}
	for _, p := range c.Grown {
		p.Grown++
	}
}

// write is one action of a transaction, and its entry in the change feed.
type write struct {
	action types.TransactWriteItem
	entry  string // empty for nothing
}

func (s *Store) create(r catalog.Record) (write, error) {
	row, err := s.encodeRecord(r)
	if err != nil {
		return write{}, err
	}
	return write{types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}, entry(catalog.Created, r)}, nil
}

// replace sets every attribute of the record and leaves alone those that belong
// to the store: an extraction that waits goes on waiting, unless it is requested anew.
func (s *Store) replace(c *catalog.Change, r catalog.Replacement) (write, error) {
	row, err := s.encodeRecord(r.Record)
	if err != nil {
		return write{}, err
	}
	var e expression
	restarted := slices.ContainsFunc(c.Jobs, func(job catalog.ExtractionJob) bool { return job.ID == r.Record.Base().ID })
	for _, name := range slices.Sorted(maps.Keys(row)) {
		switch {
		case name == api.PartitionKey, name == api.SortKey:
		case !restarted && slices.Contains(waiting, name):
			e.keep(name, row[name])
		default:
			e.set(name, row[name])
		}
	}
	for _, name := range attributeNames(reflect.TypeOf(r.Record).Elem()) {
		if _, ok := row[name]; !ok {
			e.remove(name)
		}
	}
	if state := catalog.ExtractionOf(r.Record); state != nil && state.ProcessingStatus != catalog.Processing {
		// A run that goes on has lost its claim: what it reads is not asked for any more.
		e.remove(leaseToken, leaseUntil)
		if state.ProcessingStatus != catalog.Pending {
			e.remove(waiting...)
		}
	}
	if _, ok := row[reviews]; !ok {
		e.remove(reviews)
	}
	e.was(r.Was)
	if course, ok := r.Record.(*catalog.Course); ok {
		e.held(course.HeldBy)
		e.counted(taken, course.Taken)
	}
	return write{s.update(keyOf(r.Record), &e), entry(marked(r.Event), r.Record)}, nil
}

// unchanged requires a record to be as it was when its deletion was decided.
func unchanged(d catalog.Deletion) (e expression) {
	e.was(d.Was)
	switch r := d.Record.(type) {
	case *catalog.Course:
		e.held(r.HeldBy)
		e.counted(taken, r.Taken)
	case *catalog.TransferPackage:
		e.counted(grown, r.Grown)
	case *catalog.Document:
		e.held(r.HeldBy)
	}
	return e
}

func (s *Store) remove(d catalog.Deletion, e expression) ([]write, error) {
	row, err := s.encodeRecord(d.Record)
	if err != nil {
		return nil, err
	}
	for _, name := range waiting {
		delete(row, name)
	}
	if _, ok := d.Record.(*catalog.Document); ok {
		// Its file may still come until its last upload has expired.
		row[api.PendingIndexPartitionKey] = text(deletions)
		row[api.PendingIndexSortKey] = number(int64(s.Now()) + catalog.UploadTTL)
	}
	live := keyOf(d.Record)
	maps.Copy(row, live.deleted().attributes())
	return []write{
		{types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.Table, Key: live.attributes(), ConditionExpression: e.condition(),
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}}, entry(catalog.Deleted, d.Record)},
		{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}},
	}, nil
}

// encodeRecord returns the row of a record as its type says; a pending extraction
// is open from now on.
func (s *Store) encodeRecord(r catalog.Record) (item, error) {
	row, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Base().ID, err)
	}
	switch r := r.(type) {
	case *catalog.Program:
		delete(row, "courses")
	case *catalog.Credential:
		members := make([]types.AttributeValue, len(r.Sections))
		for i, section := range r.Sections {
			members[i] = &types.AttributeValueMemberM{Value: item{"courseId": text(section.CourseID), "sectionId": text(section.SectionID)}}
		}
		row["sections"] = &types.AttributeValueMemberL{Value: members}
	case *catalog.Section:
		row[byHand] = &types.AttributeValueMemberBOOL{Value: r.ByHand}
	case *catalog.Articulation:
		stamps, err := encode(struct {
			Granted []catalog.CourseStamp `json:"granted,omitempty"`
		}{r.Granted})
		if err != nil {
			return nil, err
		}
		maps.Copy(row, stamps)
	case *catalog.Document:
		row[api.PendingIndexPartitionKey] = text(uploads)
		row[api.PendingIndexSortKey] = number(int64(r.CreatedAt) + catalog.DocumentTTL)
	}
	if list := catalog.ReviewsOf(r); len(list) > 0 {
		packed, err := packReviews(list)
		if err != nil {
			return nil, err
		}
		if len(packed.Value) > reviewBytes {
			return nil, catalog.Errorf(catalog.Conflict, "The reviews of a record take at most %d KB, compressed: shorten their notes.", reviewBytes>>10)
		}
		row[reviews] = packed
	}
	if state := catalog.ExtractionOf(r); state != nil && state.ProcessingStatus == catalog.Pending {
		row[api.PendingIndexPartitionKey] = text(shardOf(r.Base().ID))
		row[api.PendingIndexSortKey] = number(int64(s.Now()))
		row[waitsSince] = row[api.PendingIndexSortKey]
		row[attempts] = number(0)
		row[requested] = number(int64(r.Base().UpdatedAt))
	}
	maps.Copy(row, keyOf(r).attributes())
	return row, nil
}

// holds returns the updates of the courses' holders: once, as the change leaves
// them; or, for a change that does not fit into one transaction, claim before it,
// which releases nobody, and settle after it.
func (s *Store) holds(c *catalog.Change) (once []write, claim []step, settle [][]write) {
	courses := map[string]*catalog.Course{}
	held, released := map[string][]string{}, map[string][]string{}
	for _, h := range c.Held {
		courses[h.Course.ID] = h.Course
		held[h.Course.ID] = append(held[h.Course.ID], h.Holder)
	}
	for _, h := range c.Released {
		courses[h.Course.ID] = h.Course
		released[h.Course.ID] = append(released[h.Course.ID], h.Holder)
	}
	for _, id := range slices.Sorted(maps.Keys(courses)) {
		before, claims := courses[id], len(held[id]) > 0
		union := slices.Clone(before.HeldBy)
		for _, holder := range held[id] {
			if !slices.Contains(union, holder) {
				union = append(union, holder)
			}
		}
		final := slices.DeleteFunc(slices.Clone(union), func(holder string) bool { return slices.Contains(released[id], holder) })
		once = append(once, s.hold(before, final, claims))
		between := *before
		if claims {
			between.HeldBy, between.Taken = union, before.Taken+1
			taking := step{do: s.hold(before, union, true)}
			if len(union) > len(before.HeldBy) {
				taking.undo = []write{s.hold(&between, before.HeldBy, false)}
			}
			claim = append(claim, taking)
		}
		if len(final) < len(union) {
			settle = append(settle, []write{s.hold(&between, final, false)})
		}
	}
	return once, claim, settle
}

// hold changes the holders of a course, which must still be held as it was loaded. A
// new holder has looked at the course, which must be as it was, and counts: whoever
// has looked at the holders before that has to look again.
func (s *Store) hold(course *catalog.Course, holders []string, claims bool) write {
	var e expression
	if len(holders) == 0 {
		e.remove(heldBy)
	} else {
		e.set(heldBy, &types.AttributeValueMemberSS{Value: holders})
	}
	e.held(course.HeldBy)
	e.counted(taken, course.Taken)
	if claims {
		e.was(course.UpdatedAt)
		e.set(taken, number(course.Taken+1))
	}
	return write{action: s.update(keyOf(course), &e)}
}

// documentHolds returns the updates of the holders of documents, which must still be
// there: those that are named now, with how to undo that, and those that are no longer.
// Neither asks who else holds the document, so that many may at once.
func (s *Store) documentHolds(org catalog.OrgID, holds []catalog.DocumentHold) (named []step, unnamed []write) {
	holders := map[bool]map[string][]string{false: {}, true: {}}
	for _, h := range holds {
		of := holders[h.Released]
		of[h.DocumentID] = append(of[h.DocumentID], h.Holder)
	}
	update := func(id string, change func(e *expression, set types.AttributeValue), holders []string) write {
		k, _ := recordKey(org, catalog.DocumentKind, "", id)
		e := expression{conditions: []string{"attribute_exists(pk)"}}
		change(&e, &types.AttributeValueMemberSS{Value: holders})
		return write{action: s.update(k, &e)}
	}
	include := func(e *expression, set types.AttributeValue) { e.include(heldBy, set) }
	exclude := func(e *expression, set types.AttributeValue) { e.exclude(heldBy, set) }
	for _, id := range slices.Sorted(maps.Keys(holders[false])) {
		of := holders[false][id]
		named = append(named, step{do: update(id, include, of), undo: []write{update(id, exclude, of)}})
	}
	for _, id := range slices.Sorted(maps.Keys(holders[true])) {
		unnamed = append(unnamed, update(id, exclude, holders[true][id]))
	}
	return named, unnamed
}

// grow counts that the package is given courses.
func (s *Store) grow(p *catalog.TransferPackage) write {
	e := expression{conditions: []string{"attribute_exists(pk)"}}
	e.counted(grown, p.Grown)
	e.set(grown, number(p.Grown+1))
	return write{action: s.update(keyOf(p), &e)}
}

var attributeNamesOf sync.Map // reflect.Type -> []string

// attributeNames lists the attributes that a record may have.
func attributeNames(t reflect.Type) []string {
	if names, ok := attributeNamesOf.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	attributeNamesOf.Store(t, names)
	return names
}

// expression gathers the parts of an update; every name and value is a placeholder.
type expression struct {
	sets, removes, adds, deletes, conditions []string

	names  map[string]string
	values item
}

func (e *expression) name(attribute string) string {
	if e.names == nil {
		e.names = map[string]string{}
	}
	e.names["#"+attribute] = attribute
	return "#" + attribute
}

func (e *expression) value(v types.AttributeValue) string {
	if e.values == nil {
		e.values = item{}
	}
	placeholder := fmt.Sprintf(":v%d", len(e.values))
	e.values[placeholder] = v
	return placeholder
}

func (e *expression) set(attribute string, v types.AttributeValue) {
	e.sets = append(e.sets, e.name(attribute)+" = "+e.value(v))
}

// add adds to a number, which is 0 where it is not there. The attribute may have any
// name.
func (e *expression) add(attribute, n string) {
	if e.names == nil {
		e.names = map[string]string{}
	}
	name := fmt.Sprintf("#n%d", len(e.names))
	e.names[name] = attribute
	e.adds = append(e.adds, name+" "+e.value(&types.AttributeValueMemberN{Value: n}))
}

// include puts the members of a set into the attribute's, exclude takes them out.
func (e *expression) include(attribute string, set types.AttributeValue) {
	e.adds = append(e.adds, e.name(attribute)+" "+e.value(set))
}

func (e *expression) exclude(attribute string, set types.AttributeValue) {
	e.deletes = append(e.deletes, e.name(attribute)+" "+e.value(set))
}

// keep sets an attribute that is not there.
func (e *expression) keep(attribute string, v types.AttributeValue) {
	name := e.name(attribute)
	e.sets = append(e.sets, name+" = if_not_exists("+name+", "+e.value(v)+")")
}

func (e *expression) remove(attributes ...string) {
	for _, a := range attributes {
		e.removes = append(e.removes, e.name(a))
	}
}

// was requires the record to be as it was loaded.
func (e *expression) was(updatedAt catalog.Time) {
	e.conditions = append(e.conditions, e.name("updatedAt")+" = "+e.value(text(updatedAt.String())))
}

// held requires the course to be held by the same as when it was loaded.
func (e *expression) held(holders []string) {
	if len(holders) == 0 {
		e.conditions = append(e.conditions, "attribute_not_exists("+e.name(heldBy)+")")
	} else {
		e.conditions = append(e.conditions, e.name(heldBy)+" = "+e.value(&types.AttributeValueMemberSS{Value: holders}))
	}
}

// counted requires a count that only goes up to be as it was loaded.
func (e *expression) counted(attribute string, times int) {
	if times == 0 {
		e.conditions = append(e.conditions, "attribute_not_exists("+e.name(attribute)+")")
	} else {
		e.conditions = append(e.conditions, e.name(attribute)+" = "+e.value(number(times)))
	}
}

func (e *expression) condition() *string {
	if len(e.conditions) == 0 {
		return nil
	}
	return aws.String(strings.Join(e.conditions, " AND "))
}

func (e *expression) update() *string {
	var parts []string
	for _, clause := range []struct {
		verb    string
		actions []string
	}{{"SET ", e.sets}, {"REMOVE ", e.removes}, {"ADD ", e.adds}, {"DELETE ", e.deletes}} {
		if len(clause.actions) > 0 {
			parts = append(parts, clause.verb+strings.Join(clause.actions, ", "))
		}
	}
	return aws.String(strings.Join(parts, " "))
}

func (s *Store) update(k key, e *expression) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.Table, Key: k.attributes(), UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}

// transact saves the writes and their entries in the feed, all or nothing.
func (s *Store) transact(ctx context.Context, org catalog.OrgID, writes []write) error {
	var actions []types.TransactWriteItem
	var entries []string
	var page feedPage
	for _, w := range writes {
		actions = append(actions, w.action)
		if w.entry != "" {
			entries = append(entries, w.entry)
		}
	}
	if len(entries) > 0 {
		journal, last, err := s.journal(ctx, org, entries)
		if err != nil {
			return err
		}
		page = last
		actions = append(actions, journal)
	}
	_, err := s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	if err == nil {
		if len(entries) > 0 {
			// Whoever was faster knows a page that is as full or a later one.
			s.pages.CompareAndSwap(org, page, page.with(len(entries)))
		}
		return nil
	}
	// The page of the feed that was last used may be what was wrong.
	s.pages.Delete(org)
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		for _, reason := range canceled.CancellationReasons {
			switch aws.ToString(reason.Code) {
			case "", "None", "ConditionalCheckFailed", "TransactionConflict":
			case "ValidationError":
				return err
			default:
				return unavailable(err)
			}
		}
		return catalog.ErrStale
	}
	// Also a transaction that is still in progress: it is this one, sent before, and
	// to decide anew would be to do it twice.
	return unavailable(err)
}
