package rest_test

import (
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// described is a course with its default section, whose extraction a test ends.
type described struct {
	client
	course, section string // paths
	job             catalog.ExtractionJob
}

func (c client) described(body string) described {
	c.s.t.Helper()
	made := c.must(201, "POST", "/courses", body)
	path := "/courses/" + made.text("id")
	return described{c, path, path + "/sections/" + made.text("defaultSectionId"), catalog.ExtractionJob{
		OrganizationID: c.customer.OrganizationID, Kind: catalog.SectionKind, ID: made.text("defaultSectionId"),
	}}
}

// patch changes the course or the section and wants that status of the section afterwards,
// with a job on the queue for what is PENDING.
func (d described) patch(path, body, status string) reply {
	d.s.t.Helper()
	queued := len(d.s.queue.sent)
	d.must(200, "PATCH", path, body)
	section := d.must(200, "GET", d.section, "")
	section.want("processingStatus", status)
	if jobs := len(d.s.queue.sent) - queued; (jobs > 0) != (status == "PENDING") {
		d.s.t.Errorf("%s: %d jobs are queued", body, jobs)
	}
	return section
}

// read claims the extraction and returns what it is to read.
func (d described) read() *catalog.Task {
	d.s.t.Helper()
	task, err := d.s.store.Claim(d.s.t.Context(), d.job, ids.New("run_"), d.s.clock.Now()+1000)
	if err != nil {
		d.s.t.Fatal(err)
	}
	return task
}

// extract claims the extraction, wants what it is to read, and ends it with a skill.
func (d described) extract(source catalog.Source, text string, skill catalog.SkillRef) {
	d.s.t.Helper()
	task := d.read()
	if task.Source != source || task.Description != text {
		d.s.t.Errorf("reads %s %q, want %s %q", task.Source, task.Description, source, text)
	}
	outcome := resultOf(skill)
	outcome.Provenance.Source = task.Source
	if err := d.s.store.Finish(d.s.t.Context(), task, outcome); err != nil {
		d.s.t.Fatal(err)
	}
}

// The default section of a course takes its skills from name and description while it has
// neither a syllabus nor skills set by hand.
func TestSkillsOfDescriptions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	known := s.one.known(3)
	first, second, third := found(known[0], 1, 0.5), found(known[1], 2, 0.5), found(known[2], 3, 0.5)
	d := s.one.described(`{"name":"Databases","code":"CS 1","description":"Students write SQL."}`)
	if len(s.queue.sent) != 1 || s.queue.sent[0].ID != d.job.ID {
		t.Errorf("queued %v", s.queue.sent)
	}
	s.one.must(200, "GET", d.section, "").want("processingStatus", "PENDING")
	d.extract(catalog.FromDescription, "Databases\n\nStudents write SQL.", first)
	shown := s.one.must(200, "GET", d.section+"?include=evidence", "")
	shown.want("processingStatus", "COMPLETED")
	shown.want("extraction.source", "DESCRIPTION")
	shown.want("evidence.0.skillId", known[0])
	shown.wantSkills(known[0] + " 1 0.5")
	course := s.one.must(200, "GET", d.course, "")
	course.want("sections.0.skillCount", 1)
	if course.text("updatedAt") != shown.text("updatedAt") {
		t.Errorf("the course was changed at %s, its section at %s", course.text("updatedAt"), shown.text("updatedAt"))
	}

	// Again when name or description change, and only then; what is read meanwhile is dropped.
	d.patch(d.course, `{"code":"CS 2","credits":{"min":3,"max":3,"unit":"CEU"}}`, "COMPLETED")
	d.patch(d.course, `{"description":"Students write SQL."}`, "COMPLETED")
	d.patch(d.section, `{"name":"Another","campus":"Main"}`, "COMPLETED")
	d.patch(d.course, `{"name":"Storage"}`, "PENDING").wantSkills(known[0] + " 1 0.5")
	old := d.read()
	d.patch(d.course, `{"description":"Of much."}`, "PENDING")
	if err := s.store.Finish(t.Context(), old, resultOf(third)); err == nil {
		t.Error("what was read of the description before is kept")
	}
	d.extract(catalog.FromDescription, "Storage\n\nOf much.", second)

	// Skills set by hand, also none, and a syllabus take its place, and give it back.
	d.patch(d.section, `{"skills":[{"skillId":"`+known[2]+`","level":3}]}`, "COMPLETED").wantSkills(known[2] + " 3 1")
	d.patch(d.course, `{"description":"Of little."}`, "COMPLETED").wantSkills(known[2] + " 3 1")
	d.patch(d.section, `{"skills":[]}`, "COMPLETED").wantSkills()
	d.patch(d.section, `{"skills":null}`, "PENDING")
	d.extract(catalog.FromDescription, "Storage\n\nOf little.", first)
	d.patch(d.section, `{"skills":null}`, "COMPLETED").wantSkills(known[0] + " 1 0.5")
	d.patch(d.section, `{"syllabusHref":"https://example.org/a.pdf"}`, "PENDING")
	d.extract(catalog.FromSyllabus, "", second)
	d.patch(d.course, `{"name":"Storing"}`, "COMPLETED").wantSkills(known[1] + " 2 0.5")
	d.patch(d.section, `{"skills":[]}`, "COMPLETED").wantSkills()
	d.patch(d.section, `{"skills":null}`, "PENDING")
	d.extract(catalog.FromSyllabus, "", third)
	d.patch(d.section, `{"syllabusHref":null}`, "PENDING")
	d.extract(catalog.FromDescription, "Storing\n\nOf little.", first)

	// Reviews outlive all of that.
	s.one.must(200, "PUT", d.section+"/skills/"+known[0]+"/review", `{"verdict":"REJECTED"}`)
	s.one.must(200, "PUT", d.section+"/skills/"+known[1]+"/review", `{"verdict":"ACCEPTED","level":5}`)
	d.patch(d.course, `{"description":"Of nothing."}`, "PENDING").wantSkills(known[1] + " 5 1")
	d.extract(catalog.FromDescription, "Storing\n\nOf nothing.", first)
	s.one.must(200, "GET", d.section, "").wantSkills(known[1] + " 5 1")

	// A name of one word says too little: nothing is read, at once.
	empty := d.patch(d.course, `{"description":null}`, "COMPLETED")
	empty.wantSkills(known[1] + " 5 1")
	plain := s.one.must(200, "GET", d.section+"?include=evidence", "")
	plain.want("extraction", absent{})
	plain.want("evidence", []any{})
	d.patch(d.course, `{"name":"Relational databases"}`, "PENDING")
	d.extract(catalog.FromDescription, "Relational databases", third)
	s.one.must(200, "GET", d.course, "").want("sections.0.skillCount", 2)
}

