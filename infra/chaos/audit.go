package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// table is every row of the table, as values of JSON (sets are lists, numbers
// float64, binaries []byte). The audit knows the keys (pkg/dynamo, keys.go) and
// trusts no code that it audits.
type table []map[string]any

// audit is one look at the table.
type audit struct {
	live     map[catalog.OrgID]map[catalog.Kind]map[string]map[string]any // by id
	deleted  map[string]map[string]any                                    // by id
	feeds    map[catalog.OrgID][]map[string]any
	lists    map[catalog.OrgID]map[catalog.Kind]map[string]any
	moves    map[catalog.OrgID][]map[string]any // of articulations
	parts    map[string]map[string]bool         // sort keys of other rows, by partition
	units    []map[string]any
	files    files
	breaches []string
}

func (a *audit) breach(format string, args ...any) {
	a.breaches = append(a.breaches, fmt.Sprintf(format, args...))
}

func newAudit(rows table) *audit {
	a := &audit{
		live: map[catalog.OrgID]map[catalog.Kind]map[string]map[string]any{}, deleted: map[string]map[string]any{},
		feeds: map[catalog.OrgID][]map[string]any{}, lists: map[catalog.OrgID]map[catalog.Kind]map[string]any{}, parts: map[string]map[string]bool{}, moves: map[catalog.OrgID][]map[string]any{},
	}
	for _, row := range rows {
		pk, sk := text(row, api.PartitionKey), text(row, api.SortKey)
		if strings.HasPrefix(pk, "u#") {
			a.units = append(a.units, row)
		}
		words := strings.SplitN(pk, "#", 4)
		if words[0] != "o" {
			continue
		}
		org, kind := catalog.OrgID(words[1]), catalog.Kind(words[2])
		switch {
		case strings.HasSuffix(pk, "!"):
			a.deleted[text(row, "id")] = row
		case words[2] == "history":
			a.moves[org] = append(a.moves[org], row)
		case words[2] == "journal":
			a.feeds[org] = append(a.feeds[org], row)
		case words[2] == "directory":
			if a.lists[org] == nil {
				a.lists[org] = map[catalog.Kind]map[string]any{}
			}
			a.lists[org][catalog.Kind(sk)] = row
		case text(row, "id") != "" && row["createdAt"] != nil:
			if a.live[org] == nil {
				a.live[org] = map[catalog.Kind]map[string]map[string]any{}
			}
			if a.live[org][kind] == nil {
				a.live[org][kind] = map[string]map[string]any{}
			}
			a.live[org][kind][text(row, "id")] = row
		default:
			if a.parts[pk] == nil {
				a.parts[pk] = map[string]bool{}
			}
			a.parts[pk][sk] = true
		}
	}
	return a
}

// all returns an organization's live records of a kind in order of their ids.
func (a *audit) all(org catalog.OrgID, kind catalog.Kind) []map[string]any {
	records := a.live[org][kind]
	var list []map[string]any
	for _, id := range slices.Sorted(maps.Keys(records)) {
		list = append(list, records[id])
	}
	return list
}

// find returns a live record of any kind.
func (a *audit) find(id string) map[string]any {
	for _, kinds := range a.live {
		for _, records := range kinds {
			if r := records[id]; r != nil {
				return r
			}
		}
	}
	return nil
}

// open counts extractions and deletions that have not come to an end.
func (a *audit) open() (n int) {
	for _, r := range a.deleted {
		if r[api.PendingIndexPartitionKey] != nil && !expecting(r) {
			n++
		}
	}
	for _, kinds := range a.live {
		for _, records := range kinds {
			for _, r := range records {
				if s := text(r, "processingStatus"); s == string(catalog.Pending) || s == string(catalog.Processing) {
					n++
				}
			}
		}
	}
	return n
}

