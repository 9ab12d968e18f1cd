package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// known returns the ids of n skills of the loaded taxonomy, in order of their names.
func (c client) known(n int) []string {
	c.s.t.Helper()
	list := make([]string, n)
	var page reply
	for i := range list {
		if i%100 == 0 {
			page = c.must(200, "GET", fmt.Sprintf("/skills?limit=100&offset=%d", i), "")
		}
		list[i] = page.text(fmt.Sprintf("data.%d.id", i%100))
	}
	return list
}

// found is a skill as an extraction finds it.
func found(id string, level int, confidence float64) catalog.SkillRef {
	name, _ := skills.Starter().Name(id)
	return catalog.SkillRef{SkillID: id, SkillName: name, Level: level, Confidence: confidence}
}

// resultOf is the outcome of an extraction that has found the skills, with a piece of
// evidence for each.
func resultOf(list ...catalog.SkillRef) *catalog.ExtractionResult {
	o := &catalog.ExtractionResult{Skills: slices.Clone(list), Evidence: []catalog.Evidence{}, Text: ids.New("text ")}
	catalog.SortSkills(o.Skills)
	for _, s := range list {
		o.Evidence = append(o.Evidence, catalog.Evidence{SkillID: s.SkillID, Quote: "it", End: 2, Page: 1, Label: "it", Section: "topics"})
	}
	return o
}

// taught lists the skills of a record: id, level and confidence of each.
func (r reply) taught() (list []string) {
	r.t.Helper()
	var record struct{ Skills []catalog.SkillRef }
	if err := json.Unmarshal(r.Body, &record); err != nil {
		r.t.Fatal(err)
	}
	for _, s := range record.Skills {
		list = append(list, fmt.Sprintf("%s %d %v", s.SkillID, s.Level, s.Confidence))
	}
	slices.Sort(list)
	return list
}

// wantSkills fails the test where a record has other skills.
func (r reply) wantSkills(want ...string) {
	r.t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, r.taught()); diff != "" {
		r.t.Errorf("%s: skills (-want +got): %s", r.call, diff)
	}
}

// reviewed are the two kinds of records with reviews, each with an extraction that
// has found three skills.
func reviewed(s *service, known []string) map[string]struct {
	path string
	job  catalog.ExtractionJob
} {
	s.t.Helper()
	one := s.one
	course := one.course("A").text("id")
	section := one.must(201, "POST", "/courses/"+course+"/sections", `{"name":"S","syllabusHref":"https://example.org/a"}`).text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X","syllabusHref":"https://example.org/b"}]}`).text("id")
	jobs := s.queue.sent[len(s.queue.sent)-2:]
	records := map[string]struct {
		path string
		job  catalog.ExtractionJob
	}{
		"section":         {"/courses/" + course + "/sections/" + section, jobs[0]},
		"transfer course": {"/transfer-packages/" + pack + "/courses/" + jobs[1].ID, jobs[1]},
	}
	for _, r := range records {
		s.finish(r.job, resultOf(found(known[0], 3, 0.9), found(known[1], 2, 0.5), found(known[2], 4, 0.25)))
	}
	return records
}

