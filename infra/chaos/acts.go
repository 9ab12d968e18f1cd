package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
)

// acts are what clients do, the likelier the heavier.
var acts = []struct {
	weight int
	do     func(*client)
}{
	{6, (*client).createCourse},
	{3, renames("updateCourse", catalog.CourseKind)},
	{1, deletes("deleteCourse", catalog.CourseKind)},
	{4, (*client).createSection},
	{2, renames("updateSection", catalog.SectionKind)},
	{1, (*client).changeSyllabus},
	{1, deletes("deleteSection", catalog.SectionKind)},
	{3, reviews(catalog.SectionKind, "reviewSectionSkill", "deleteSectionReview")},
	{2, (*client).createJob},
	{1, renames("updateJob", catalog.JobKind)},
	{1, deletes("deleteJob", catalog.JobKind)},
	{2, (*client).createProgram},
	{4, (*client).addCourse},
	{1, (*client).removeCourse},
	{1, (*client).reorder},
	{1, deletes("deleteProgram", catalog.ProgramKind)},
	{3, (*client).createCredential},
	{5, (*client).addSection},
	{1, (*client).removeSection},
	{2, (*client).setSections},
	{1, (*client).setManySections},
	{2, (*client).putInAndOut},
	{1, deletes("deleteCredential", catalog.CredentialKind)},
	{3, (*client).createPackage},
	{5, (*client).createTransferCourses},
	{1, renames("updateTransferPackage", catalog.TransferPackageKind)},
	{1, deletes("deleteTransferPackage", catalog.TransferPackageKind)},
	{1, deletes("deleteTransferCourse", catalog.TransferCourseKind)},
	{3, reviews(catalog.TransferCourseKind, "reviewTransferCourseSkill", "deleteTransferCourseReview")},
	{1, (*client).deleteUnderPost},
	{2, (*client).flood},
	{2, (*client).retry},
	{1, (*client).match},
	{2, (*client).createReport},
	{1, reads("getReport", catalog.ReportKind)},
	{1, deletes("deleteReport", catalog.ReportKind)},
	{2, (*client).createExtraction},
	{2, reads("getCourse", catalog.CourseKind)},
	{2, reads("getSection", catalog.SectionKind)},
	{2, reads("getCredential", catalog.CredentialKind)},
	{2, reads("getProgram", catalog.ProgramKind)},
	{1, reads("getTransferPackage", catalog.TransferPackageKind)},
	{2, reads("getTransferCourse", catalog.TransferCourseKind)},
	{1, reads("getSyllabusExtraction", catalog.SyllabusExtractionKind)},
	{5, (*client).createDocument},
	{2, func(c *client) { c.readDocument() }},
	{2, (*client).uploadLater},
	{2, (*client).teachFromDocument},
	{2, (*client).nameAndRelease},
	{1, (*client).nameManyDocuments},
	{2, (*client).deleteDocument},
	{4, (*client).createArticulation},
	{4, (*client).bringToApproval},
	{3, (*client).decideArticulation},
	{2, (*client).endArticulation},
	{1, (*client).deleteArticulation},
	{2, (*client).findArticulations},
	{6, (*client).list},
	{1, func(c *client) { c.send(request{operation: "listChanges", path: "/changes?limit=10"}) }},
	{1, func(c *client) {
		c.send(request{operation: "getCustomerUsage", path: "/customers/" + string(c.customer.id) + "/usage"})
	}},
	{1, func(c *client) { c.send(request{operation: "listSkills", path: "/skills?query=python&limit=3"}) }},
	{1, func(c *client) { c.send(request{operation: "getLaborMarket", path: "/labor-market?cipCodes=11.0701"}) }},
}

// opening is what each client does first, so that there is something of everything that
// the audit looks at.
var opening = []func(*client){
	(*client).createCourse, (*client).createProgram, (*client).createCredential, (*client).createPackage,
	reviews(catalog.SectionKind, "reviewSectionSkill", "deleteSectionReview"), reviews(catalog.SectionKind, "reviewSectionSkill", "deleteSectionReview"),
	(*client).teachFromDocument, (*client).createArticulation, (*client).bringToApproval,
}

