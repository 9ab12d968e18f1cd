package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// act is something that clients do, with a probability proportional to its weight.
type act struct {
	weight int
	do     func(*client)
}

// acts lists all acts: those of particular kinds, and reading, renaming and deleting for every kind. A new kind needs a
// line with its body, and one for each of its other operations.
var acts = append([]act{
	{6, creates(catalog.CourseKind, courseBody)},
	{4, creates(catalog.SectionKind, sectionBody)},
	{1, updates(catalog.SectionKind, func(c *client, _ string) object { return c.syllabus(object{}) })},
	{2, updates(catalog.SectionKind, skillsByHand)},
	{3, reviewSection},
	{2, creates(catalog.JobKind, jobBody)},
	{2, creates(catalog.ProgramKind, programBody)},
	{1, updates(catalog.ProgramKind, reorder)},
	{4, programCourses.add},
	{2, programCourses.addAndRemove},
	{3, creates(catalog.CredentialKind, credentialBody)},
	{5, credentialSections.add},
	{2, credentialSections.addAndRemove},
	{2, replaceSections(4)},
	{1, replaceSections(130)}, // more than fit in a transaction
	{3, creates(catalog.TransferPackageKind, packageBody)},
	{5, creates(catalog.TransferCourseKind, transferBody)},
	{1, on(catalog.TransferPackageKind, flood)},
	{1, on(catalog.TransferPackageKind, createDuringDelete)},
	{4, replacesOutcomes(catalog.CourseKind)},
	{2, replacesOutcomes(catalog.ProgramKind)},
	{3, on(catalog.ProgramKind, decideMap)},
	{2, on(catalog.CourseKind, reviewOutcome)},
	{2, on(catalog.SectionKind, adoptOutcomes)},
	{1, gets("listOutcomes", func(c *client) string { return "skillId=" + one(c, reviewable) })},
	{3, reviews(catalog.TransferCourseKind, "reviewTransferCourseSkill", "deleteTransferCourseReview")},
	{2, posts(catalog.TransferCourseKind, "retryTransferCourse", "/retry")},
	{1, posts(catalog.TransferCourseKind, "matchTransferCourse", "/equivalencies")},
	{2, creates(catalog.ReportKind, reportBody)},
	{2, creates(catalog.SyllabusExtractionKind, extractionBody)},
	{4, creates(catalog.ArticulationKind, articulationBody)},
	{2, updates(catalog.ArticulationKind, endBody)},
	{4, approve},
	{3, func(c *client) { c.move(one(c, statuses), one(c, statuses)) }},
	{1, gets("lookupArticulations", func(c *client) string { return institution(c) + "&codes=CIS+1,ENG+2,MATH+10" })},
	{1, gets("listArticulations", func(c *client) string { return institution(c) + "&status=" + one(c, statuses) })},
	{5, (*client).createDocument},
	{2, on(catalog.DocumentKind, (*client).uploadLater)},
	{4, (*client).useDocument},
	{2, importFile},
	{1, retireCourses},
	{6, (*client).listAny},
	{1, gets("listChanges", func(*client) string { return "limit=10" })},
	{1, gets("listSkills", func(*client) string { return "query=python&limit=3" })},
	{1, gets("getLaborMarket", func(*client) string { return "cipCodes=11.0701" })},
	{1, func(c *client) {
		c.send(request{operation: "getCustomerUsage", path: "/customers/" + string(c.id) + "/usage"})
	}},
}, ofEveryKind()...)

// opening lists the first acts of each client, so that the audit finds records of every kind and accepted reviews.
var opening = []func(*client){
	importFile, creates(catalog.CourseKind, courseBody), creates(catalog.ProgramKind, programBody),
	creates(catalog.CredentialKind, credentialBody), creates(catalog.TransferPackageKind, packageBody),
	reviewSection, (*client).useDocument, creates(catalog.ArticulationKind, articulationBody), approve,
	reviewSection, reviewSection, replacesOutcomes(catalog.CourseKind), replacesOutcomes(catalog.ProgramKind),
}

var reviewSection = reviews(catalog.SectionKind, "reviewSectionSkill", "deleteSectionReview")

// ofEveryKind returns the acts that are common to all kinds.
func ofEveryKind() (all []act) {
	has := func(operation string) bool {
		return slices.ContainsFunc(api.Operations(), func(op api.Operation) bool { return op.ID == operation })
	}
	for _, kind := range catalog.Kinds() {
		all = append(all, act{2, on(kind, func(c *client, path string) { c.read(kind, path) })})
		if has("delete" + string(kind)) {
			all = append(all, act{1, deletes(kind)})
		}
		if has("update"+string(kind)) && kind != catalog.ArticulationKind {
			rename := func(c *client, _ string) object { return object{"name": "Name by " + c.marker()} }
			all = append(all, act{2, updates(kind, rename)})
		}
	}
	return all
}