func TestReviews(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	known := one.known(5)
	for name, r := range reviewed(s, known) {
		t.Run(name, func(t *testing.T) {
			one := client{&service{t: t, server: s.server}, one.key, one.customer}
			at := func(i int) string { return r.path + "/skills/" + known[i] + "/review" }
			before := one.must(200, "GET", r.path, "")
			before.want("reviews", absent{})
			one.must(200, "GET", r.path+"?include=reviews", "").want("reviews", []any{})
			s.clock.Add(10)

			// Accepted: at the extracted level, or at another.
			accepted := one.must(200, "PUT", at(1), `{"verdict":"ACCEPTED","note":" as said in week 2 "}`)
			accepted.wantSkills(known[0]+" 3 0.9", known[1]+" 2 1", known[2]+" 4 0.25")
			if accepted.text("updatedAt") <= before.text("updatedAt") || accepted.header("ETag") == before.header("ETag") {
				t.Errorf("a review leaves the record as it was: %s", accepted.Body)
			}
			if now := one.must(200, "GET", r.path, ""); string(now.Body) != string(accepted.Body) || now.header("ETag") != accepted.header("ETag") {
				t.Errorf("PUT gave %s\nGET shows %s", accepted.Body, now.Body)
			}
			one.must(200, "PUT", at(0), `{"verdict":"ACCEPTED","level":5}`).wantSkills(known[0]+" 5 1", known[1]+" 2 1", known[2]+" 4 0.25")
			// Rejected; null is as absent.
			one.must(200, "PUT", at(2), `{"verdict":"REJECTED","level":null,"note":null}`).wantSkills(known[0]+" 5 1", known[1]+" 2 1")
			// Added.
			one.must(200, "PUT", at(3), `{"verdict":"ACCEPTED","level":2}`).wantSkills(known[0]+" 5 1", known[1]+" 2 1", known[3]+" 2 1")
			// Rejected before it was ever found.
			one.must(200, "PUT", at(4), `{"verdict":"REJECTED"}`).wantSkills(known[0]+" 5 1", known[1]+" 2 1", known[3]+" 2 1")

			with := one.must(200, "GET", r.path+"?include=evidence,reviews", "")
			for i, want := range []struct {
				id, verdict             string
				level, note, extraction any
			}{
				{known[0], "ACCEPTED", 5, nil, map[string]any{"level": 3, "confidence": 0.9}},
				{known[1], "ACCEPTED", nil, "as said in week 2", map[string]any{"level": 2, "confidence": 0.5}},
				{known[2], "REJECTED", nil, nil, map[string]any{"level": 4, "confidence": 0.25}},
				{known[3], "ACCEPTED", 2, nil, nil},
				{known[4], "REJECTED", nil, nil, nil},
			} {
				review := fmt.Sprintf("reviews.%d.", i)
				with.want(review+"skillId", want.id)
				with.want(review+"verdict", want.verdict)
				with.want(review+"level", want.level)
				with.want(review+"note", want.note)
				with.want(review+"extracted", want.extraction)
				with.want(review+"reviewedAt", s.clock.Now())
				if with.text(review+"skillName") == "" || !strings.HasPrefix(with.text(review+"keyId"), "key_") {
					t.Errorf("%s", with.Body)
				}
			}
			with.want("reviews.5", absent{})
			with.want("evidence.2", absent{}) // of what is extracted and stands
			with.want("rejectedEvidence", absent{})
			of := one.must(200, "GET", r.path+"?include=rejected", "")
			of.want("evidence", absent{})
			of.want("rejectedEvidence.0.skillId", known[2])
			of.want("rejectedEvidence.1", absent{})
			for i := range 2 {
				if id := with.text(fmt.Sprintf("evidence.%d.skillId", i)); id != known[0] && id != known[1] {
					t.Errorf("evidence of %s", id)
				}
			}
			one.must(200, "GET", r.path+"?include=evidence", "").want("reviews", absent{})

			// A PUT replaces the whole review; of a taken one nothing is left.
			one.must(200, "PUT", at(1), `{"verdict":"REJECTED"}`)
			one.must(200, "GET", r.path+"?include=reviews", "").want("reviews.1.note", nil)
			one.must(204, "DELETE", at(1), "")
			one.must(204, "DELETE", at(3), "")
			rest := one.must(200, "GET", r.path+"?include=reviews", "")
			rest.wantSkills(known[0]+" 5 1", known[1]+" 2 0.5")
			rest.want("reviews.3", absent{})
			tag := one.must(200, "GET", r.path, "").header("ETag")
			one.must(204, "DELETE", at(1), "") // of none
			one.must(404, "DELETE", r.path+"/skills/nothing/review", "")
			one.must(204, "DELETE", r.path+"/skills/core:java/review", "") // known, and not reviewed
			if now := one.must(200, "GET", r.path, "").header("ETag"); now != tag {
				t.Error("to delete no review changes the record")
			}

			// If-Match is compared with the plain GET.
			s.clock.Add(10)
			one.must(412, "PUT", at(1), `{"verdict":"ACCEPTED"}`, "If-Match", rest.header("ETag"))
			one.must(412, "DELETE", at(0), "", "If-Match", rest.header("ETag"))
			// A response that is not the record alone names the record's ETag.
			if got := rest.header("X-Record-ETag"); got != tag {
				t.Errorf("X-Record-ETag %s, want %s", got, tag)
			}
			known304 := one.must(304, "GET", r.path+"?include=reviews", "", "If-None-Match", rest.header("ETag"))
			if got := known304.header("X-Record-ETag"); got != tag {
				t.Errorf("X-Record-ETag %s with 304, want %s", got, tag)
			}
			tag = one.must(200, "PUT", at(1), `{"verdict":"ACCEPTED"}`, "If-Match", tag).header("ETag")
			left := one.must(204, "DELETE", at(1), "", "If-Match", tag).header("X-Record-ETag")
			one.must(412, "DELETE", at(0), "", "If-Match", tag)
			for _, i := range []int{0, 2, 4} {
				left = one.must(204, "DELETE", at(i), "", "If-Match", left).header("X-Record-ETag")
			}
			if again := one.must(204, "DELETE", at(0), "", "If-Match", left).header("X-Record-ETag"); again != left {
				t.Errorf("X-Record-ETag %s after nothing was deleted, want %s", again, left)
			}
			one.must(200, "GET", r.path, "").want("skills", before.get("skills"))
			one.must(200, "GET", r.path+"?include=reviews", "").want("reviews", []any{})
		})
	}
	// The feed has them as changes of their records.
	feed := one.must(200, "GET", "/changes?limit=1000", "")
	changed := map[string]int{}
	for _, entry := range feed.get("data").([]any) {
		e := entry.(map[string]any)
		changed[e["resource"].(string)+" "+e["change"].(string)]++
	}
	if changed["Section changed"] != changed["TransferCourse changed"] || changed["Section changed"] < 10 {
		t.Errorf("the feed has %v", changed)
	}
}