// reads returns the act of reading a record.
func reads(operation string, kind catalog.Kind) func(*client) {
	return func(c *client) {
		if path := c.pick(kind); path != "" {
			c.read(operation, path)
		}
	}
}

// renames returns the act of giving a record a new name.
func renames(operation string, kind catalog.Kind) func(*client) {
	return func(c *client) {
		path := c.pick(kind)
		if path == "" {
			return
		}
		name := "Name by " + c.marker()
		c.change(request{operation: operation, path: path, body: map[string]any{"name": name}, effects: map[string]string{"name " + idOf(path): name}})
	}
}

// deletes returns the act of deleting a record.
func deletes(operation string, kind catalog.Kind) func(*client) {
	return func(c *client) {
		if path := c.pick(kind); path != "" {
			c.change(request{operation: operation, path: path, effects: map[string]string{"record " + idOf(path): "deleted"}})
		}
	}
}

// createRecord makes a request that creates one record, which has a name.
func (c *client) createRecord(operation, path string, kind catalog.Kind, body map[string]any, items int) (record map[string]any) {
	marker := c.marker()
	body["name"], body["description"] = "Name by "+marker, marker
	got := c.create(request{operation: operation, path: path, body: body, items: items}, marker, 1)
	if got.outcome() != acknowledged {
		return nil
	}
	record = got.parsed()
	if operation == "createReport" {
		record, _ = record["report"].(map[string]any)
	}
	c.know(kind, path+"/"+text(record, "id"), text(record, "name"))
	return record
}

func (c *client) createCourse() {
	course := c.createRecord("createCourse", "/courses", catalog.CourseKind, map[string]any{"code": "C " + c.name}, 0)
	if course != nil {
		c.know(catalog.SectionKind, "/courses/"+text(course, "id")+"/sections/"+text(course, "defaultSectionId"), text(course, "name"))
	}
}

func (c *client) createSection() {
	course := c.pick(catalog.CourseKind)
	if course == "" {
		return
	}
	if c.random.IntN(60) == 0 {
		for range 50 { // more than one transaction deletes with their course
			c.createRecord("createSection", course+"/sections", catalog.SectionKind, map[string]any{}, 0)
			c.acts++ // each has a marker of its own
		}
	}
	body, syllabus := map[string]any{"instructorName": "Instructor"}, ""
	if c.random.IntN(2) == 0 {
		syllabus = c.syllabus(body)
	}
	c.createSectionOf(course, body, syllabus)
}

// createSectionOf makes a section with the syllabus that the body has; "" for none.
func (c *client) createSectionOf(course string, body map[string]any, syllabus string) {
	items := min(len(syllabus), 1)
	if section := c.createRecord("createSection", course+"/sections", catalog.SectionKind, body, items); section != nil {
		c.history.created("syllabus "+text(section, "id"), syllabus)
	}
}

func (c *client) changeSyllabus() {
	if path := c.pick(catalog.SectionKind); path != "" {
		body := map[string]any{}
		syllabus := c.syllabus(body)
		c.change(request{operation: "updateSection", path: path, body: body, items: 1, effects: map[string]string{"syllabus " + idOf(path): syllabus}})
	}
}

// address draws an address: mostly of good documents. Stalling ones hold an extractor
// for half a minute.
func (c *client) address() string {
	shelf := "good"
	switch n := c.random.IntN(1000); {
	case n < 80:
		shelf = "slow"
	case n < 160:
		shelf = "flaky"
	case n < 220:
		shelf = "missing"
	case n < 250:
		shelf = "login"
	case n < 280:
		shelf = "broken"
	case n < 300:
		shelf = "inwards"
	case n < 302:
		shelf = "stalling"
	case n < 310:
		return c.library.href("hostile", hostile[c.random.IntN(len(hostile))].name)
	}
	return c.library.href(shelf, c.library.names[c.random.IntN(len(c.library.names))])
}