// table holds the table to every invariant that it can show by itself.
func (a *audit) table() {
	for _, org := range slices.Sorted(maps.Keys(a.live)) {
		for _, kind := range slices.Sorted(maps.Keys(a.live[org])) {
			for _, r := range a.all(org, kind) {
				if r["deletedAt"] != nil {
					a.breach("%s is deleted but stands among the live rows", text(r, "id"))
				}
				if _, wrong := unreviewed(r); wrong != nil {
					a.breach("%s: %s", text(r, "id"), strings.Join(wrong, "; "))
				}
				if a.deleted[text(r, "id")] != nil {
					a.breach("%s is live and deleted", text(r, "id"))
				}
				a.extraction(org, r)
			}
			if kind.Listed() {
				a.list(org, kind)
			}
		}
		a.courses(org)
		a.credentials(org)
		a.programs(org)
		for _, r := range a.all(org, catalog.TransferCourseKind) {
			if a.live[org][catalog.TransferPackageKind][text(r, "packageId")] == nil {
				a.breach("transfer course %s is live, its package %s is not", text(r, "id"), text(r, "packageId"))
			}
		}
		a.feed(org)
	}
	for id, r := range a.deleted {
		if r["deletedAt"] == nil {
			a.breach("%s stands among the deleted rows but has no deletedAt", id)
		}
		if r[api.PendingIndexPartitionKey] != nil && !expecting(r) {
			a.breach("the deletion of %s is not complete", id)
		}
	}
}

// extraction: it ended, and how it ended fits together.
func (a *audit) extraction(org catalog.OrgID, r map[string]any) {
	id, status := text(r, "id"), text(r, "processingStatus")
	if status == "" {
		return
	}
	for _, name := range []string{"leaseToken", "leaseUntil", api.PendingIndexPartitionKey, api.PendingIndexSortKey, "waitsSince", "requestedAt"} {
		if r[name] != nil {
			a.breach("%s is %s but has %s", id, status, name)
		}
	}
	switch status {
	case string(catalog.Completed):
		if r["failure"] != nil {
			a.breach("%s is COMPLETED but has a failure", id)
		}
		if !a.parts["o#"+string(org)+"#evidence"][id] {
			a.breach("%s is COMPLETED but its evidence is not kept", id)
		}
	case string(catalog.Failed):
		if r["failure"] == nil {
			a.breach("%s is FAILED but has no failure", id)
		}
	default:
		a.breach("%s is %s", id, status)
	}
}