func TestReviewFaults(t *testing.T) {
	t.Parallel()
	s := newService(t)
	known := s.one.known(4)
	for name, r := range reviewed(s, known) {
		before := s.one.must(200, "GET", r.path+"?include=reviews", "")
		at := func(id string) string { return r.path + "/skills/" + id + "/review" }
		for _, c := range []struct {
			id, body  string
			status    int
			locations string
		}{
			{known[0], `{}`, 422, "body.verdict"},
			{known[0], `{"verdict":"accepted"}`, 422, "body.verdict"},
			{known[0], `{"verdict":null}`, 422, "body.verdict"},
			{known[0], `{"verdict":"ACCEPTED","level":0}`, 422, "body.level"},
			{known[0], `{"verdict":"ACCEPTED","level":6}`, 422, "body.level"},
			{known[0], `{"verdict":"ACCEPTED","level":2.5}`, 422, "body.level"},
			{known[0], `{"verdict":"ACCEPTED","level":"2"}`, 422, "body.level"},
			{known[0], `{"verdict":"REJECTED","level":2}`, 422, "body.level"},
			{known[3], `{"verdict":"ACCEPTED"}`, 422, "body.level"},
			{known[3], `{"verdict":"ACCEPTED","level":null}`, 422, "body.level"},
			{known[0], `{"verdict":"ACCEPTED","note":"` + strings.Repeat("é", 1001) + `"}`, 422, "body.note"},
			{known[0], `{"verdict":"ACCEPTED","skillId":"x"}`, 422, "body.skillId"},
			{known[0], `[]`, 422, "body"},
			{known[0], `{"verdict":`, 400, ""},
			{known[0], `{"verdict":"ACCEPTED","verdict":"REJECTED"}`, 400, ""},
			{"nothing", `{"verdict":"REJECTED"}`, 404, ""},
			{"nothing", `{"verdict":"ACCEPTED","level":2}`, 404, ""},
		} {
			got := s.one.must(c.status, "PUT", at(c.id), c.body)
			if got.locations() != c.locations {
				t.Errorf("%s: %.80s: errors at %s, want %s", name, c.body, got.locations(), c.locations)
			}
		}
		s.one.must(415, "PUT", at(known[0]), `{"verdict":"ACCEPTED"}`, "Content-Type", "text/plain")
		s.one.must(415, "PUT", at(known[0]), `{"verdict":"ACCEPTED"}`, "Content-Type", "application/merge-patch+json")
		s.one.must(405, "POST", at(known[0]), `{"verdict":"ACCEPTED"}`)
		s.one.must(400, "PUT", at(known[0])+"?x=1", `{"verdict":"ACCEPTED"}`)
		s.one.must(400, "GET", r.path+"?include=review", "")
		s.one.must(400, "GET", r.path+"?include=evidence,", "")
		s.reader.must(403, "PUT", at(known[0]), `{"verdict":"ACCEPTED"}`)
		s.reader.must(403, "DELETE", at(known[0]), "")
		foreign := s.two.must(404, "PUT", at(known[0]), `{"verdict":"ACCEPTED"}`)
		never := s.one.must(404, "PUT", strings.Replace(at(known[0]), r.job.ID, r.job.ID+"x", 1), `{"verdict":"ACCEPTED"}`)
		if foreign.anonymous() != never.anonymous() {
			t.Errorf("%s: %s\n%s", name, foreign.Body, never.Body)
		}
		if after := s.one.must(200, "GET", r.path+"?include=reviews", ""); string(after.Body) != string(before.Body) {
			t.Errorf("%s: requests that were refused change %s\nto %s", name, before.Body, after.Body)
		}
		// What is deleted has no reviews.
		s.one.must(200, "PUT", at(known[0]), `{"verdict":"REJECTED"}`)
		s.one.must(204, "DELETE", r.path, "")
		s.one.must(404, "PUT", at(known[0]), `{"verdict":"REJECTED"}`)
		s.one.must(404, "DELETE", at(known[0]), "")
		s.one.must(404, "GET", r.path+"?include=reviews", "")
	}
}