// on returns the act of doing something with a record, if there is one.
func on(kind catalog.Kind, do func(c *client, path string)) func(*client) {
	return func(c *client) {
		if path := c.pick(kind); path != "" {
			do(c, path)
		}
	}
}

// creates returns the act of creating a record. body gets the parent's path, and returns nil to create nothing.
func creates(kind catalog.Kind, body func(c *client, parent string) object) func(*client) {
	return func(c *client) {
		parent := ""
		if kind.Parent() != "" {
			if parent = c.pick(kind.Parent()); parent == "" {
				return
			}
		}
		if b := body(c, parent); b != nil {
			c.create(kind, parent, b)
		}
	}
}

// updates returns the act of patching a record. body gets its path, and returns nil to change nothing.
func updates(kind catalog.Kind, body func(c *client, path string) object) func(*client) {
	return on(kind, func(c *client, path string) {
		if b := body(c, path); b != nil {
			c.patch(kind, path, b)
		}
	})
}

func (c *client) patch(kind catalog.Kind, path string, body object) (reply, outcome) {
	return c.change(request{
		operation: "update" + string(kind), path: path, body: body,
		effects: fields(idOf(path), body), ifMatch: c.version(kind, path),
	})
}

func deletes(kind catalog.Kind) func(*client) {
	return on(kind, func(c *client, path string) {
		r := deletion(kind, path)
		r.ifMatch = c.version(kind, path)
		c.change(r)
	})
}

func deletion(kind catalog.Kind, path string) request {
	return request{operation: "delete" + string(kind), path: path, effects: map[string]string{idOf(path): deleted}}
}

// version returns a record's current ETag one time in six, "" otherwise.
func (c *client) version(kind catalog.Kind, path string) string {
	if !c.chance(6) {
		return ""
	}
	return c.read(kind, path).tag
}

// posts returns the act of an operation at a path below a record.
func posts(kind catalog.Kind, operation, below string) func(*client) {
	return on(kind, func(c *client, path string) {
		c.change(request{operation: operation, path: path + below, key: c.key(1)})
	})
}

func gets(operation string, query func(*client) string) func(*client) {
	return func(c *client) { c.send(request{operation: operation, path: api.Of(operation).Path + "?" + query(c)}) }
}

func courseBody(c *client, _ string) object {
	return object{"code": "C " + c.name}
}

// skillsByHand sets skills by hand or ends them.
func skillsByHand(c *client, _ string) object {
	return object{"skills": one(c, []any{nil, []any{}, []any{object{"skillId": "core:sql", "level": 2}}})}
}

func jobBody(*client, string) object {
	return object{"employerId": "employer", "salaryMin": 10, "salaryMax": 20}
}

func programBody(c *client, _ string) object {
	return c.with("courseOrder", catalog.CourseKind, object{"cipCode": "11.0701"})
}

func credentialBody(c *client, _ string) object {
	return c.with("courseSectionIds", catalog.SectionKind, object{})
}

// with adds a field with a list of one record of a kind, if there is one.
func (c *client) with(field string, kind catalog.Kind, body object) object {
	if path := c.pick(kind); path != "" {
		body[field] = []string{idOf(path)}
	}
	return body
}

func sectionBody(c *client, course string) object {
	if c.chance(60) {
		for range 50 { // deleting their course takes more than one transaction
			c.create(catalog.SectionKind, course, object{})
		}
	}
	body := object{"instructorName": "Instructor"}
	if c.chance(2) {
		c.syllabus(body)
	}
	return body
}

// syllabus adds a syllabus to a body: a document with its file, or a URL, mostly of a good one. A stalling one occupies
// an extractor for half a minute.
func (c *client) syllabus(body object) object {
	if documents := c.ready(); c.chance(3) && len(documents) > 0 {
		body["documentId"] = one(c, documents)
		return body
	}
	n := c.random.IntN(1000)
	i := slices.IndexFunc(sources, func(s source) bool { n -= s.weight; return n < 0 })
	body["syllabusHref"] = c.library.server.URL + "/" + sources[i].name + "/" + one(c, c.library.names)
	return body
}