func (c *client) createJob() {
	c.createRecord("createJob", "/jobs", catalog.JobKind, map[string]any{"employerId": "employer", "salaryMin": 10, "salaryMax": 20}, 0)
}

func (c *client) createProgram() {
	body := map[string]any{"cipCode": "11.0701"}
	if course := c.pick(catalog.CourseKind); course != "" {
		body["courseOrder"] = []string{idOf(course)}
	}
	if program := c.createRecord("createProgram", "/programs", catalog.ProgramKind, body, 0); program != nil {
		for _, course := range texts(program, "courseOrder") {
			c.history.created(membership(text(program, "id"), course), "in")
		}
	}
}

func membership(container, member string) string { return "member " + container + " " + member }

func texts(v map[string]any, name string) (list []string) {
	values, _ := v[name].([]any)
	for _, value := range values {
		s, _ := value.(string)
		list = append(list, s)
	}
	return list
}

func (c *client) addCourse() {
	program, course := c.pick(catalog.ProgramKind), c.pick(catalog.CourseKind)
	if program == "" || course == "" {
		return
	}
	r := request{
		operation: "addProgramCourse", path: program + "/courses", body: map[string]any{"courseId": idOf(course)},
		effects: map[string]string{membership(idOf(program), idOf(course)): "in"},
	}
	if c.random.IntN(2) == 0 {
		r.key = "key of " + c.marker()
	}
	got, o := c.change(r)
	if o == acknowledged && !slices.Contains(texts(got.parsed(), "courseOrder"), idOf(course)) {
		c.breach("%s was added to %s, whose response lacks it: %s", idOf(course), idOf(program), got.body)
	}
}

func (c *client) removeCourse() {
	program := c.pick(catalog.ProgramKind)
	if program == "" {
		return
	}
	courses := texts(c.read("getProgram", program).parsed(), "courseOrder")
	if len(courses) == 0 {
		return
	}
	course := courses[c.random.IntN(len(courses))]
	c.change(request{
		operation: "removeProgramCourse", path: program + "/courses/" + course,
		effects: map[string]string{membership(idOf(program), course): ""},
	})
}

func (c *client) reorder() {
	program := c.pick(catalog.ProgramKind)
	if program == "" {
		return
	}
	order := texts(c.read("getProgram", program).parsed(), "courseOrder")
	if len(order) < 2 {
		return
	}
	c.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	c.change(request{operation: "updateProgram", path: program, body: map[string]any{"courseOrder": order}})
}

// whole reports whether a credential's sections are only ever set as a whole.
func whole(credential string) bool { return credential[len(credential)-2] < '8' }

func (c *client) createCredential() {
	body := map[string]any{}
	if section := c.pick(catalog.SectionKind); section != "" {
		body["courseSectionIds"] = []string{idOf(section)}
	}
	credential := c.createRecord("createCredential", "/credentials", catalog.CredentialKind, body, 0)
	if credential == nil {
		return
	}
	id := text(credential, "id")
	if whole(id) {
		c.history.created("sections "+id, strings.Join(sectionsOf(credential), " "))
		return
	}
	for _, section := range sectionsOf(credential) {
		c.history.created(membership(id, section), "in")
	}
}

func sectionsOf(credential map[string]any) (ids []string) {
	profiles, _ := credential["sections"].([]any)
	for _, p := range profiles {
		profile, _ := p.(map[string]any)
		ids = append(ids, text(profile, "sectionId"))
	}
	return ids
}

func (c *client) addSection() {
	credential, section := c.pick(catalog.CredentialKind), c.pick(catalog.SectionKind)
	if credential == "" || section == "" || whole(idOf(credential)) {
		return
	}
	r := request{
		operation: "addCredentialSection", path: credential + "/sections", body: map[string]any{"sectionId": idOf(section)},
		effects: map[string]string{membership(idOf(credential), idOf(section)): "in"},
	}
	if c.random.IntN(2) == 0 {
		r.key = "key of " + c.marker()
	}
	got, o := c.change(r)
	if o == acknowledged && !slices.Contains(sectionsOf(got.parsed()), idOf(section)) {
		c.breach("%s was added to %s, whose response lacks it: %s", idOf(section), idOf(credential), got.body)
	}
}