// Skills that were set by hand can be reviewed; a list that is set by hand ends the
// reviews before it.
func TestReviewsOfSkillsSetByHand(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	known := one.known(4)
	course := one.course("A")
	path := "/courses/" + course.text("id") + "/sections/" + course.text("defaultSectionId")
	at := func(i int) string { return path + "/skills/" + known[i] + "/review" }
	body := fmt.Sprintf(`{"skills":[{"skillId":%q,"level":3,"confidence":0.5},{"skillId":%q,"level":2,"confidence":0.5}]}`, known[0], known[1])
	one.must(200, "PATCH", path, body)
	one.must(200, "PUT", at(0), `{"verdict":"ACCEPTED"}`).wantSkills(known[0]+" 3 1", known[1]+" 2 0.5")
	one.must(200, "PUT", at(1), `{"verdict":"REJECTED"}`).wantSkills(known[0] + " 3 1")
	with := one.must(200, "GET", path+"?include=reviews", "")
	with.want("reviews.0.extracted", nil)
	with.want("reviews.1.extracted", nil)
	one.must(204, "DELETE", at(1), "")
	one.must(200, "GET", path, "").wantSkills(known[0]+" 3 1", known[1]+" 2 0.5")
	one.must(200, "PATCH", path, `{"name":"Other"}`)
	one.must(200, "GET", path+"?include=reviews", "").want("reviews.0.skillId", known[0])
	one.must(200, "PATCH", path, body).wantSkills(known[0]+" 3 0.5", known[1]+" 2 0.5")
	one.must(200, "GET", path+"?include=reviews", "").want("reviews", []any{})
	if again := one.must(200, "PATCH", path, body); again.text("updatedAt") != one.must(200, "GET", path, "").text("updatedAt") {
		t.Error("the same skills change the section")
	}

	// With a new syllabus the list is replaced, and then once more by what is found;
	// reviews of that time stay.
	one.must(200, "PUT", at(1), `{"verdict":"REJECTED"}`)
	one.must(200, "PATCH", path, fmt.Sprintf(`{"syllabusHref":"https://example.org/a","skills":[{"skillId":%q,"level":1}]}`, known[2])).wantSkills(known[2] + " 1 1")
	one.must(200, "GET", path+"?include=reviews", "").want("reviews", []any{})
	one.must(200, "PUT", at(2), `{"verdict":"ACCEPTED"}`)
	s.finish(s.queue.sent[0], resultOf(found(known[0], 3, 0.5), found(known[1], 4, 0.5)))
	one.must(200, "GET", path, "").wantSkills(known[0]+" 3 0.5", known[1]+" 4 0.5", known[2]+" 1 1")
	one.must(200, "PUT", at(1), `{"verdict":"ACCEPTED"}`)
	with = one.must(200, "GET", path+"?include=reviews", "")
	with.want("reviews.0.extracted", map[string]any{"level": 4, "confidence": 0.5})
	with.want("reviews.1.extracted", nil)
	one.must(204, "DELETE", at(2), "") // what was set by hand has been replaced
	one.must(200, "GET", path, "").wantSkills(known[0]+" 3 0.5", known[1]+" 4 1")

	// A list that is set by hand has no evidence, though the same skill was found before.
	one.must(200, "GET", path+"?include=evidence", "").want("evidence.0.skillId", known[0])
	one.must(200, "PATCH", path, fmt.Sprintf(`{"skills":[{"skillId":%q,"level":1}]}`, known[0]))
	with = one.must(200, "GET", path+"?include=evidence", "")
	with.want("evidence", []any{})
	with.want("extraction", absent{})
}