// ready lists the ids of the documents that certainly have their files.
func (c *client) ready() (ids []string) {
	o := c.organization
	o.mu.Lock()
	paths := slices.Clone(o.paths[catalog.DocumentKind])
	o.mu.Unlock()
	for _, path := range paths {
		if c.history.is(idOf(path)+" "+file, present) {
			ids = append(ids, idOf(path))
		}
	}
	return ids
}

func reportBody(c *client, _ string) object {
	course := c.pick(catalog.CourseKind)
	if course == "" {
		return nil
	}
	return object{"settings": object{
		"courses": []string{idOf(course)}, "jobs": []object{{"id": "15-1252", "lib": "soc"}},
		"view": one(c, []string{"alignment", "coverage", "gap"}),
	}}
}

func extractionBody(c *client, _ string) object {
	if c.chance(2) {
		return object{"text": "Students learn to write programs in Python and to test them. " + c.marker()}
	}
	return c.syllabus(object{})
}

// reorder returns a body with the courses of a program in another order.
func reorder(c *client, program string) object {
	order := texts(c.read(catalog.ProgramKind, program).parsed(), "courseOrder")
	if len(order) < 2 {
		return nil
	}
	c.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return object{"courseOrder": order}
}

// members are the records of a kind that a container contains.
type members struct{ container, kind catalog.Kind }

var (
	programCourses     = members{catalog.ProgramKind, catalog.CourseKind}
	credentialSections = members{catalog.CredentialKind, catalog.SectionKind}
)

// pick returns the requests that add a record to a container and remove it; false if there is none.
func (m members) pick(c *client) (add, remove request, ok bool) {
	container, path := c.pick(m.container), c.pick(m.kind)
	if container == "" || path == "" || m.container == catalog.CredentialKind && replacedOnly(idOf(container)) {
		return add, remove, false
	}
	below, id, register := collection(m.kind, container), idOf(path), membership(idOf(container), idOf(path))
	name := string(m.container + m.kind) // in the operations' ids
	add = request{operation: "add" + name, path: below, body: object{m.kind.Resource() + "Id": id}}
	remove = request{operation: "remove" + name, path: below + "/" + id}
	add.effects, remove.effects = map[string]string{register: in}, map[string]string{register: ""}
	return add, remove, true
}

// add adds a record.
func (m members) add(c *client) {
	if add, _, ok := m.pick(c); ok {
		add.key = c.key(2)
		c.change(add)
	}
}

// addAndRemove adds a record and removes it, usually while it is added again.
func (m members) addAndRemove(c *client) {
	if add, remove, ok := m.pick(c); ok {
		c.change(add)
		c.during(remove, func() {
			if !c.chance(3) {
				c.change(add)
			}
		})
	}
}

// during calls f while it makes one attempt at a request.
func (c *client) during(r request, f func()) {
	end := c.history.begin(r.effects)
	var running sync.WaitGroup
	running.Go(func() { end(c.send(r).outcome()) })
	f()
	running.Wait()
}

// replaceSections returns the act of replacing the sections of a credential by at most so many, rarely with two of one
// course, which must be refused.
func replaceSections(most int) func(*client) {
	return on(catalog.CredentialKind, func(c *client, credential string) {
		if !replacedOnly(idOf(credential)) {
			return
		}
		ids, courses := []string{}, map[string]bool{}
		for range 4 * most {
			section := c.pick(catalog.SectionKind)
			if section == "" || len(ids) == most {
				break
			}
			course := strings.Split(section, "/")[2]
			if !c.exists(section) || slices.Contains(ids, idOf(section)) || courses[course] && !c.chance(40) {
				continue
			}
			ids, courses[course] = append(ids, idOf(section)), true
		}
		c.patch(catalog.CredentialKind, credential, object{"courseSectionIds": ids})
	})
}

// transfers returns the body of n transfer courses.
func (c *client) transfers(n int) object {
	if c.chance(40) {
		n = api.MaxItems // deleting them takes more than one transaction
	}
	var documents []string
	if c.chance(3) {
		documents = c.ready() // possibly more than fit in the courses' transaction
	}
	list := make([]object, n)
	for i := range list {
		if list[i] = (object{"name": "Course in Python programming"}); i < len(documents) {
			list[i]["documentId"] = documents[i]
		} else if !c.chance(8) {
			c.syllabus(list[i])
		}
	}
	return object{"courses": list}
}

func transferBody(c *client, _ string) object { return c.transfers(1 + c.random.IntN(4)) }

func packageBody(c *client, _ string) object {
	body := object{}
	if n := c.random.IntN(4); n > 0 {
		body = c.transfers(n)
	}
	body["transferFromInstitution"] = "Elsewhere"
	return body
}