func (c *client) removeSection() {
	credential := c.pick(catalog.CredentialKind)
	if credential == "" || whole(idOf(credential)) {
		return
	}
	sections := sectionsOf(c.read("getCredential", credential).parsed())
	if len(sections) == 0 {
		return
	}
	section := sections[c.random.IntN(len(sections))]
	c.change(request{
		operation: "removeCredentialSection", path: credential + "/sections/" + section,
		effects: map[string]string{membership(idOf(credential), section): ""},
	})
}

// setSections replaces the sections of a credential. One time of eight it names
// two of one course, which must be refused.
func (c *client) setSections() {
	credential := c.pick(catalog.CredentialKind)
	if credential == "" || !whole(idOf(credential)) {
		return
	}
	var ids, courses []string
	twice := false
	for range 4 {
		section := c.pick(catalog.SectionKind)
		if section == "" {
			return
		}
		course := strings.Split(section, "/")[2]
		if slices.Contains(ids, idOf(section)) || slices.Contains(courses, course) && c.random.IntN(8) > 0 {
			continue
		}
		twice = twice || slices.Contains(courses, course)
		ids, courses = append(ids, idOf(section)), append(courses, course)
	}
	r := request{operation: "updateCredential", path: credential, body: map[string]any{"courseSectionIds": ids}}
	if !twice {
		r.effects = map[string]string{"sections " + idOf(credential): strings.Join(ids, " ")}
	}
	if got, o := c.change(r); twice && o == acknowledged {
		c.breach("%s took two sections of one course: %s", idOf(credential), got.body)
	}
}

// setManySections replaces the sections of a credential by more than a transaction
// holds.
func (c *client) setManySections() {
	credential := c.pick(catalog.CredentialKind)
	if credential == "" || !whole(idOf(credential)) {
		return
	}
	const most = 130
	var ids []string
	seen := map[string]bool{}
	for range 4 * most {
		section := c.pick(catalog.SectionKind)
		if section == "" || len(ids) == most {
			break
		}
		if course := strings.Split(section, "/")[2]; !seen[course] && c.sure(section) {
			seen[course] = true
			ids = append(ids, idOf(section))
		}
	}
	c.change(request{
		operation: "updateCredential", path: credential, body: map[string]any{"courseSectionIds": ids},
		effects: map[string]string{"sections " + idOf(credential): strings.Join(ids, " ")},
	})
}

// putInAndOut puts a course into a program, or a section into a credential, and takes
// it out at once.
func (c *client) putInAndOut() {
	container, member, put, out, body := c.pick(catalog.ProgramKind), c.pick(catalog.CourseKind), "addProgramCourse", "removeProgramCourse", "courseId"
	suffix := "/courses"
	if c.random.IntN(2) == 0 {
		container, member, put, out, body = c.pick(catalog.CredentialKind), c.pick(catalog.SectionKind), "addCredentialSection", "removeCredentialSection", "sectionId"
		suffix = "/sections"
	}
	if container == "" || member == "" || suffix == "/sections" && whole(idOf(container)) {
		return
	}
	in := request{
		operation: put, path: container + suffix, body: map[string]any{body: idOf(member)},
		effects: map[string]string{membership(idOf(container), idOf(member)): "in"},
	}
	c.change(in)
	c.inParallel(request{
		operation: out, path: container + suffix + "/" + idOf(member),
		effects: map[string]string{membership(idOf(container), idOf(member)): ""},
	}, func() { c.change(in) })
}