// No program takes a review away: neither a retry, another syllabus, an extraction
// that runs while it is written, nor another taxonomy.
func TestReviewsOutliveEveryProgram(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	known := one.known(6)
	for name, r := range reviewed(s, known) {
		at := func(i int) string { return r.path + "/skills/" + known[i] + "/review" }
		one.must(200, "PUT", at(0), `{"verdict":"REJECTED","note":"no"}`)
		one.must(200, "PUT", at(1), `{"verdict":"ACCEPTED"}`) // at level 2
		one.must(200, "PUT", at(2), `{"verdict":"ACCEPTED","level":5}`)
		one.must(200, "PUT", at(3), `{"verdict":"ACCEPTED","level":1}`)
		count := 4
		decided := func(when string, want ...string) {
			t.Helper()
			got := one.must(200, "GET", r.path+"?include=reviews", "")
			got.wantSkills(want...)
			if n := len(got.get("reviews").([]any)); n != count {
				t.Errorf("%s: %s: %d reviews are left of %d: %s", name, when, n, count, got.Body)
			}
		}
		extract := func(during func(), outcome *catalog.ExtractionResult) {
			t.Helper()
			task, err := s.store.Claim(t.Context(), r.job, ids.New("run_"), s.clock.Now()+100_000)
			if err != nil {
				t.Fatal(err)
			}
			during()
			if err := s.store.Finish(t.Context(), task, outcome); err != nil {
				t.Fatal(err)
			}
		}
		r.job.RequestedAt = 0
		restart := func() {
			t.Helper()
			s.clock.Add(10)
			// As skillsctl reextract does.
			var change catalog.Change
			record, err := s.store.Reload(t.Context(), recordOf(r.job))
			if err != nil {
				t.Fatal(err)
			}
			before := catalog.Copy(record)
			*catalog.ExtractionOf(record) = catalog.Extraction{ProcessingStatus: catalog.Pending}
			change.Replace(before, record, s.clock.Now())
			if err := s.store.Commit(t.Context(), "org_one", &change); err != nil {
				t.Fatal(err)
			}
		}
		// What is found now differs in level, lacks one and has a new one.
		second := resultOf(found(known[0], 3, 0.8), found(known[1], 4, 0.7), found(known[4], 2, 0.6))
		restart()
		decided("PENDING", known[1]+" 2 1", known[2]+" 5 1", known[3]+" 1 1")
		extract(func() {}, second)
		decided("extracted again", known[1]+" 2 1", known[2]+" 5 1", known[3]+" 1 1", known[4]+" 2 0.6")
		with := one.must(200, "GET", r.path+"?include=reviews", "")
		with.want("reviews.1.extracted", map[string]any{"level": 4, "confidence": 0.7})
		with.want("reviews.2.extracted", nil)

		// A failure, and the way out of it.
		restart()
		extract(func() {}, &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.DocumentNotFound, Message: "not there"}})
		decided("FAILED", known[1]+" 2 1", known[2]+" 5 1", known[3]+" 1 1", known[4]+" 2 0.6")
		s.clock.Add(10)
		if name == "section" {
			one.must(200, "PATCH", r.path, `{"syllabusHref":"https://example.org/c"}`)
		} else {
			one.must(202, "POST", r.path+"/retry", "")
		}
		one.must(200, "PUT", at(5), `{"verdict":"REJECTED"}`) // while it waits
		extract(func() {
			one.must(200, "PUT", at(4), `{"verdict":"REJECTED"}`) // while it runs
			one.must(204, "DELETE", at(0), "")
		}, resultOf(found(known[0], 3, 0.8), found(known[4], 2, 0.6), found(known[5], 2, 0.6)))
		count = 5
		decided("reviewed meanwhile", known[0]+" 3 0.8", known[1]+" 2 1", known[2]+" 5 1", known[3]+" 1 1")
	}

	// Another taxonomy, which has none of the skills.
	records := reviewed(s, known)
	for _, r := range records {
		one.must(200, "PUT", r.path+"/skills/"+known[0]+"/review", `{"verdict":"ACCEPTED","level":5}`)
		one.must(200, "PUT", r.path+"/skills/"+known[1]+"/review", `{"verdict":"REJECTED"}`)
	}
	taxonomy := otherTaxonomy(t)
	s.server.Taxonomy = func() *skills.Taxonomy { return taxonomy }
	one.must(404, "GET", "/skills/"+known[0], "")
	for name, r := range records {
		at := func(id string) string { return r.path + "/skills/" + id + "/review" }
		record, err := s.store.Reload(t.Context(), recordOf(r.job))
		if err != nil {
			t.Fatal(err)
		}
		names := one.must(200, "GET", r.path+"?include=reviews", "")
		s.clock.Add(10)
		before := catalog.Copy(record)
		*catalog.ExtractionOf(record) = catalog.Extraction{ProcessingStatus: catalog.Pending}
		var change catalog.Change
		change.Replace(before, record, s.clock.Now())
		if err := s.store.Commit(t.Context(), "org_one", &change); err != nil {
			t.Fatal(err)
		}
		r.job.RequestedAt = 0
		s.finish(r.job, resultOf(found("other:a", 2, 0.5)))
		after := one.must(200, "GET", r.path+"?include=reviews", "")
		after.wantSkills("other:a 2 0.5", known[0]+" 5 1")
		for i := range 2 {
			after.want(fmt.Sprintf("reviews.%d.skillName", i), names.get(fmt.Sprintf("reviews.%d.skillName", i)))
		}
		// The record still knows them; a third nobody knows.
		one.must(200, "PUT", at(known[1]), `{"verdict":"ACCEPTED","level":2}`).wantSkills("other:a 2 0.5", known[0]+" 5 1", known[1]+" 2 1")
		one.must(404, "PUT", at(known[2]), `{"verdict":"ACCEPTED","level":2}`)
		one.must(204, "DELETE", at(known[1]), "")
		one.must(404, "PUT", at(known[1]), `{"verdict":"ACCEPTED","level":2}`)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// otherTaxonomy returns a taxonomy of one skill that the starter vocabulary lacks.
func otherTaxonomy(t *testing.T) *skills.Taxonomy {
	t.Helper()
	var b skills.Builder
	if err := b.AddCSV(skills.Info{Name: "Other", Version: "1"}, strings.NewReader("id,name\nother:a,Weaving\n")); err != nil {
		t.Fatal(err)
	}
	compiled, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		t.Fatal(err)
	}
	return taxonomy
}