// createDuringDelete deletes a package and adds courses to it at the same time.
func createDuringDelete(c *client, path string) {
	body, remove := transferBody(c, path), deletion(catalog.TransferPackageKind, path)
	c.during(remove, func() { c.create(catalog.TransferCourseKind, path, body) })
}

// flood queues many extractions. Only one customer does so.
func flood(c *client, pack string) {
	if c.name == "client0" {
		c.create(catalog.TransferCourseKind, pack, c.transfers(api.MaxItems))
	}
}

// reviewable lists skills of which only some are found in the syllabi.
var reviewable = []string{"core:python", "core:sql", "core:algorithms", "core:linear-algebra"}

// reviews returns the act of reviewing a skill of a record, or deleting a review.
func reviews(kind catalog.Kind, put, remove string) func(*client) {
	return on(kind, func(c *client, path string) {
		skill := one(c, reviewable)
		r := request{operation: put, path: path + "/skills/" + skill + "/review"}
		verdict := ""
		switch n := c.random.IntN(8); {
		case n < 2:
			r.operation = remove
		case n < 4:
			verdict = string(catalog.Rejected)
			r.body = object{"verdict": verdict}
		case n < 5: // allowed only for skills that were found
			verdict = string(catalog.Accepted)
			r.body = object{"verdict": verdict}
		default:
			level := 1 + c.random.IntN(5)
			verdict = fmt.Sprint(catalog.Accepted, " ", level)
			r.body = object{"verdict": catalog.Accepted, "level": level, "note": c.marker()}
		}
		r.effects = map[string]string{idOf(path) + " " + reviewed + " " + skill: verdict}
		c.change(r)
	})
}

// Values of articulations: few institutions and sets of codes, so that they conflict, each in several spellings.
var (
	senders  = []string{"Hill College", "hill-college", "HILL.COLLEGE", "Lake 7", "LAKE 007"}
	sets     = [][]string{{"CIS 1", "cis-001"}, {"CIS 1,ENG 2", "eng 02,CIS1"}, {"MATH 10", "math.0010"}}
	begins   = []string{"2024-01-01", "2025-01-01", "2026-01-01", "2030-01-01"}
	ends     = []any{nil, nil, "2024-12-31", "2025-12-31", "2031-01-01"}
	statuses = []string{"IN_REVIEW", "IN_REVIEW", "APPROVED", "APPROVED", "APPROVED", "REJECTED", "DRAFT"}
)

func institution(c *client) string { return "institution=" + url.QueryEscape(one(c, senders)) }

// articulationBody returns the body of a draft. One in three supersedes an older articulation.
func articulationBody(c *client, _ string) object {
	course := c.pick(catalog.CourseKind)
	if course == "" {
		return nil
	}
	var sending []object
	for _, set := range c.random.Perm(len(sets))[:1+c.random.IntN(2)] {
		var courses []object
		for code := range strings.SplitSeq(one(c, sets[set]), ",") {
			courses = append(courses, object{"code": code})
		}
		sending = append(sending, object{"courses": courses})
	}
	body := object{
		"sendingInstitution": object{"name": one(c, senders)}, "sending": sending, "decision": "EQUIVALENT",
		"receiving": []object{{"courseId": idOf(course)}}, "effectiveFrom": one(c, begins),
	}
	if older := c.pick(catalog.ArticulationKind); older != "" && c.chance(3) {
		body["supersedes"] = idOf(older)
	}
	return body
}

func endBody(c *client, _ string) object {
	return object{"effectiveTo": one(c, ends), "privateNote": c.marker()}
}

func approve(c *client) { c.move("IN_REVIEW", "APPROVED") }

// move moves an articulation to each status in turn.
func (c *client) move(statuses ...string) {
	path := c.pick(catalog.ArticulationKind)
	if path == "" {
		return
	}
	for _, status := range statuses {
		c.change(request{
			operation: "moveArticulation", path: path + "/status", key: c.key(1),
			ifMatch: c.version(catalog.ArticulationKind, path),
			body:    object{"status": status, "decidedBy": object{"name": c.name}, "note": c.marker()},
			effects: map[string]string{idOf(path) + " status": status},
		})
	}
}

// listing returns the operation that lists a kind, or "" if there is none.
func listing(kind catalog.Kind) string {
	for _, op := range api.Operations() {
		if kind.Listed() && op.Pages && op.Path == collection(kind, "") {
			return op.ID
		}
	}
	return ""
}

func (c *client) listAny() {
	if operation := listing(one(c, catalog.Kinds())); operation != "" {
		c.list(operation, "", 1+c.random.IntN(20), c.random.IntN(30))
	}
}