// list: the directory counts exactly the live rows, at their places.
func (a *audit) list(org catalog.OrgID, kind catalog.Kind) {
	row := a.lists[org][kind]
	if row == nil {
		a.breach("%s of %s: no directory", kind, org)
		return
	}
	d := catalog.Directory{Kind: kind, Next: number(row, "next"), Live: number(row, "live")}
	counts, _ := row["counts"].([]byte)
	if err := d.Unpack(counts); err != nil {
		a.breach("%s of %s: %v", kind, org, err)
		return
	}
	var numbers []int
	for id, r := range a.live[org][kind] {
		n, ok := catalog.Sequence(kind, id)
		if !ok || n >= d.Next || fmt.Sprintf("%010d", n) != text(r, api.SortKey) {
			a.breach("%s %s: number %d of %d at %s", kind, id, n, d.Next, text(r, api.SortKey))
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	if d.Live != len(numbers) {
		a.breach("%s of %s: the directory counts %d, %d are live", kind, org, d.Live, len(numbers))
		return
	}
	for i, n := range numbers {
		span := d.Page(i, 1)
		first, _ := slices.BinarySearch(numbers, span.From)
		last, _ := slices.BinarySearch(numbers, span.To)
		if n < span.From || n >= span.To || last-first != span.Live || first+span.Skip != i {
			a.breach("%s of %s: the directory does not find record %d of %d", kind, org, i, len(numbers))
			return
		}
	}
}

// courses and sections name each other.
func (a *audit) courses(org catalog.OrgID) {
	sections := a.live[org][catalog.SectionKind]
	mentioned := map[string]bool{}
	for _, course := range a.all(org, catalog.CourseKind) {
		refs, _ := course["sections"].([]any)
		ids := map[string]bool{}
		for _, ref := range refs {
			r, _ := ref.(map[string]any)
			id := text(r, "id")
			ids[id], mentioned[id] = true, true
			if s := sections[id]; s == nil || text(s, "courseId") != text(course, "id") || text(s, "name") != text(r, "name") {
				a.breach("course %s mentions section %s, which is not as it says", text(course, "id"), id)
			}
		}
		if !ids[text(course, "defaultSectionId")] || len(ids) != len(refs) {
			a.breach("course %s: default section or references are wrong", text(course, "id"))
		}
	}
	for _, s := range a.all(org, catalog.SectionKind) {
		if !mentioned[text(s, "id")] {
			a.breach("section %s is live, but no course mentions it", text(s, "id"))
		}
	}
}

func (a *audit) holds(org catalog.OrgID, course, holder string) {
	r := a.live[org][catalog.CourseKind][course]
	if r == nil {
		a.breach("%s holds course %s, which is not live", holder, course)
	} else if !slices.Contains(texts(r, "heldBy"), holder) {
		a.breach("%s holds course %s, which does not know", holder, course)
	}
}

// stale counts the holds of courses and documents whose holder is not there or holds
// something else, which may be: what broke off leaves them, and they keep nothing from being deleted.
func (a *audit) stale() (n int) {
	for org := range a.live {
		for _, course := range a.all(org, catalog.CourseKind) {
			for _, hold := range texts(course, "heldBy") {
				holder, member, _ := strings.Cut(hold, "/")
				if value, ok := a.value([]string{"member", holder, member}); !ok || value != "in" {
					n++
				}
			}
		}
		for _, document := range a.all(org, catalog.DocumentKind) {
			for _, hold := range texts(document, "heldBy") {
				if r := a.find(hold[strings.LastIndex(hold, "/")+1:]); r == nil || r["documentId"] != document["id"] {
					n++
				}
			}
		}
	}
	return n
}

// credentials hold live sections, one of each course.
func (a *audit) credentials(org catalog.OrgID) {
	for _, credential := range a.all(org, catalog.CredentialKind) {
		courses := map[string]bool{}
		for _, member := range members(credential) {
			course, section := text(member, "courseId"), text(member, "sectionId")
			if courses[course] {
				a.breach("credential %s has two sections of course %s", text(credential, "id"), course)
			}
			courses[course] = true
			if s := a.live[org][catalog.SectionKind][section]; s == nil || text(s, "courseId") != course {
				a.breach("credential %s holds section %s, which is not live", text(credential, "id"), section)
			}
			a.holds(org, course, text(credential, "id")+"/"+section)
		}
	}
}

func members(credential map[string]any) (list []map[string]any) {
	values, _ := credential["sections"].([]any)
	for _, v := range values {
		member, _ := v.(map[string]any)
		list = append(list, member)
	}
	return list
}

// programs order live courses, each once.
func (a *audit) programs(org catalog.OrgID) {
	for _, program := range a.all(org, catalog.ProgramKind) {
		seen := map[string]bool{}
		for _, course := range texts(program, "courseOrder") {
			if seen[course] {
				a.breach("program %s has course %s twice", text(program, "id"), course)
			}
			seen[course] = true
			a.holds(org, course, text(program, "id")+"/"+course)
		}
	}
}

// feed: its pages follow each other, and replaying it yields exactly the live
// records as they were last changed.
func (a *audit) feed(org catalog.OrgID) {
	pages := a.feeds[org]
	slices.SortFunc(pages, func(x, y map[string]any) int { return strings.Compare(text(x, api.SortKey), text(y, api.SortKey)) })
	last := map[string]int64{} // instant of the last change of what is live
	for i, page := range pages {
		entries := texts(page, "entries")
		if text(page, api.SortKey) != fmt.Sprintf("%010d", i) || number(page, "filled") != len(entries) || len(entries) == 0 {
			a.breach("feed of %s: page %d is %s with %d entries, filled %d", org, i, text(page, api.SortKey), len(entries), number(page, "filled"))
		}
		for _, entry := range entries {
			words := strings.Split(entry, "|")
			if len(words) != 5 {
				a.breach("feed of %s: entry %q", org, entry)
				continue
			}
			what, id := words[0], words[2]
			at, _ := strconv.ParseInt(words[4], 10, 64)
			before, live := last[id]
			if (what == catalog.Created) == live {
				a.breach("feed of %s: %s of %s, live before: %t", org, what, id, live)
			}
			if live && at <= before {
				a.breach("feed of %s: %s of %s at %d, not after %d", org, what, id, at, before)
			}
			last[id] = at
			if what == catalog.Deleted {
				delete(last, id)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(a.live[org])) {
		for _, r := range a.all(org, kind) {
			id := text(r, "id")
			at, ok := last[id]
			var updated catalog.Time
			if updated.UnmarshalText([]byte(text(r, "updatedAt"))) != nil || !ok || int64(updated) != at {
				a.breach("feed of %s: %s was last changed at %s, the feed says %d", org, id, text(r, "updatedAt"), at)
			}
			delete(last, id)
		}
	}
	for id := range last {
		a.breach("feed of %s: %s is live there, but not in the table", org, id)
	}
}

func number(v map[string]any, name string) int {
	n, _ := v[name].(float64)
	return int(n)
}

// clients holds the table to what the clients were told.
func (a *audit) clients(t *traffic) {
	kept := map[string][]string{} // ids by marker
	for _, kinds := range a.live {
		for _, records := range kinds {
			for id, r := range records {
				a.marked(kept, id, r)
			}
		}
	}
	for id, r := range a.deleted {
		a.marked(kept, id, r)
	}
	for _, marker := range slices.Sorted(maps.Keys(t.batches)) {
		b := t.batches[marker]
		n := len(kept[marker])
		if n != b.n && (n != 0 || b.outcome == acknowledged) || n != 0 && b.outcome == refused {
			a.breach("request %s was to create %d records and was %s: there are %d", marker, b.n, b.outcome, n)
		}
		delete(kept, marker)
	}
	for marker, ids := range kept {
		a.breach("records %v of %q were never asked for", ids, marker)
	}
	for org, keys := range t.keys {
		for _, key := range keys {
			marker := strings.TrimPrefix(key, "key of ")
			sum := sha256.Sum256([]byte(key))
			if b := t.batches[marker]; b != nil && b.outcome == acknowledged && !a.parts["o#"+string(org)+"#answer"][hex.EncodeToString(sum[:])] {
				a.breach("%s: the idempotency record is missing", marker)
			}
		}
	}
	for _, register := range t.history.names() {
		words := strings.Split(register, " ")
		if value, ok := a.value(words); ok {
			if allowed := t.history.allowed(register); !slices.Contains(allowed, value) {
				a.breach("%s is %q, the clients wrote %q", register, value, allowed)
			}
		}
	}
}

// marked files a record under the request that made it.
func (a *audit) marked(kept map[string][]string, id string, r map[string]any) {
	marker := text(r, "description")
	switch {
	case strings.HasPrefix(id, "ext_"):
		marker = text(r, "name")
	case strings.HasPrefix(id, "doc_"):
		marker = text(r, "fileName")
	case strings.HasPrefix(id, "art_"):
		marker = text(r, "publicNote")
	}
	if marker, _, _ = strings.Cut(marker, "#"); marker != "" {
		kept[marker] = append(kept[marker], id)
	}
}

// value reads a register; false where its record is not live, which another
// register shows.
func (a *audit) value(words []string) (string, bool) {
	r := a.find(words[1])
	if words[0] == "record" {
		if r != nil {
			return "live", true
		}
		// A record goes with its parent.
		gone := a.deleted[words[1]]
		for _, parent := range []string{text(gone, "courseId"), text(gone, "packageId")} {
			if parent != "" && a.find(parent) == nil {
				return "", false
			}
		}
		return "deleted", true
	}
	if r == nil {
		return "", false
	}
	switch words[0] {
	case "name":
		return text(r, "name"), true
	case "status":
		return text(r, "status"), true
	case "note":
		return text(r, "privateNote"), true
	case "syllabus":
		return text(r, "syllabusHref") + text(r, "documentId"), true
	case "file":
		if a.files[text(r, "organizationId")+"/"+words[1]] == "" {
			return "", true
		}
		return "there", true
	case "review":
		for _, review := range reviewsOf(r) {
			if review.SkillID == words[2] {
				return review.String(), true
			}
		}
		return "", true
	case "sections":
		var ids []string
		for _, m := range members(r) {
			ids = append(ids, text(m, "sectionId"))
		}
		return strings.Join(ids, " "), true
	}
	for _, m := range members(r) {
		if text(m, "sectionId") == words[2] {
			return "in", true
		}
	}
	if slices.Contains(texts(r, "courseOrder"), words[2]) {
		return "in", true
	}
	return "", true
}

// review is a review as it is stored, in an attribute of its record.
type review struct {
	SkillID   string
	Verdict   catalog.Verdict
	Level     *int
	Kept      int
	Extracted *catalog.Finding
}

func (r review) String() string {
	if r.Level == nil {
		return string(r.Verdict)
	}
	return fmt.Sprint(r.Verdict, " ", *r.Level)
}

// reviewsOf reads the reviews of a record; one that says nothing where they cannot be
// read.
func reviewsOf(r map[string]any) (list []review) {
	packed, ok := r["reviews"].([]byte)
	if !ok {
		return nil
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil || json.NewDecoder(unzipped).Decode(&list) != nil {
		return []review{{}}
	}
	return list
}

// unreviewed returns what was found for a record, by skill, and where its skills are
// not what its reviews say of them.
func unreviewed(r map[string]any) (found map[string]catalog.Finding, wrong []string) {
	stands := map[string]catalog.Finding{}
	skills, _ := r["skills"].([]any)
	for _, s := range skills {
		entry, _ := s.(map[string]any)
		confidence, _ := entry["confidence"].(float64)
		stands[text(entry, "skillId")] = catalog.Finding{Level: number(entry, "level"), Confidence: confidence}
	}
	found = maps.Clone(stands)
	for _, review := range reviewsOf(r) {
		want, level := catalog.Finding{}, review.Kept
		if review.Level != nil {
			level = *review.Level
		}
		if review.Verdict == catalog.Accepted {
			want = catalog.Finding{Level: level, Confidence: 1}
		}
		if stands[review.SkillID] != want {
			wrong = append(wrong, fmt.Sprintf("%s is taught as %v, its review says %s", review.SkillID, stands[review.SkillID], review))
		}
		delete(found, review.SkillID)
		if review.Extracted != nil {
			found[review.SkillID] = *review.Extracted
		}
	}
	return found, wrong
}

// extractions: each ended as its syllabus lets it; the same syllabus yields the same
// skills, from an address and as a document, as the reviews of each record leave them.
func (a *audit) extractions() (ends map[string]int) {
	ends = map[string]int{}
	skills := map[string]string{}
	for _, kinds := range a.live {
		for _, records := range kinds {
			for id, r := range records {
				status := text(r, "processingStatus")
				if status == "" {
					continue
				}
				failure, _ := r["failure"].(map[string]any)
				code := catalog.FailureCode(text(failure, "code"))
				ends[strings.TrimSpace(status+" "+string(code))]++
				where, name := a.syllabus(r)
				shelf := shelves[where]
				if code != "" && code != catalog.InternalFailure && !slices.Contains(shelf.failures, code) || status == string(catalog.Completed) && !shelf.readable {
					a.breach("%s with syllabus %s/%s is %s %s", id, where, name, status, code)
				}
				if status == string(catalog.Completed) && name != "" {
					found, _ := unreviewed(r)
					packed, _ := json.Marshal(found)
					if before, ok := skills[name]; ok && before != string(packed) {
						a.breach("%s has other skills from %s than others: %s and %s", id, name, packed, before)
					}
					skills[name] = string(packed)
				}
			}
		}
	}
	return ends
}

// syllabus returns the shelf that a record's syllabus is on and the name that it has
// there; no name for a record whose text is its own.
func (a *audit) syllabus(r map[string]any) (shelf, name string) {
	if id := text(r, "documentId"); id != "" {
		document := a.find(id)
		if document == nil {
			// Only an extraction does not hold its document: a.documents() sees to that.
			return "withdrawn", fileNamed(text(a.deleted[id], "fileName"))
		}
		name = fileNamed(text(document, "fileName"))
		if _, ok := hostileFile(name); ok {
			return "uploaded hostile", name
		}
		return "uploaded", name
	}
	if href := text(r, "syllabusHref"); href != "" {
		path := strings.SplitN(href, "/", 5)
		return path[3], path[4]
	}
	return "own", ""
}

// counted holds the units to what the clients were charged: exactly, but for
// calls and counts of which somebody does not know what became.
func (a *audit) counted(customers []*customer, unsure map[string]int) (figures []string) {
	used := map[string]int{}
	for _, row := range a.units {
		customer := strings.TrimPrefix(text(row, api.PartitionKey), "u#")
		sum := 0
		for name := range row {
			if strings.HasPrefix(name, "units:") {
				sum += number(row, name)
			}
		}
		n := number(row, "used")
		if n != sum || n < 0 || n > number(row, "unitLimit") {
			a.breach("window %s of %s: %d units used, %d by operation, limit %d", text(row, api.SortKey), customer, n, sum, number(row, "unitLimit"))
		}
		used[customer] += n
	}
	for _, c := range customers {
		n, slack := used[string(c.id)], c.unsure+unsure[string(c.id)]
		figures = append(figures, fmt.Sprintf("%s: %d units in the table, %d told, %d unsure", c.id, n, c.seen, slack))
		if n < c.seen || n > c.seen+slack {
			a.breach("%s was charged %d units and told of %d; at most %d are unsure", c.id, n, c.seen, slack)
		}
	}
	return figures
}