// inParallel makes one attempt at a request while something else is done.
func (c *client) inParallel(r request, something func()) {
	var ends []func(outcome)
	for register, value := range r.effects {
		ends = append(ends, c.history.begin(register, value))
	}
	var other sync.WaitGroup
	other.Go(func() {
		o := c.send(r).outcome()
		for _, end := range ends {
			end(o)
		}
	})
	something()
	other.Wait()
}

// deleteUnderPost deletes a package that is given courses at once.
func (c *client) deleteUnderPost() {
	pack := c.pick(catalog.TransferPackageKind)
	if pack == "" {
		return
	}
	c.inParallel(request{operation: "deleteTransferPackage", path: pack, effects: map[string]string{"record " + idOf(pack): "deleted"}}, func() {
		c.giveCourses(pack, 1+c.random.IntN(4))
	})
}

// flood is what one customer does to all others: it queues many extractions.
func (c *client) flood() {
	if pack := c.pick(catalog.TransferPackageKind); pack != "" && c.name == "client0" {
		c.giveCourses(pack, 50)
	}
}

// courses makes the transfer courses of a body.
func (c *client) courses(marker string, n int) []map[string]any {
	list := make([]map[string]any, n)
	for i := range list {
		list[i] = map[string]any{"name": "Course in Python programming", "description": fmt.Sprintf("%s#%d", marker, i)}
		if c.random.IntN(8) > 0 {
			c.syllabus(list[i])
		}
	}
	return list
}

func (c *client) createPackage() {
	marker := c.marker()
	body := map[string]any{"name": "Name by " + marker, "description": marker, "transferFromInstitution": "Elsewhere"}
	n := c.random.IntN(4)
	if n > 0 {
		body["courses"] = c.courses(marker, n)
	}
	got := c.create(request{operation: "createTransferPackage", path: "/transfer-packages", body: body, items: n}, marker, n+1)
	if got.outcome() != acknowledged {
		return
	}
	path := "/transfer-packages/" + text(got.parsed(), "id")
	c.know(catalog.TransferPackageKind, path, text(got.parsed(), "name"))
	c.knowCourses(path, c.send(request{operation: "listTransferCourses", path: path + "/courses"}))
}

// knowCourses takes note of transfer courses that a response names.
func (c *client) knowCourses(pack string, got reply) {
	var courses []struct{ ID string }
	if got.outcome() != acknowledged || json.Unmarshal(got.body, &courses) != nil {
		return
	}
	for _, course := range courses {
		c.know(catalog.TransferCourseKind, pack+"/courses/"+course.ID, "")
	}
}

func (c *client) createTransferCourses() {
	pack := c.pick(catalog.TransferPackageKind)
	if pack == "" {
		return
	}
	n := 1 + c.random.IntN(4)
	if c.random.IntN(40) == 0 {
		n = 50 // more than one transaction deletes
	}
	c.giveCourses(pack, n)
}

func (c *client) giveCourses(pack string, n int) {
	marker := c.marker()
	got := c.create(request{operation: "createTransferCourses", path: pack + "/courses", body: map[string]any{"courses": c.courses(marker, n)}, items: n}, marker, n)
	c.knowCourses(pack, got)
}

func (c *client) retry() {
	if path := c.pick(catalog.TransferCourseKind); path != "" {
		c.change(request{operation: "retryTransferCourse", path: path + "/retry", key: "key of " + c.marker()})
	}
}

// reviewable are skills of which some are found in the syllabi and some are not.
var reviewable = []string{"core:python", "core:sql", "core:algorithms", "core:linear-algebra"}

