package rest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

const python, sql = "core:python", "core:sql"

// outcomesOf is the job that reads the outcomes of a course or program.
func outcomesOf(owner string) catalog.ExtractionJob {
	return catalog.ExtractionJob{OrganizationID: "org_one", Kind: catalog.OutcomeListKind, ID: catalog.OutcomeListID(owner)}
}

// read finishes the reading of outcomes: each statement has one skill at level 3, with a verb.
func (s *service) read(owner, skill string) {
	s.t.Helper()
	task, err := s.store.Claim(s.t.Context(), outcomesOf(owner), ids.New("run_"), s.clock.Now()+1000)
	if err == nil {
		err = s.store.Finish(s.t.Context(), task, statements(task, skill))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func statements(task *catalog.Task, skill string) *catalog.ExtractionResult {
	result := &catalog.ExtractionResult{
		Statements: map[string]catalog.StatementResult{}, Provenance: catalog.Provenance{Engine: "engine", Source: catalog.FromOutcomes},
	}
	for _, o := range task.Outcomes.Outcomes {
		if o.Unread {
			result.Statements[o.ID] = catalog.StatementResult{
				Statement: o.Statement, Skills: []catalog.SkillRef{found(skill, 3, .8)}, Level: 3, LevelSource: catalog.VerbLevel, Verb: new("Write"),
				Evidence: []catalog.Evidence{{SkillID: skill, Quote: o.Statement[:2], End: 2, Page: 1, Label: "it", Verb: "Write", Section: "outcomes"}},
			}
		}
	}
	return result
}

func TestOutcomesAreReadAndKept(t *testing.T) {
	s := newService(t)
	course := s.one.course("Python")
	id, section := course.text("id"), course.text("defaultSectionId")
	path := "/courses/" + id + "/outcomes"
	empty := s.one.must(200, "GET", path, "")
	empty.want("outcomes", []any{})
	empty.want("processingStatus", "COMPLETED")
	empty.want("failure", nil)
	empty.want("extraction", nil)
	empty.want("courseId", id)
	empty.want("updatedAt", course.get("updatedAt"))

	s.clock.Add(10)
	written := s.one.must(202, "PUT", path, `{"outcomes":[
		{"code":"CLO 1","statement":" Write programs in Python ","alignments":[{"type":"EXACT","uri":"urn:outcome:x"}]},
		{"code":"CLO 2","statement":"Write tests","level":5,"parentCode":"clo 1"},
		{"statement":"Be kind","level":1,"skills":[{"skillId":"core:sql","level":4}]}]}`)
	written.want("processingStatus", "PENDING")
	written.want("outcomes.0.statement", "Write programs in Python")
	written.want("outcomes.0.level", 2)
	written.want("outcomes.0.levelSource", "NONE")
	written.want("outcomes.1.levelSource", "GIVEN")
	written.want("outcomes.1.parentId", written.text("outcomes.0.id"))
	written.want("outcomes.2.skills", []any{map[string]any{"confidence": 1, "level": 4, "skillId": "core:sql", "skillName": "SQL"}})
	written.want("outcomes.2.skillsSource", "GIVEN")
	if cost := written.header("X-RateLimit-Cost"); cost != "4" {
		t.Errorf("it costs %s, want 4: two statements are read", cost)
	}
	if after := s.one.must(200, "GET", "/courses/"+id, ""); after.text("updatedAt") == course.text("updatedAt") {
		t.Error("the course's updatedAt has not moved")
	}
	waiting := s.one.must(200, "GET", "/courses/"+id+"/sections/"+section, "")
	waiting.want("processingStatus", "PENDING")

	s.clock.Add(10)
	s.read(id, python)
	done := s.one.must(200, "GET", path+"?include=evidence,reviews", "")
	done.want("processingStatus", "COMPLETED")
	done.want("outcomes.0.levelSource", "VERB")
	done.want("outcomes.0.verb", "Write")
	done.want("outcomes.0.skills.0.skillId", python)
	done.want("outcomes.0.evidence.0.quote", "Wr")
	done.want("outcomes.0.reviews", []any{})
	done.want("outcomes.1.level", 5)
	done.want("outcomes.1.levelSource", "GIVEN")
	done.want("outcomes.2.evidence", []any{})
	done.want("extraction.source", "OUTCOMES")
	followed := s.one.must(200, "GET", "/courses/"+id+"/sections/"+section+"?include=evidence", "")
	followed.want("processingStatus", "COMPLETED")
	followed.want("extraction.source", "OUTCOMES")
	if got := fmt.Sprint(followed.taught()); got != "[core:python 3 0.8 core:sql 4 1]" {
		t.Errorf("the section teaches %s", got)
	}

	// A kept statement stays as it was read; a changed one keeps its id and what was given.
	again := s.one.must(202, "PUT", path, fmt.Sprintf(`{"outcomes":[
		{"id":%q,"statement":"Be very kind"},
		{"statement":"Write programs in Python"},
		{"code":"clo 2","statement":"Write good tests"}]}`, done.text("outcomes.2.id")))
	again.want("outcomes.0.id", done.text("outcomes.2.id"))
	again.want("outcomes.0.skillsSource", "GIVEN")
	again.want("outcomes.1.id", done.text("outcomes.0.id"))
	again.want("outcomes.1.skills.0.skillId", python)
	again.want("outcomes.1.code", nil)
	again.want("outcomes.1.alignments", []any{})
	again.want("outcomes.2.id", done.text("outcomes.1.id"))
	again.want("outcomes.2.skills", []any{})
	again.want("outcomes.2.level", 5)
	if cost := again.header("X-RateLimit-Cost"); cost != "3" {
		t.Errorf("it costs %s, want 3: one changed statement is read", cost)
	}
	s.read(id, sql)
	s.one.must(200, "PUT", path, `{"outcomes":[]}`).want("processingStatus", "COMPLETED")
	s.one.must(200, "GET", "/courses/"+id+"/sections/"+section, "").want("processingStatus", "COMPLETED")
	s.one.must(204, "DELETE", "/courses/"+id, "")
	s.one.must(404, "GET", path, "")
}

// Skills that were all given were never extracted: the section that takes them says when they were written.
func TestGivenOutcomesOfASection(t *testing.T) {
	s := newService(t)
	course := s.one.course("Python")
	list := s.one.must(200, "PUT", "/courses/"+course.text("id")+"/outcomes",
		`{"outcomes":[{"statement":"Be\r\nkind","level":1,"skills":[{"skillId":"core:sql","level":4}]}]}`)
	list.want("outcomes.0.statement", "Be\nkind") // as a table holds it, so that an import of an export changes nothing
	section := s.one.must(200, "GET", "/courses/"+course.text("id")+"/sections/"+course.text("defaultSectionId")+"?include=evidence", "")
	section.want("extraction.source", "OUTCOMES")
	section.want("extraction.finishedAt", list.text("updatedAt"))
}

func TestOutcomesThatAreRefused(t *testing.T) {
	s := newService(t)
	id := s.one.course("Python").text("id")
	path := "/courses/" + id + "/outcomes"
	first := s.one.must(202, "PUT", path, `{"outcomes":[{"code":"A","statement":"One"}]}`).text("outcomes.0.id")
	long := strings.Repeat("x", 2000)
	many := func(n int, statement string) string {
		return `{"outcomes":[` + strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"statement":%q},`, statement), n), ",") + `]}`
	}
	for body, where := range map[string]string{
		`{}`:                                "body.outcomes",
		`{"outcomes":null}`:                 "body.outcomes",
		`{"outcomes":[{}]}`:                 "body.outcomes[0].statement",
		`{"outcomes":[{"statement":"  "}]}`: "body.outcomes[0].statement",
		`{"outcomes":[{"statement":"a","name":"b"}]}`:                                                                                                                                "body.outcomes[0].name",
		`{"outcomes":[{"statement":"a","level":6}]}`:                                                                                                                                 "body.outcomes[0].level",
		`{"outcomes":[{"statement":"a","skills":[{"skillId":"no","level":1}]}]}`:                                                                                                     "body.outcomes[0].skills[0].skillId",
		`{"outcomes":[{"statement":"a","skills":[{"skillId":"core:sql"}]}]}`:                                                                                                         "body.outcomes[0].skills[0].level",
		`{"outcomes":[{"statement":"a","code":"x"},{"statement":"b","code":"X"}]}`:                                                                                                   "body.outcomes[1].code",
		`{"outcomes":[{"statement":"a","id":"out_1"}]}`:                                                                                                                              "body.outcomes[0].id",
		fmt.Sprintf(`{"outcomes":[{"statement":"a","id":%q},{"statement":"b","id":%q}]}`, first, first):                                                                              "body.outcomes[1].id",
		`{"outcomes":[{"statement":"a","parentCode":"x"},{"statement":"b","code":"x"}]}`:                                                                                             "body.outcomes[0].parentCode",
		fmt.Sprintf(`{"outcomes":[{"statement":"a","parentId":%q},{"statement":"One"}]}`, first):                                                                                     "body.outcomes[0].parentId",
		fmt.Sprintf(`{"outcomes":[{"statement":"One","parentId":%q}]}`, first):                                                                                                       "body.outcomes[0].parentId",
		fmt.Sprintf(`{"outcomes":[{"statement":"One","code":"A"},{"statement":"b","parentId":%q,"parentCode":"A"}]}`, first):                                                         "body.outcomes[1].parentCode",
		`{"outcomes":[{"statement":"a","code":"1"},{"statement":"b","code":"2","parentCode":"1"},{"statement":"c","code":"3","parentCode":"2"},{"statement":"d","parentCode":"3"}]}`: "body.outcomes[3].parentCode",
		`{"outcomes":[{"statement":"a","alignments":[{"type":"EXACT","uri":"http://example.org/"}]}]}`:                                                                               "body.outcomes[0].alignments[0].uri",
		`{"outcomes":[{"statement":"a","alignments":[{"type":"SAME","uri":"urn:x:y"}]}]}`:                                                                                            "body.outcomes[0].alignments[0].type",
		`{"outcomes":[{"statement":"a\u0000b"}]}`:                                                                                                                                    "body.outcomes[0].statement",
		`{"outcomes":[{"statement":"a","code":"1\n2"}]}`:                                                                                                                             "body.outcomes[0].code",
		many(101, "a"): "body.outcomes[100]",
		many(150, "a"): "body.outcomes[100]",
		many(31, long): "body.outcomes[30].statement",
	} {
		r := s.one.must(422, "PUT", path, body)
		if got := r.locations(); got != where {
			t.Errorf("%.120s: %s, want %s: %.300s", body, got, where, r.Body)
		}
	}
	s.one.must(404, "PUT", "/courses/crs_none/outcomes", `{"outcomes":[]}`)
	s.two.must(404, "GET", path, "")
	s.reader.must(403, "PUT", path, `{"outcomes":[]}`)
	s.one.must(202, "PUT", path, many(30, long))
	s.one.must(202, "PUT", path, many(100, "a"))
}

// A PUT while statements are read supersedes the reading: its result is dropped.
func TestOutcomesSupersedeTheirReading(t *testing.T) {
	s := newService(t)
	program := s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
	path := "/programs/" + program + "/outcomes"
	s.one.must(202, "PUT", path, `{"outcomes":[{"statement":"One"},{"statement":"Two"}]}`).want("programId", program)
	task, err := s.store.Claim(t.Context(), outcomesOf(program), "run", s.clock.Now()+1000)
	if err != nil {
		t.Fatal(err)
	}
	s.one.must(200, "GET", path, "").want("processingStatus", "PROCESSING")
	s.one.must(202, "PUT", path, `{"outcomes":[{"statement":"Two"},{"statement":"Three"}]}`)
	if err := s.store.Finish(t.Context(), task, statements(task, sql)); err != catalog.ErrFinished {
		t.Errorf("the superseded run: %v", err)
	}
	s.one.must(200, "GET", path, "").want("outcomes.0.skills", []any{})
	s.read(program, python)
	done := s.one.must(200, "GET", path, "")
	done.want("outcomes.0.skills.0.skillId", python)
	done.want("outcomes.1.skills.0.skillId", python)
	before := s.one.must(200, "GET", "/programs/"+program, "").text("updatedAt")
	s.one.must(200, "PUT", path, `{"outcomes":[{"statement":"Two"},{"statement":"Three"}]}`).want("updatedAt", done.get("updatedAt"))
	if after := s.one.must(200, "GET", "/programs/"+program, "").text("updatedAt"); after != before {
		t.Error("an unchanged list changes its program")
	}
	s.one.must(412, "PUT", path, `{"outcomes":[]}`, "If-Match", `"old"`)
	s.one.must(200, "PUT", path, `{"outcomes":[]}`, "If-Match", done.header("ETag"))
	s.one.must(204, "DELETE", "/programs/"+program, "")
}

func TestSkillsOfOutcomesAreReviewed(t *testing.T) {
	s := newService(t)
	course := s.one.course("Python")
	id := course.text("id")
	path := "/courses/" + id + "/outcomes"
	outcome := s.one.must(202, "PUT", path, `{"outcomes":[{"statement":"One"}]}`).text("outcomes.0.id")
	s.read(id, python)
	tag := s.one.must(200, "GET", path, "").header("ETag")
	review := path + "/" + outcome + "/skills/" + python + "/review"
	s.one.must(412, "PUT", review, `{"verdict":"REJECTED"}`, "If-Match", `"old"`)
	s.one.must(200, "PUT", review, `{"verdict":"REJECTED"}`, "If-Match", tag).want("skills", []any{})
	s.one.must(404, "PUT", path+"/out_none/skills/"+python+"/review", `{"verdict":"REJECTED"}`)
	added := s.one.must(200, "PUT", path+"/"+outcome+"/skills/"+sql+"/review", `{"verdict":"ACCEPTED","level":4}`)
	added.want("id", outcome)
	added.want("skills.0.skillId", sql)
	if got := fmt.Sprint(s.one.must(200, "GET", "/courses/"+id+"/sections/"+course.text("defaultSectionId"), "").taught()); got != "[core:sql 4 1]" {
		t.Errorf("the section teaches %s", got)
	}
	shown := s.one.must(200, "GET", path+"?include=reviews,evidence", "")
	shown.want("outcomes.0.reviews.0.skillId", python)
	shown.want("outcomes.0.evidence", []any{})
	// They outlive another reading of a changed statement.
	s.one.must(202, "PUT", path, fmt.Sprintf(`{"outcomes":[{"id":%q,"statement":"Two"}]}`, outcome))
	s.read(id, python)
	s.one.must(200, "GET", path, "").want("outcomes.0.skills.0.skillId", sql)
	s.one.must(204, "DELETE", review, "")
	s.one.must(204, "DELETE", review, "")
	s.one.must(200, "GET", path, "").want("outcomes.0.skills.1.skillId", python)
	s.one.must(404, "DELETE", path+"/"+outcome+"/skills/none/review", "")
}

func TestOutcomesAreFoundBySkill(t *testing.T) {
	s := newService(t)
	given := func(statement string, level int) string {
		return fmt.Sprintf(`{"statement":%q,"level":1,"skills":[{"skillId":"core:sql","level":%d}]}`, statement, level)
	}
	b := s.one.must(201, "POST", "/courses", `{"name":"B","code":"B 1"}`).text("id")
	a := s.one.must(201, "POST", "/programs", `{"name":"A"}`).text("id")
	s.one.must(200, "GET", "/outcomes?skillId=core:sql", "").want("pagination.total", 0)
	s.one.must(200, "PUT", "/courses/"+b+"/outcomes", `{"outcomes":[`+given("one", 2)+`,`+given("two", 4)+`]}`)
	s.one.must(200, "PUT", "/programs/"+a+"/outcomes", `{"outcomes":[`+given("three", 3)+`]}`)
	found := func(query, want string) reply {
		t.Helper()
		r := s.one.must(200, "GET", "/outcomes?skillId=core:sql"+query, "")
		var got []string
		for i := range len(r.get("data").([]any)) {
			got = append(got, r.text(fmt.Sprintf("data.%d.name", i))+" "+r.text(fmt.Sprintf("data.%d.outcome.statement", i)))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q finds %v, want %s", query, got, want)
		}
		return r
	}
	all := found("", "A three, B one, B two")
	all.want("data.0.programId", a)
	all.want("data.0.code", nil)
	all.want("data.1.courseId", b)
	all.want("data.1.code", "B 1")
	found("&level=3", "A three, B two")
	found("&limit=1&offset=1", "B one").want("pagination.total", 3)
	found("&offset=9", "").want("pagination.hasMore", false)
	s.one.must(200, "PATCH", "/programs/"+a, `{"name":"C"}`)
	s.one.must(200, "PUT", "/courses/"+b+"/outcomes", `{"outcomes":[`+given("two", 4)+`]}`)
	found("", "B two, C three")
	s.one.must(204, "DELETE", "/courses/"+b, "")
	found("", "C three")
	s.two.must(200, "GET", "/outcomes?skillId=core:sql", "").want("pagination.total", 0)
	s.one.must(404, "GET", "/outcomes?skillId=none", "")
	s.one.must(400, "GET", "/outcomes", "")
	s.one.must(400, "GET", "/outcomes?skillId=core:sql&level=6", "")
}

// PUTs that supersede each other's readings at random never mix lists: an outcome has the skill of its own statement or
// none, and the list is the one that was written last.
func TestOutcomesNeverMix(t *testing.T) {
	s := newService(t)
	course := s.one.course("Python")
	id := course.text("id")
	path := "/courses/" + id + "/outcomes"
	skills := s.one.known(8)
	random := rand.New(rand.NewPCG(1, 2))
	var tasks []*catalog.Task
	var last []int
	finished := 0
	for range 150 {
		switch random.IntN(4) {
		case 0:
			last = random.Perm(len(skills))[:random.IntN(5)]
			var items []string
			for _, n := range last {
				items = append(items, fmt.Sprintf(`{"statement":"Statement %d"}`, n))
			}
			if r := s.one.do("PUT", path, `{"outcomes":[`+strings.Join(items, ",")+`]}`); r.Status != 200 && r.Status != 202 {
				t.Fatalf("status %d: %s", r.Status, r.Body)
			}
		case 1:
			if task, err := s.store.Claim(t.Context(), outcomesOf(id), ids.New("run_"), s.clock.Now()+50); err == nil {
				tasks = append(tasks, task)
			}
		case 2:
			s.clock.Add(random.IntN(100)) // a lease may end
		case 3:
			if len(tasks) == 0 {
				continue
			}
			i := random.IntN(len(tasks))
			result := &catalog.ExtractionResult{Statements: map[string]catalog.StatementResult{}}
			for _, o := range tasks[i].Outcomes.Outcomes {
				var n int
				fmt.Sscanf(o.Statement, "Statement %d", &n)
				result.Statements[o.ID] = catalog.StatementResult{Statement: o.Statement, Skills: []catalog.SkillRef{found(skills[n], 3, .8)}, Level: 3, LevelSource: catalog.VerbLevel}
			}
			err := s.store.Finish(t.Context(), tasks[i], result)
			if err == nil {
				finished++
			} else if !errors.Is(err, catalog.ErrFinished) {
				t.Fatal(err)
			}
			tasks = slices.Delete(tasks, i, i+1)
		}
		now := s.one.must(200, "GET", path, "")
		var unions []string
		for i, n := range last {
			at := fmt.Sprintf("outcomes.%d.", i)
			now.want(at+"statement", fmt.Sprintf("Statement %d", n))
			if len(now.get(at+"skills").([]any)) > 0 {
				now.want(at+"skills.0.skillId", skills[n])
				unions = append(unions, skills[n]+" 3 0.8")
			} else if now.text("processingStatus") == "COMPLETED" {
				t.Fatalf("completed without a skill of Statement %d: %s", n, now.Body)
			}
		}
		slices.Sort(unions)
		section := s.one.must(200, "GET", "/courses/"+id+"/sections/"+course.text("defaultSectionId"), "")
		if got := section.taught(); len(last) > 0 && !slices.Equal(got, unions) {
			t.Fatalf("the section teaches %v, the outcomes %v", got, unions)
		}
	}
	if finished < 5 {
		t.Errorf("only %d readings ended", finished)
	}
}

// The largest list fits: 100 outcomes of 60,000 characters that do not compress, each with the skills that are extracted
// at most, and alignments; its evidence is stored apart.
func TestLargestOutcomes(t *testing.T) {
	s := newService(t)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		letters := make([]rune, n)
		for i := range letters {
			letters[i] = rune(0x4e00 + random.IntN(0x5000)) // three bytes each
		}
		return string(letters)
	}
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(`{"code":"%s%d","statement":%q,"alignments":[{"type":"EXACT","uri":"https://example.org/%x"}]}`, text(40), i, text(600), random.Uint64()))
	}
	id := s.one.course("Python").text("id")
	path := "/courses/" + id + "/outcomes"
	s.one.must(202, "PUT", path, `{"outcomes":[`+strings.Join(items, ",")+`]}`)
	task, err := s.store.Claim(t.Context(), outcomesOf(id), "run", s.clock.Now()+1000)
	if err != nil {
		t.Fatal(err)
	}
	result := &catalog.ExtractionResult{Statements: map[string]catalog.StatementResult{}}
	for _, o := range task.Outcomes.Outcomes {
		read := catalog.StatementResult{Statement: o.Statement, Level: 3, LevelSource: catalog.VerbLevel}
		for range 30 {
			skill := catalog.SkillRef{SkillID: fmt.Sprintf("esco:%016x", random.Uint32N(500)), SkillName: fmt.Sprintf("manage %d of the many skills", random.IntN(500)), Level: 3, Confidence: float64(random.IntN(10_000)) / 10_000}
			read.Skills = append(read.Skills, skill)
			read.Evidence = append(read.Evidence, catalog.Evidence{SkillID: skill.SkillID, Quote: o.Statement[:300], Page: 1, End: 100, Label: skill.SkillName, Section: "outcomes"})
		}
		result.Statements[o.ID] = read
	}
	if err := s.store.Finish(t.Context(), task, result); err != nil {
		t.Fatal(err)
	}
	whole := s.one.must(200, "GET", path+"?include=evidence", "")
	whole.want("processingStatus", "COMPLETED")
	if got := len(whole.get("outcomes.99.skills").([]any)); got != 30 {
		t.Errorf("%d skills", got)
	}
	if got := len(whole.get("outcomes.99.evidence").([]any)); got < 30 {
		t.Errorf("%d pieces of evidence", got)
	}
	// What does not fit is refused before it is stored.
	for i := range items {
		items[i] = fmt.Sprintf(`{"statement":"S","alignments":[{"type":"EXACT","uri":"urn:x:%s"}]}`, text(1900))
	}
	r := s.one.must(422, "PUT", path, `{"outcomes":[`+strings.Join(items, ",")+`]}`)
	if got := r.locations(); got != "body.outcomes" {
		t.Errorf("refused at %s", got)
	}
}

func TestOutcomesHaveCTIDs(t *testing.T) {
	s := newService(t)
	id := s.one.course("Python").text("id")
	path, other := "/courses/"+id+"/outcomes", "/courses/"+s.one.course("Other").text("id")+"/outcomes"
	ctid := func(n int) string { return fmt.Sprintf("ce-00000000-0000-4000-8000-%012d", n) }
	of := func(list, outcome int) string {
		return fmt.Sprintf(`{"ctid":%q,"outcomes":[{"code":"A","statement":"One","level":1,"skills":[],"ctid":%q}]}`, ctid(list), ctid(outcome))
	}
	derived := s.one.must(200, "GET", path, "").text("ctid")
	plain := s.one.must(200, "PUT", path, `{"outcomes":[{"code":"A","statement":"One","level":1,"skills":[]}]}`)
	plain.want("ctid", derived)
	plain.want("outcomes.0.ctid", catalog.DerivedCTID(plain.text("outcomes.0.id")))
	set := s.one.must(200, "PUT", path, of(1, 2))
	set.want("ctid", ctid(1))
	set.want("outcomes.0.ctid", ctid(2))
	s.one.must(200, "PUT", path, of(1, 2)).want("updatedAt", set.get("updatedAt"))
	for body, where := range map[string]string{
		of(1, 3): "body.outcomes[0].ctid", of(4, 2): "body.ctid",
	} {
		if got := s.one.must(409, "PUT", path, body).locations(); got != where {
			t.Errorf("%s: refused at %s, want %s", body, got, where)
		}
	}
	if got := s.one.must(409, "PUT", other, of(5, 2)).locations(); got != "body.outcomes[0].ctid" {
		t.Errorf("refused at %s", got)
	}
	if got := s.one.must(409, "POST", "/courses", fmt.Sprintf(`{"name":"N","code":"C","ctid":%q}`, ctid(2))).locations(); got != "body.ctid" {
		t.Errorf("refused at %s", got)
	}
	s.one.must(422, "PUT", path, `{"ctid":null,"outcomes":[]}`)
	s.one.must(422, "PUT", path, of(1, 1))
	s.one.must(200, "PUT", path, `{"outcomes":[]}`).want("ctid", ctid(1))
	s.one.must(200, "PUT", other, of(5, 2)) // the outcome that had it is gone
}

func TestFoundOutcomesAreAdopted(t *testing.T) {
	s := newService(t)
	course := s.one.course("Python").text("id")
	path := "/courses/" + course + "/outcomes"
	section := s.one.must(201, "POST", "/courses/"+course+"/sections", `{"name":"S","syllabusHref":"http://127.0.0.1:9/a.html"}`).text("id")
	adopt := func(status int, numbers string) reply {
		t.Helper()
		return s.one.must(status, "POST", path+"/adopt", fmt.Sprintf(`{"sectionId":%q,"numbers":%s}`, section, numbers))
	}
	s.one.must(422, "POST", path+"/adopt", `{}`)
	if got := s.one.must(422, "POST", path+"/adopt", `{"sectionId":"sec_1"}`).locations(); got != "body.sectionId" {
		t.Errorf("refused at %s", got)
	}
	adopt(409, "[]")
	sentence := func(number int, code *string, statement string, start int) catalog.FoundOutcome {
		return catalog.FoundOutcome{
			Number: number, Code: code, Statement: statement, Page: 2, Start: start, End: start + len(statement),
			Level: 3, LevelSource: catalog.VerbLevel, Verb: new("Write"), SkillIDs: []string{python},
		}
	}
	result := resultOf(found(python, 3, .8), found(sql, 2, .7))
	result.Provenance.Source = catalog.FromSyllabus
	result.Evidence = []catalog.Evidence{{SkillID: python, Quote: "Python", Start: 116, End: 122, Page: 2, Label: "Python", Section: "outcomes"}}
	result.Outcomes = []catalog.FoundOutcome{
		sentence(1, new("CLO 1"), "Write programs", 50), sentence(2, new("clo 2"), "Write code with Python", 100), sentence(3, nil, "WRITE  programs ", 200),
	}
	s.finish(catalog.ExtractionJob{OrganizationID: "org_one", Kind: catalog.SectionKind, ID: section}, result)
	s.one.must(200, "PUT", path, `{"outcomes":[{"code":"CLO 2","statement":"Be kind","level":1,"skills":[]}]}`)
	if got := adopt(422, "[4]").locations(); got != "body.numbers[0]" {
		t.Errorf("refused at %s", got)
	}
	second := adopt(200, "[2]")
	second.want("processingStatus", "COMPLETED")
	second.want("outcomes.1.statement", "Write code with Python")
	second.want("outcomes.1.code", nil)
	second.want("outcomes.1.skills.0.skillId", python)
	second.want("outcomes.1.skillsSource", "EXTRACTED")
	second.want("outcomes.1.levelSource", "VERB")
	if cost := second.header("X-RateLimit-Cost"); cost != "2" {
		t.Errorf("it costs %s", cost)
	}
	all := s.one.must(200, "POST", path+"/adopt", fmt.Sprintf(`{"sectionId":%q}`, section))
	all.want("outcomes.2.statement", "Write programs")
	all.want("outcomes.2.code", "CLO 1")
	all.want("outcomes.3", absent{})
	adopt(200, "[]").want("updatedAt", all.get("updatedAt"))
	shown := s.one.must(200, "GET", path+"?include=evidence", "")
	shown.want("outcomes.1.evidence.0.start", 16)
	if tag := shown.header("ETag"); tag == "" {
		t.Error("no ETag")
	}
	s.one.must(412, "POST", path+"/adopt", fmt.Sprintf(`{"sectionId":%q}`, section), "If-Match", `"old"`)
	// A list that would exceed its bound stays as it is.
	many := make([]string, 99)
	for i := range many {
		many[i] = fmt.Sprintf(`{"statement":"S %d","level":1,"skills":[]}`, i)
	}
	full := s.one.must(200, "PUT", path, `{"outcomes":[`+strings.Join(many, ",")+`]}`)
	adopt(422, "[]")
	s.one.must(200, "GET", path, "").want("updatedAt", full.get("updatedAt"))
	// While the syllabus is extracted again, nothing is adopted.
	s.one.must(200, "PATCH", "/courses/"+course+"/sections/"+section, `{"syllabusHref":"http://127.0.0.1:9/b.html"}`)
	adopt(409, "[]")
}