// Every default section shows how far its extraction is; other sections show their own
// skills only, and a call costs no more for what it has extracted.
func TestDefaultSectionsAlwaysHaveAStatus(t *testing.T) {
	t.Parallel()
	s := newService(t)
	queued := func() int { return len(s.queue.sent) }
	d := s.one.described(`{"name":"Algebra","code":"M 1"}`)
	if queued() > 0 {
		t.Error("a name of one word is read")
	}
	s.one.must(200, "GET", d.section, "").want("processingStatus", "COMPLETED")
	made := s.one.must(201, "POST", "/courses", `{"name":"Linear algebra","code":"M 2"}`)
	if made.header("X-RateLimit-Cost") != "2" || queued() != 1 {
		t.Errorf("a course with a description costs %s, %d jobs", made.header("X-RateLimit-Cost"), queued())
	}
	other := s.one.must(201, "POST", d.course+"/sections", `{"name":"Evening courses for all","description":"We solve equations."}`)
	other.want("processingStatus", absent{})
	other.want("skills", []any{})
	path := d.course + "/sections/" + other.text("id")
	s.one.must(200, "PATCH", path, `{"skills":[{"skillId":"core:sql","level":2}]}`).want("skills.0.level", 2)
	ended := s.one.must(200, "PATCH", path, `{"skills":null}`)
	ended.want("skills", []any{})
	ended.want("processingStatus", absent{})
	if changed := s.one.must(200, "PATCH", d.course, `{"name":"Algebra for all"}`); changed.header("X-RateLimit-Cost") != "2" || queued() != 2 {
		t.Errorf("another name costs %s, %d jobs", changed.header("X-RateLimit-Cost"), queued())
	}
	if r := s.one.must(422, "PATCH", d.section, `{"skills":{}}`); !strings.Contains(string(r.Body), "body.skills") {
		t.Errorf("%s", r.Body)
	}
}
