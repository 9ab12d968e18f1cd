package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// table is all rows of the table as JSON values; binaries are []byte.
type table []object

// scan reads the whole table.
func scan(ctx context.Context, client *awsdynamodb.Client, name string) (rows table, err error) {
	pages := awsdynamodb.NewScanPaginator(client, &awsdynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		for _, item := range out.Items {
			row := object{}
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, fmt.Errorf("scan: %w", err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// record is a live record with its row.
type record struct {
	catalog.Record
	row object
}

func (r *record) id() string { return r.Base().ID }

// audit is a snapshot of the table and the files. It uses the keys (pkg/dynamo, keys.go) and the rules of package
// catalog, but no code that reads or writes the table.
type audit struct {
	rows     map[string]map[string]object // by partition and sort key
	live     map[string]*record           // by id
	kinds    map[catalog.Kind][]*record   // in key order
	orgs     []catalog.OrgID              // with records
	deleted  map[string]object            // by id
	created  map[string]int               // live and deleted records by marker
	files    files
	breaches []string
}

func (a *audit) breach(format string, args ...any) {
	a.breaches = append(a.breaches, fmt.Sprintf(format, args...))
}

func newAudit(rows table, stored files) *audit {
	a := &audit{
		rows: map[string]map[string]object{}, live: map[string]*record{}, kinds: map[catalog.Kind][]*record{},
		deleted: map[string]object{}, created: map[string]int{}, files: stored,
	}
	slices.SortFunc(rows, func(x, y object) int { return strings.Compare(text(x, api.SortKey), text(y, api.SortKey)) })
	for _, row := range rows {
		pk, sk := text(row, api.PartitionKey), text(row, api.SortKey)
		if a.rows[pk] == nil {
			a.rows[pk] = map[string]object{}
		}
		a.rows[pk][sk] = row
		words := strings.Split(strings.TrimSuffix(pk, "!"), "#")
		if len(words) < 3 || catalog.Kind(words[2]).New() == nil {
			continue
		}
		a.created[markerOf(row)]++
		if strings.HasSuffix(pk, "!") {
			a.deleted[text(row, "id")] = row
			continue
		}
		kind := catalog.Kind(words[2])
		r := &record{kind.New(), row}
		packed, _ := json.Marshal(plainOf(r))
		if err := json.Unmarshal(packed, r.Record); err != nil || string(r.Base().OrganizationID) != words[1] {
			a.breach("%s %s is not a %s of its organization: %v", pk, sk, kind, err)
		}
		a.live[r.id()] = r
		a.kinds[kind] = append(a.kinds[kind], r)
		if org := r.Base().OrganizationID; !slices.Contains(a.orgs, org) {
			a.orgs = append(a.orgs, org)
		}
	}
	return a
}

// plainOf returns the attributes of a record that are its JSON, and sets those fields that are not.
func plainOf(r *record) object {
	switch record := r.Record.(type) {
	case *catalog.Course:
		record.HasOutcomes = r.row["promises"] == true
	case *catalog.OutcomeList:
		packed, _ := r.row["outcomes"].([]byte)
		if record.Outcomes.UnmarshalBinary(packed) != nil {
			return object{"outcomes": "not outcomes"}
		}
		if r.row["provenance"] != nil {
			record.Provenance = &catalog.Provenance{}
		}
		row := maps.Clone(r.row)
		delete(row, "outcomes")
		return row
	}
	return r.row
}

// of returns an organization's live records of a kind.
func (a *audit) of(org catalog.OrgID, kind catalog.Kind) (list []*record) {
	for _, r := range a.kinds[kind] {
		if r.Base().OrganizationID == org {
			list = append(list, r)
		}
	}
	return list
}

// ordered returns the rows of an organization's partition in key order.
func (a *audit) ordered(org catalog.OrgID, partition api.Partition) (list []object) {
	rows := a.rows[partition.Key(string(org))]
	for _, sk := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, rows[sk])
	}
	return list
}

// record returns the live record of a kind to which another refers, or nil if its organization has none.
func (a *audit) record(from *record, kind catalog.Kind, id string) *record {
	r := a.live[id]
	if r == nil || catalog.KindOf(r.Record) != kind || r.Base().OrganizationID != from.Base().OrganizationID {
		return nil
	}
	return r
}

// pending counts unfinished extractions and deletions.
func (a *audit) pending() (n int) {
	for _, r := range a.deleted {
		if r[api.PendingIndexPartitionKey] != nil && !awaitsFile(r) {
			n++
		}
	}
	for _, r := range a.live {
		e := catalog.ExtractionOf(r.Record)
		if e != nil && (e.ProcessingStatus == catalog.Pending || e.ProcessingStatus == catalog.Processing) {
			n++
		}
		if i, ok := r.Record.(*catalog.Import); ok && !i.Ended() {
			n++
		}
	}
	return n
}

// tableChecks lists the checks of a settled table.
var tableChecks = []struct {
	name  string
	check func(*audit)
}{
	{"records", (*audit).records},
	{"extraction", (*audit).extractions},
	{"list", (*audit).lists},
	{"course", (*audit).courses},
	{"outcomes", (*audit).outcomes},
	{"map", (*audit).maps},
	{"imports", (*audit).imports},
	{"hold", (*audit).holds},
	{"file", (*audit).storage},
	{"articulation", (*audit).articulations},
	{"feed", (*audit).feeds},
	{"units", (*audit).units},
}

// table runs all checks of the table.
func (a *audit) table() {
	for _, c := range tableChecks {
		before := len(a.breaches)
		c.check(a)
		for i := range a.breaches[before:] {
			a.breaches[before+i] = c.name + ": " + a.breaches[before+i]
		}
	}
}

// records: each is either live or deleted and has its parent, and every deletion is complete.
func (a *audit) records() {
	for id, r := range a.live {
		if r.Base().DeletedAt != nil || a.deleted[id] != nil {
			a.breach("%s is live and deleted", id)
		}
		if kind := catalog.KindOf(r.Record).Parent(); kind != "" && a.record(r, kind, catalog.ParentOf(r.Record)) == nil {
			a.breach("%s is live, but its %s is not", id, kind)
		}
	}
	for id, r := range a.deleted {
		if r["deletedAt"] == nil {
			a.breach("%s is a deleted row without deletedAt", id)
		}
		if r[api.PendingIndexPartitionKey] != nil && !awaitsFile(r) {
			a.breach("the deletion of %s is not complete", id)
		}
	}
}

// pendingAttributes are the attributes of an unfinished extraction.
var pendingAttributes = []string{
	"leaseToken", "leaseUntil", api.PendingIndexPartitionKey, api.PendingIndexSortKey, "waitsSince", "requestedAt",
}

// extractions: each ended as its source allows, the same syllabus always yields the same skills, and each record's
// skills are those that its reviews leave.
func (a *audit) extractions() {
	skills := map[string]string{} // by file
	for id, r := range a.live {
		found, consistent := reviewedSkills(r)
		if !consistent {
			a.breach("%s: its skills are not those that its reviews leave", id)
		}
		e := catalog.ExtractionOf(r.Record)
		if e == nil || catalog.KindOf(r.Record) == catalog.OutcomeListKind || !a.extracts(r, e) {
			continue
		}
		for _, name := range pendingAttributes {
			if r.row[name] != nil {
				a.breach("%s is %s but has %s", id, e.ProcessingStatus, name)
			}
		}
		from, name := a.syllabus(r)
		switch {
		case e.ProcessingStatus == catalog.Failed && e.Failure != nil:
			if code := e.Failure.Code; code != catalog.InternalFailure && !slices.Contains(from.failures, code) {
				a.breach("%s with syllabus %s/%s failed: %s", id, from.name, name, code)
			}
		case e.ProcessingStatus == catalog.Completed && e.Failure == nil && from.completes:
			if a.rows[api.EvidenceRows.Key(string(r.Base().OrganizationID))][id] == nil {
				a.breach("%s is COMPLETED, but its evidence is missing", id)
			}
			if before, ok := skills[name]; name != "" && ok && before != found {
				a.breach("%s: %s yielded %s, and elsewhere %s", id, name, found, before)
			}
			skills[name] = found
		default:
			a.breach("%s with syllabus %s/%s is %s, failure %v", id, from.name, name, e.ProcessingStatus, e.Failure)
		}
	}
}

// extracts reports whether a record ends with the outcome of a syllabus or of a text of its own. It checks a section
// without a syllabus.
func (a *audit) extracts(r *record, e *catalog.Extraction) bool {
	section, ok := r.Record.(*catalog.Section)
	if !ok {
		return true
	}
	of := a.record(r, catalog.CourseKind, section.CourseID)
	if of == nil {
		return true // reported by records
	}
	course := of.Record.(*catalog.Course)
	section.ByHand = r.row["byHand"] == true
	source, description := catalog.SourceOf(section, course)
	if source == catalog.FromSyllabus {
		return true
	}
	want := catalog.Completed
	if section.ID != course.DefaultSectionID {
		want = ""
	}
	stamp, _ := r.row["provenance"].(map[string]any)
	found, _ := reviewedSkills(r)
	switch {
	case source == catalog.FromOutcomes:
		if !a.follows(section, found) || stamp["source"] != string(catalog.FromOutcomes) {
			a.breach("%s differs from its course's outcomes: %s, %v", r.id(), e.ProcessingStatus, stamp)
		}
	case description != "" && gaveUp(e):
	case e.ProcessingStatus != want || e.Failure != nil:
		a.breach("%s without a syllabus is %q, failure %v", r.id(), e.ProcessingStatus, e.Failure)
	case description != "" &&
		(stamp["source"] != string(catalog.FromDescription) || stamp["documentSha256"] != checksum([]byte(description))):
		a.breach("%s has other skills than those of its course's name and description: %v", r.id(), stamp)
	case description == "" && source == catalog.FromDescription && found != pack([]catalog.SkillRef{}):
		a.breach("%s has skills, but its course has no description: %s", r.id(), found)
	}
	return false
}

// gaveUp reports whether an extraction failed because it was started too often.
func gaveUp(e *catalog.Extraction) bool {
	return e.ProcessingStatus == catalog.Failed && e.Failure != nil && e.Failure.Code == catalog.InternalFailure
}

// reviewedSkills returns the skills that were found for a record, and whether the record's skills are those that its
// reviews leave.
func reviewedSkills(r *record) (found string, consistent bool) {
	var skills []catalog.SkillRef
	switch record := r.Record.(type) {
	case *catalog.Section:
		skills, record.Reviews = record.Skills, reviewsOf(r.row)
	case *catalog.TransferCourse:
		skills, record.Reviews = record.Skills, reviewsOf(r.row)
	case *catalog.SyllabusExtraction:
		return pack(record.Skills), true
	default:
		return "", true
	}
	before := catalog.Unreviewed(r.Record.(catalog.Reviewed))
	after, _ := catalog.ApplyReviews(catalog.ReviewsOf(r.Record), before)
	return pack(before), pack(skills) == pack(after)
}

func pack(skills []catalog.SkillRef) string {
	catalog.SortSkills(skills)
	packed, _ := json.Marshal(skills)
	return string(packed)
}

// reviewsOf decodes the reviews in a record's row; an empty one if they cannot be decoded.
func reviewsOf(row object) (list catalog.Reviews) {
	packed, ok := row["reviews"].([]byte)
	if ok && list.UnmarshalBinary(packed) != nil {
		return catalog.Reviews{{}}
	}
	return list
}

// syllabus returns the source of a record's syllabus and the name of its file, "" if the record contains the text.
func (a *audit) syllabus(r *record) (from source, name string) {
	if id := text(r.row, "documentId"); id != "" {
		if d := a.live[id]; d != nil {
			return sourceNamed("document"), libraryName(text(d.row, "fileName"))
		}
		return sourceNamed("deleted"), libraryName(text(a.deleted[id], "fileName"))
	}
	if href := text(r.row, "syllabusHref"); href != "" {
		path := strings.SplitN(href, "/", 5)
		return sourceNamed(path[3]), path[4]
	}
	return sourceNamed("text"), ""
}

// lists: each directory counts exactly the live records and finds them.
func (a *audit) lists() {
	for _, org := range a.orgs {
		for _, kind := range catalog.Kinds() {
			records := a.of(org, kind)
			if !kind.Listed() || len(records) == 0 {
				continue
			}
			row := a.rows[api.DirectoryRows.Key(string(org))][string(kind)]
			d := catalog.Directory{Kind: kind, Next: number(row, "next"), Live: number(row, "live")}
			counts, _ := row["counts"].([]byte)
			if err := d.Unpack(counts); err != nil || d.Live != len(records) {
				a.breach("%s of %s: the directory counts %d records, but %d are live (%v)", kind, org, d.Live, len(records), err)
				continue
			}
			for i, r := range records {
				n, ok := catalog.Sequence(kind, r.id())
				if !ok || n >= d.Next || fmt.Sprintf("%010d", n) != text(r.row, api.SortKey) {
					a.breach("%s: number %d of %d has sort key %s", r.id(), n, d.Next, text(r.row, api.SortKey))
				} else if span := d.Page(i, 1); n < span.From || n >= span.To {
					a.breach("%s of %s: the directory does not find record %d of %d", kind, org, i, len(records))
				}
			}
		}
	}
}

// courses: courses and sections refer to each other.
func (a *audit) courses() {
	listed := map[string]bool{}
	for _, r := range a.kinds[catalog.CourseKind] {
		course := r.Record.(*catalog.Course)
		for _, ref := range course.Sections {
			s := a.record(r, catalog.SectionKind, ref.ID)
			if listed[ref.ID] || s == nil || catalog.ParentOf(s.Record) != course.ID ||
				!reflect.DeepEqual(s.Record.(*catalog.Section).Ref(), ref) {
				a.breach("%s lists %s twice, or otherwise than it is", course.ID, ref.ID)
			}
			listed[ref.ID] = true
		}
		s := a.record(r, catalog.SectionKind, course.DefaultSectionID)
		if s == nil || catalog.ParentOf(s.Record) != course.ID {
			a.breach("%s lacks its default section", course.ID)
		}
	}
	for _, s := range a.kinds[catalog.SectionKind] {
		if !listed[s.id()] {
			a.breach("no course lists %s", s.id())
		}
	}
}

// held is a record that another record holds.
type held struct {
	kind   catalog.Kind
	id     string
	holder string // in the held record's heldBy; "" if it is not marked
}

// holdings lists the records that a record holds.
func holdings(r *record) (list []held) {
	switch container := r.Record.(type) {
	case *catalog.Credential:
		for _, s := range container.Sections {
			list = append(list, held{kind: catalog.SectionKind, id: s.SectionID})
			list = append(list, held{catalog.CourseKind, s.CourseID, container.ID + "/" + s.SectionID})
		}
	case *catalog.Program:
		for _, course := range container.CourseOrder {
			list = append(list, held{catalog.CourseKind, course, container.ID + "/" + course})
		}
	}
	if id := catalog.HeldDocument(r.Record); id != "" {
		list = append(list, held{catalog.DocumentKind, id, catalog.HolderOf(r.Record)})
	}
	return list
}

// holds: a held record is live, marked with its holder and held once, as is the course of a credential's section.
func (a *audit) holds() {
	for _, r := range a.live {
		seen := map[string]bool{}
		for _, h := range holdings(r) {
			switch to := a.record(r, h.kind, h.id); {
			case seen[h.id]:
				a.breach("%s holds %s twice", r.id(), h.id)
			case to == nil:
				a.breach("%s holds %s, which is not live", r.id(), h.id)
			case h.holder != "" && !slices.Contains(holdersOf(to), h.holder):
				a.breach("%s holds %s, which is not marked", r.id(), h.id)
			}
			seen[h.id] = true
		}
	}
}

func holdersOf(r *record) []string {
	holders, _ := r.row["heldBy"].([]string) // a set
	return holders
}

// articulations: no two approved ones conflict, granted courses are live, and their moves lead from DRAFT to their
// present status.
func (a *audit) articulations() {
	today := catalog.DateOf(catalog.TimeOf(time.Now()))
	for _, org := range a.orgs {
		at := map[string]catalog.ArticulationStatus{} // after the moves so far
		for _, move := range a.ordered(org, api.HistoryRows) {
			id, _, _ := strings.Cut(text(move, api.SortKey), "#")
			if from := catalog.ArticulationStatus(text(move, "from")); from != cmp.Or(at[id], catalog.ArticulationDraft) {
				a.breach("%s moves from %s, but was %s", id, from, at[id])
			}
			at[id] = catalog.ArticulationStatus(text(move, "to"))
		}
		all := articulationsOf(a.of(org, catalog.ArticulationKind))
		for i, one := range all {
			if where := cmp.Or(at[one.ID], catalog.ArticulationDraft); where != one.Status {
				a.breach("%s is %s, but its moves lead to %s", one.ID, one.Status, where)
			}
			if one.Status != catalog.ArticulationApproved {
				continue
			}
			if err := one.CheckConflicts(all[:i], ""); err != nil {
				a.breach("%s is approved: %v %v", one.ID, err, all[:i])
			}
			for _, course := range one.GrantedCourses() {
				if one.Keeps(course, today) && a.record(a.live[one.ID], catalog.CourseKind, course) == nil {
					a.breach("%s grants %s, which is not live", one.ID, course)
				}
			}
		}
	}
}

func articulationsOf(records []*record) (all []*catalog.Articulation) {
	for _, r := range records {
		all = append(all, r.Record.(*catalog.Articulation))
	}
	return all
}

// feeds: the pages of each feed are consecutive, and replaying it yields exactly the live records.
func (a *audit) feeds() {
	last := map[string]catalog.Time{} // time of each live record's last change
	ended := map[string]bool{}        // the last change ended an extraction
	for _, org := range a.orgs {
		for i, page := range a.ordered(org, api.JournalRows) {
			entries, at, filled := texts(page, "entries"), text(page, api.SortKey), number(page, "filled")
			if at != fmt.Sprintf("%010d", i) || filled != len(entries) || len(entries) == 0 {
				a.breach("page %d of %s has key %s and %d entries, filled %d", i, org, at, len(entries), filled)
			}
			for _, entry := range entries {
				c := changeOf(entry)
				before, live := last[c.ID]
				if (c.What == catalog.Created) == live || c.At <= before {
					a.breach("%s of %s at %d, live before: %t, last changed at %d", c.What, c.ID, c.At, live, before)
				}
				last[c.ID] = c.At
				ends := c.Event != "" && c.Event != catalog.ArticulationDecided
				if ends && ended[c.ID] {
					a.breach("the extraction or import %s ended twice", c.ID)
				}
				if ended[c.ID] = ends; c.What == catalog.Deleted {
					delete(last, c.ID)
				}
			}
		}
	}
	for id, r := range a.live {
		if catalog.KindOf(r.Record).Path() == "" {
			continue // a part of another record
		}
		if last[id] != r.Base().UpdatedAt {
			a.breach("%s last changed at %d, in the feed at %d", id, r.Base().UpdatedAt, last[id])
		}
		delete(last, id)
	}
	for id := range last {
		a.breach("%s is live in the feed, but not in the table", id)
	}
}

// changeOf parses an entry of the change feed: what happened, kind, id, parent and time. An event of a record is stored
// as the last word of its name.
func changeOf(entry string) catalog.RecordChange {
	words := strings.Split(entry+"||||", "|")
	at, _ := strconv.ParseInt(words[4], 10, 64)
	c := catalog.RecordChange{What: words[0], Kind: catalog.Kind(words[1]), ID: words[2], At: catalog.Time(at)}
	for _, event := range catalog.Events() {
		ofImport := strings.HasPrefix(event, "import.")
		if strings.HasSuffix(event, "."+c.What) && ofImport == (c.Kind == catalog.ImportKind) {
			c.What, c.Event = catalog.Changed, event
		}
	}
	return c
}

func number(v object, name string) int {
	n, _ := v[name].(float64)
	return int(n)
}

// units: those of each window are the sum of those of its operations.
func (a *audit) units() {
	for partition, windows := range a.rows {
		for window, row := range windows {
			if !strings.HasPrefix(partition, "u#") {
				break
			}
			sum := 0
			for name := range row {
				if strings.HasPrefix(name, "units:") {
					sum += number(row, name)
				}
			}
			if n, limit := number(row, "used"), number(row, "unitLimit"); n != sum || n < 0 || n > limit {
				a.breach("window %s of %s: %d used, %d by operation, limit %d", window, partition, n, sum, limit)
			}
		}
	}
}

// acknowledged compares the table with the clients' requests: records that they created and values that they wrote.
func (a *audit) acknowledged(t *traffic) {
	for _, register := range t.history.names() {
		id, field, _ := strings.Cut(register, " ")
		value, known := a.value(id, field)
		if allowed := t.history.allowed(register); known && !slices.Contains(allowed, value) {
			a.breach("%s is %q, but the clients wrote %q", register, value, allowed)
		}
	}
}

// value reads a register. It returns false if the record is not live, unless the register is its existence, or if it
// was deleted with its parent.
func (a *audit) value(id, field string) (string, bool) {
	r := a.live[id]
	key, isKey := strings.CutPrefix(field, answered+" ")
	switch {
	case field == created && a.created[id] > 0:
		return strconv.Itoa(a.created[id]), true
	case isKey && a.rows[api.AnswerRows.Key(id)][checksum([]byte(key))] != nil:
		return present, true
	case field == created, isKey:
		return "", true
	case field == "" && r != nil:
		return live, true
	case field == "":
		parent := text(a.deleted[id], "courseId") + text(a.deleted[id], "packageId")
		return deleted, parent == "" || a.live[parent] != nil
	case r == nil:
		return "", false
	case field == promised:
		var texts []string
		if list := a.outcomesOf(id); list != nil {
			for _, o := range list.Outcomes {
				texts = append(texts, o.Statement)
			}
		}
		return strings.Join(texts, "|"), true
	case field == file:
		if a.files.of(r) == "" {
			return "", true
		}
		return present, true
	}
	if skill, ok := strings.CutPrefix(field, reviewed+" "); ok {
		for _, review := range reviewsOf(r.row) {
			if review.SkillID == skill && review.Level != nil {
				return fmt.Sprint(review.Verdict, " ", *review.Level), true
			} else if review.SkillID == skill {
				return string(review.Verdict), true
			}
		}
		return "", true
	}
	return valueIn(r.row, field)
}

// charges compares the units in the table with those in responses. They may differ by the units of calls and charges of
// uncertain outcome.
func (a *audit) charges(clients []*client, uncertain map[string]int) (figures []string) {
	for _, c := range clients {
		n, slack := 0, c.uncertain+uncertain[string(c.id)]
		for _, row := range a.rows[api.UnitRows.Key(string(c.id))] {
			n += number(row, "used")
		}
		figure := fmt.Sprintf("%s: %d units in the table, %d in responses, %d uncertain", c.id, n, c.charged, slack)
		figures = append(figures, figure)
		if n < c.charged || n > c.charged+slack {
			a.breach("%s was charged %d units, %d according to responses, %d uncertain", c.id, n, c.charged, slack)
		}
	}
	return figures
}