// reviews returns the act of reviewing a skill of a record, or taking a review away.
func reviews(kind catalog.Kind, put, remove string) func(*client) {
	return func(c *client) {
		path := c.pick(kind)
		if path == "" {
			return
		}
		skill := reviewable[c.random.IntN(len(reviewable))]
		r := request{operation: put, path: path + "/skills/" + skill + "/review"}
		verdict, register := "", "review "+idOf(path)+" "+skill
		switch n := c.random.IntN(8); {
		case n < 2:
			r.operation = remove
		case n < 4:
			verdict = string(catalog.Rejected)
			r.body = map[string]any{"verdict": verdict}
		case n < 5: // which only what was found may be
			verdict = string(catalog.Accepted)
			r.body = map[string]any{"verdict": verdict}
		default:
			level := 1 + c.random.IntN(5)
			verdict = fmt.Sprint(catalog.Accepted, " ", level)
			r.body = map[string]any{"verdict": catalog.Accepted, "level": level, "note": c.marker()}
		}
		r.effects = map[string]string{register: verdict}
		got, o := c.change(r)
		if o != acknowledged || verdict == "" {
			return
		}
		stands := false
		skills, _ := got.parsed()["skills"].([]any)
		for _, s := range skills {
			entry, _ := s.(map[string]any)
			stands = stands || text(entry, "skillId") == skill && entry["confidence"] == 1.0
		}
		if stands != (verdict != string(catalog.Rejected)) {
			c.breach("%s of %s is %s, whose response is %s", skill, idOf(path), verdict, got.body)
		}
	}
}

func (c *client) match() {
	if path := c.pick(catalog.TransferCourseKind); path != "" {
		c.send(request{operation: "matchTransferCourse", path: path + "/equivalencies"})
	}
}

func (c *client) createReport() {
	course := c.pick(catalog.CourseKind)
	if course == "" {
		return
	}
	view := []string{"alignment", "coverage", "gap"}[c.random.IntN(3)]
	c.createRecord("createReport", "/reports", catalog.ReportKind, map[string]any{"settings": map[string]any{
		"courses": []string{idOf(course)}, "jobs": []map[string]string{{"id": "15-1252", "lib": "soc"}}, "view": view,
	}}, 0)
}

func (c *client) createExtraction() {
	marker := c.marker()
	body := map[string]any{"name": marker}
	if c.random.IntN(2) == 0 {
		body["text"] = "Students learn to write programs in Python and to test them. " + marker
	} else {
		c.syllabus(body)
	}
	got := c.create(request{operation: "createSyllabusExtraction", path: "/syllabus-extractions", body: body}, marker, 1)
	if got.outcome() == acknowledged {
		c.know(catalog.SyllabusExtractionKind, "/syllabus-extractions/"+text(got.parsed(), "extractionId"), "")
	}
}

// lists are the listed kinds, with their operations and paths.
var lists = []struct {
	kind            catalog.Kind
	operation, path string
}{
	{catalog.CourseKind, "listCourses", "/courses"},
	{catalog.JobKind, "listJobs", "/jobs"},
	{catalog.ProgramKind, "listPrograms", "/programs"},
	{catalog.CredentialKind, "listCredentials", "/credentials"},
	{catalog.TransferPackageKind, "listTransferPackages", "/transfer-packages"},
	{catalog.ReportKind, "listReports", "/reports"},
	{catalog.ArticulationKind, "listArticulations", "/articulations"},
}

// page is a page of a list.
type page struct {
	Data       []struct{ ID string }
	Pagination struct {
		Total, Limit, Offset int
		HasMore              bool
	}
}

func (c *client) list() {
	l := lists[c.random.IntN(len(lists))]
	limit, offset := 1+c.random.IntN(20), c.random.IntN(30)
	got := c.send(request{operation: l.operation, path: fmt.Sprintf("%s?limit=%d&offset=%d", l.path, limit, offset)})
	if got.outcome() != acknowledged {
		return
	}
	var p page
	if err := json.Unmarshal(got.body, &p); err != nil {
		c.breach("%s: %v", l.operation, err)
		return
	}
	seen := map[string]bool{}
	for _, record := range p.Data {
		seen[record.ID] = true
	}
	want := max(0, min(limit, p.Pagination.Total-offset))
	if len(p.Data) != want || len(seen) != want || p.Pagination.HasMore != (want > 0 && offset+want < p.Pagination.Total) {
		c.breach("%s limit %d offset %d: %d records, %d different, of %+v", l.operation, limit, offset, len(p.Data), len(seen), p.Pagination)
	}
}