// recordOf names the record of a job.
func recordOf(job catalog.ExtractionJob) catalog.Record {
	if job.Kind == catalog.SectionKind {
		return &catalog.Section{Meta: catalog.Meta{ID: job.ID, OrganizationID: job.OrganizationID}}
	}
	return &catalog.TransferCourse{Meta: catalog.Meta{ID: job.ID, OrganizationID: job.OrganizationID}, PackageID: job.PackageID}
}

// Reviews of one record that come at the same time, with an extraction that ends
// among them: none is lost.
func TestReviewsAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const n = 12
	known := s.one.known(n)
	other := s.function()
	records := reviewed(s, known)
	for _, r := range records {
		job := r.job
		job.RequestedAt = 0
		restart := func() error {
			record, err := s.store.Reload(t.Context(), recordOf(job))
			if err != nil {
				return err
			}
			before := catalog.Copy(record)
			*catalog.ExtractionOf(record) = catalog.Extraction{ProcessingStatus: catalog.Pending}
			var change catalog.Change
			change.Replace(before, record, s.clock.Now())
			return s.store.Commit(t.Context(), "org_one", &change)
		}
		err := restart()
		for errors.Is(err, catalog.ErrStale) { // the other function has filled the page of the change feed
			err = restart()
		}
		if err != nil {
			t.Fatal(err)
		}
		task, err := s.store.Claim(t.Context(), job, "run_1", s.clock.Now()+1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range n {
			from := []client{s.one, other.one}[i%2]
			all.Go(func() {
				if got := from.do("PUT", r.path+"/skills/"+known[i]+"/review", `{"verdict":"ACCEPTED","level":4}`); got.Status != 200 {
					t.Errorf("%s: status %d: %s", got.call, got.Status, got.Body)
				}
			})
		}
		all.Go(func() {
			if err := s.store.Finish(t.Context(), task, resultOf(found(known[0], 1, 0.5), found("core:nothing", 1, 0.5))); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		got := s.one.must(200, "GET", r.path+"?include=reviews", "")
		if reviews := len(got.get("reviews").([]any)); reviews != n {
			t.Errorf("%d reviews of %d are left", reviews, n)
		}
		want := []string{"core:nothing 1 0.5"}
		for _, id := range known {
			want = append(want, id+" 4 1")
		}
		got.wantSkills(want...)
		got.want("processingStatus", "COMPLETED")
	}
}

// Everything that uses skills uses the reviewed ones, at once.
func TestReviewsAreUsedEverywhere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	known := one.known(3)
	records := reviewed(s, known)
	section, transfer := records["section"], records["transfer course"]
	course := strings.Split(section.path, "/")[2]
	job := one.must(201, "POST", "/jobs", fmt.Sprintf(`{"name":"J","employerId":"e","skills":[{"skillId":%q,"level":5}]}`, known[0])).text("id")
	report := one.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":[%q],"jobs":[{"id":%q,"lib":"custom"}]}}`, course, job)).text("report.id")
	credential := one.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q]}`, section.job.ID)).text("id")
	state := func() map[string]any {
		t.Helper()
		generated := one.must(200, "GET", "/reports/"+report, "")
		match := one.must(200, "POST", transfer.path+"/equivalencies", "")
		built := one.must(200, "POST", "/credential-builder", fmt.Sprintf(`{"jobIdentifiers":[{"id":%q,"lib":"custom"}],"weights":{"sectionCountPenalty":0}}`, job))
		shown := one.must(200, "GET", "/credentials/"+credential, "")
		list := one.must(200, "GET", strings.TrimSuffix(transfer.path, "/"+transfer.job.ID), "")
		return map[string]any{
			"report": generated.get("data.0.score"), "section of the report": generated.get("lookupData.sectionProfiles.0.sectionSkills.0.skillId"),
			"equivalencies": match.get("matches.0.skillsMatchScore"), "builder": built.get("coverage"),
			"credential": len(shown.get("sections.0.sectionSkills").([]any)), "transfer courses": len(list.get("0.skills").([]any)),
		}
	}
	before := state()
	if diff := cmp.Diff(map[string]any{
		"report": 0.6, "section of the report": known[0], "equivalencies": 1.0, "builder": 0.6, "credential": 3, "transfer courses": 3,
	}, before); diff != "" {
		t.Fatalf("before reviews (-want +got): %s", diff)
	}
	one.must(200, "PUT", section.path+"/skills/"+known[0]+"/review", `{"verdict":"ACCEPTED","level":5}`)
	one.must(200, "PUT", section.path+"/skills/"+known[1]+"/review", `{"verdict":"REJECTED"}`)
	one.must(200, "PUT", transfer.path+"/skills/"+known[2]+"/review", `{"verdict":"REJECTED"}`)
	// The transfer course covers 3/5 of what has weight 1, nothing of what has 0.25.
	if diff := cmp.Diff(map[string]any{
		"report": 1.0, "section of the report": known[0], "equivalencies": 0.48, "builder": 1.0, "credential": 2, "transfer courses": 2,
	}, state()); diff != "" {
		t.Errorf("after reviews (-want +got): %s", diff)
	}
	for _, at := range []string{section.path + "/skills/" + known[0], section.path + "/skills/" + known[1], transfer.path + "/skills/" + known[2]} {
		one.must(204, "DELETE", at+"/review", "")
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("without reviews again (-want +got): %s", diff)
	}
}

// As many reviews as a record takes, with notes as long as they may be, and no more.
func TestReviewsHaveRoom(t *testing.T) {
	t.Parallel()
	s := newService(t)
	known := s.one.known(3)
	words := strings.Fields("the course teaches how to plan build test and explain small programs in week two of its syllabus but not why or for whom " +
		"our faculty met in spring and found that students read about regression without ever using it so we hold it for a topic rather than a skill")
	random := rand.New(rand.NewPCG(1, 2))
	note := func() string {
		var text strings.Builder
		for text.Len() < 1000 {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		return strings.TrimSpace(text.String()[:1000])
	}
	for name, r := range reviewed(s, known) {
		record, err := s.store.Reload(t.Context(), recordOf(r.job))
		if err != nil {
			t.Fatal(err)
		}
		before := catalog.Copy(record)
		lookups := catalog.Lookups{At: "body", SkillName: func(id string) (string, bool) { return "Skill " + id, true }}
		for i := range catalog.MaxReviews {
			in := catalog.ReviewInput{Verdict: catalog.Accepted, Level: catalog.Optional[*int]{Set: true, Value: new(1 + i%5)}, Note: catalog.Optional[*string]{Set: true, Value: new(note())}}
			if err := in.Apply(record.(catalog.Reviewed), fmt.Sprintf("esco:%032d", i), "key_1", lookups, s.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		var change catalog.Change
		change.Replace(before, record, s.clock.Now())
		if err := s.store.Commit(t.Context(), "org_one", &change); err != nil {
			t.Fatalf("%s with %d reviews: %v", name, catalog.MaxReviews, err)
		}
		full := s.one.must(409, "PUT", r.path+"/skills/"+known[0]+"/review", `{"verdict":"REJECTED"}`)
		full.want("code", "conflict")
		s.one.must(200, "PUT", r.path+"/skills/esco:"+strings.Repeat("0", 32)+"/review", `{"verdict":"REJECTED"}`)
		s.one.must(204, "DELETE", r.path+"/skills/esco:"+strings.Repeat("0", 32)+"/review", "")
		s.one.must(200, "PUT", r.path+"/skills/"+known[0]+"/review", `{"verdict":"REJECTED"}`)
		if got := len(s.one.must(200, "GET", r.path+"?include=reviews", "").get("reviews").([]any)); got != catalog.MaxReviews {
			t.Errorf("%s has %d reviews", name, got)
		}
	}
}

// Notes that no compression shortens reach the bound of a row before there are 500
// reviews: that is a conflict, and what was there stands.
func TestReviewsBeyondTheirRow(t *testing.T) {
	t.Parallel()
	s := newService(t)
	known := s.one.known(100)
	random := rand.New(rand.NewPCG(1, 2))
	note := func() string {
		text := make([]byte, 1000)
		for i := range text {
			text[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[random.IntN(62)]
		}
		return string(text)
	}
	for name, r := range reviewed(s, known) {
		record, err := s.store.Reload(t.Context(), recordOf(r.job))
		if err != nil {
			t.Fatal(err)
		}
		const begun = 260
		before := catalog.Copy(record)
		lookups := catalog.Lookups{At: "body", SkillName: func(id string) (string, bool) { return "Skill " + id, true }}
		for i := range begun {
			in := catalog.ReviewInput{Verdict: catalog.Accepted, Level: catalog.Optional[*int]{Set: true, Value: new(3)}, Note: catalog.Optional[*string]{Set: true, Value: new(note())}}
			if err := in.Apply(record.(catalog.Reviewed), fmt.Sprintf("esco:%032d", i), "key_1", lookups, s.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		var change catalog.Change
		change.Replace(before, record, s.clock.Now())
		if err := s.store.Commit(t.Context(), "org_one", &change); err != nil {
			t.Fatal(err)
		}
		reviews := begun
		for status := 200; status == 200 && reviews < begun+len(known); {
			response := s.one.do("PUT", r.path+"/skills/"+known[reviews-begun]+"/review", `{"verdict":"ACCEPTED","level":2,"note":"`+note()+`"}`)
			if status = response.Status; status == 200 {
				reviews++
			} else if response.Status != 409 {
				t.Fatalf("%s with %d reviews: %d", name, reviews, response.Status)
			}
		}
		if got := len(s.one.must(200, "GET", r.path+"?include=reviews", "").get("reviews").([]any)); got != reviews || got == begun+len(known) {
			t.Errorf("%s has %d reviews of %d", name, got, reviews)
		}
	}
}
