package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// catalogOf makes three courses and a program of them, and returns the program's id and the courses' ids in order.
func (s *service) catalogOf(t *testing.T, name string) (program string, courses []string) {
	t.Helper()
	upsert := func(resource string, items ...map[string]any) (ids []string) {
		r := s.call(t, client.Request{Operation: "upsertRecords", Body: map[string]any{"resource": resource, "items": items}})
		for _, result := range r["results"].([]any) {
			ids = append(ids, result.(map[string]any)["id"].(string))
		}
		return ids
	}
	courses = upsert("course",
		map[string]any{"externalId": name + "1", "code": name + " 1", "name": "Databases", "description": "Students explain SQL and relational databases."},
		map[string]any{"externalId": name + "2", "code": name + " 2", "name": "More <b>databases</b>", "description": "Students design relational databases and write SQL queries."},
		map[string]any{"externalId": name + "3", "code": name + " 3", "name": "Nursing", "description": "Students apply the nursing process."})
	program = upsert("program", map[string]any{"externalId": name, "code": name, "name": "Program " + name + " \u202e<i>", "courseExternalIds": []string{name + "1", name + "2", name + "3"}})[0]
	return program, courses
}

// statements returns the sentences of a list of outcomes, in order.
func statements(list map[string]any) (texts []string) {
	for _, o := range list["outcomes"].([]any) {
		texts = append(texts, o.(map[string]any)["statement"].(string))
	}
	return texts
}

func same(a []string, b ...string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// syllabus uploads a syllabus and makes it the one of a course's default section.
func (s *service) syllabus(t *testing.T, course, text string) {
	t.Helper()
	digest := sha256.Sum256([]byte(text))
	doc := s.call(t, client.Request{Operation: "createDocument", Body: map[string]any{"fileName": "syllabus.txt", "sizeBytes": len(text), "sha256": hex.EncodeToString(digest[:])}})
	upload := doc["upload"].(map[string]any)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, upload["url"].(string), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range upload["headers"].(map[string]any) {
		r.Header.Set(name, value.(string))
	}
	stored, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = stored.Body.Close()
	c := s.call(t, client.Request{Operation: "getCourse", IDs: []string{course}})
	s.call(t, client.Request{Operation: "updateSection", IDs: []string{course, c["defaultSectionId"].(string)}, Body: map[string]any{"documentId": doc["id"]}})
}

// A person writes the outcomes of a program, puts them in order and nests them, meets a change by somebody else, and
// adopts those of a course's syllabus.
func writesOutcomes(t *testing.T, s *service, p *browser.Page, size string) {
	program, courses := s.catalogOf(t, "W"+size)
	list := client.Request{Operation: "getProgramOutcomes", IDs: []string{program}}
	s.signIn(p, s.key, "#/programs")
	p.Shows("Program W" + size)
	look(t, p, "programs-"+size)
	p.Eval(`[...document.querySelectorAll("[data-row]")].find((e) => e.innerText.includes("W`+size+`")).click()`, nil)
	p.Shows("write the program’s outcomes")
	look(t, p, "map-none-"+size)
	p.Click("Outcomes")
	p.Shows("Nobody has written what this program promises.")
	look(t, p, "outcomes-none-"+size)
	p.Click("Write the first outcome")
	p.Until(`document.activeElement.tagName === "TEXTAREA"`)
	p.Type("Explain relational databases")
	p.Press("Enter")
	p.Until(`document.querySelectorAll("textarea").length === 2`)
	p.Until(`document.activeElement === document.querySelectorAll("textarea")[1]`)
	p.Type("Apply the nursing process")
	p.Press("Enter")
	p.Until(`document.activeElement === document.querySelectorAll("textarea")[2]`)
	p.Eval(`{ const d = new DataTransfer(); d.setData("text/plain", "1. Design relational databases\n2. Write SQL queries\n"); document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true })); }`, nil)
	p.Until(`document.querySelectorAll("textarea").length === 4`)
	p.Until(`document.activeElement === document.querySelectorAll("textarea")[3]`)
	p.Do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "ArrowUp", "modifiers": 1, "windowsVirtualKeyCode": 38}, nil)
	p.Until(`document.querySelectorAll("textarea")[2].value === "Write SQL queries" && document.activeElement === document.querySelectorAll("textarea")[2]`)
	p.Fill("Code of outcome 1", "A")
	p.Fill("Code of outcome 2", "a")
	look(t, p, "outcomes-written-"+size)
	p.Click("Save")
	p.Shows("Some outcomes are not accepted") // two codes that differ in case
	p.Shows("The code must not be repeated")
	look(t, p, "outcomes-refused-"+size)
	p.Fill("Code of a", "B")
	p.Press("g") // typed, not a shortcut
	p.Fill("Code of Bg", "B")
	p.Press("Tab")
	p.Click("Courses")
	p.Shows("Search courses")
	p.Eval(`history.back()`, nil)
	p.Shows("Not saved yet") // what was written is still there
	s.next(fault{"PUT", "/outcomes", "503"}, fault{"PUT", "/outcomes", "lost after"})
	p.Eval(browser.Named("Save")+`.focus()`, nil)
	p.Press("Enter")
	p.Shows("Saved.")
	p.Until(`!document.querySelector(".bar") && document.activeElement.tagName === "H1"`)
	p.Until(`document.querySelectorAll(".skills .badge").length >= 4 && !document.body.innerText.includes("are being read")`)
	saved := s.call(t, list)
	if got := statements(saved); !same(got, "Explain relational databases", "Apply the nursing process", "Write SQL queries", "Design relational databases") {
		t.Errorf("saved %q", got)
	}
	look(t, p, "outcomes-"+size)

	p.Eval(`document.querySelectorAll("[title='Put under the outcome above']")[3].click()`, nil)
	p.Until(`document.querySelector(".depth2 textarea")?.value === "Design relational databases"`)
	p.Fill("Statement of A", "Explain what relational databases are for")
	outcomes := saved["outcomes"].([]any)
	outcomes[1].(map[string]any)["statement"] = "Apply the whole nursing process"
	var theirs []map[string]any
	for _, o := range append(outcomes, map[string]any{"statement": hostile[:1900]}) {
		o := o.(map[string]any)
		theirs = append(theirs, map[string]any{"id": o["id"], "code": o["code"], "statement": o["statement"]})
	}
	s.call(t, client.Request{Operation: "replaceProgramOutcomes", IDs: []string{program}, Body: map[string]any{"outcomes": theirs}})
	p.Click("Save")
	p.Shows("Somebody else changed this list meanwhile")
	p.Shows("Changed: Apply the whole nursing process")
	unharmed(t, p)
	look(t, p, "outcomes-changed-"+size)
	if got := statements(s.call(t, list)); len(got) != 5 || got[0] != "Explain relational databases" {
		t.Errorf("overwritten: %.200q", got)
	}
	p.Until(`!document.body.innerText.includes("are being read")`)
	p.Click("Save")
	p.Until(`!document.querySelector(".bar")`)
	saved = s.call(t, list)
	if got := statements(saved); !same(got, "Explain what relational databases are for", "Apply the whole nursing process", "Write SQL queries", "Design relational databases", got[4]) || !strings.HasPrefix(got[4], "<img") {
		t.Errorf("merged %.300q", got)
	}
	if parent := saved["outcomes"].([]any)[3].(map[string]any)["parentId"]; parent != saved["outcomes"].([]any)[2].(map[string]any)["id"] {
		t.Errorf("parent %v", parent)
	}

	s.syllabus(t, courses[0], "Databases\n\nLearning outcomes\n1. Explain relational databases to others\n2. Write SQL queries that join tables\n3. Design an index for a slow query\n\nSchedule\nWeek 1: Tables\n")
	p.Click("Outcomes of the courses")
	p.Eval(`document.querySelector("[data-row]").click()`, nil)
	p.Shows("Found in a syllabus")
	p.Shows("Write SQL queries that join tables")
	look(t, p, "course-outcomes-"+size)
	p.Eval(`document.querySelectorAll(".found input")[2].click()`, nil)
	s.next(fault{"POST", "/outcomes/adopt", "lost after"}, fault{"POST", "/outcomes/adopt", "429"})
	p.Click("Add 2 sentences to the outcomes")
	p.Until(`document.querySelectorAll("textarea").length === 2`)
	p.Shows("In the list")
	s.once(t, "/outcomes/adopt")
	if got := statements(s.call(t, client.Request{Operation: "getCourseOutcomes", IDs: courses[:1]})); !same(got, "Explain relational databases to others", "Write SQL queries that join tables") {
		t.Errorf("adopted %q", got)
	}
	look(t, p, "course-outcomes-adopted-"+size)

	p.Click("Sign out")
	s.signIn(p, s.read, "#/programs/"+program+"/outcomes")
	p.Shows("Explain what relational databases are for")
	look(t, p, "outcomes-read-"+size)
	var offered int
	if p.Eval(`document.querySelectorAll("main textarea, main input, main select, main button").length`, &offered); offered != 0 {
		t.Errorf("a read key is offered %d changes", offered)
	}
}

// A person reads a map with its issues, marks cells by hand with the keyboard, meets a change by somebody else, compares
// with an occupation, and prints the page.
func marksMap(t *testing.T, s *service, p *browser.Page, size string) {
	program, courses := s.catalogOf(t, "M"+size)
	saved := s.call(t, client.Request{Operation: "replaceProgramOutcomes", IDs: []string{program}, Body: map[string]any{"outcomes": []map[string]any{
		{"code": "P1", "statement": "Design relational databases and write SQL queries"}, {"code": "P2", "statement": hostile[:1900]}, {"code": "P3", "statement": "Apply the nursing process"},
	}}})
	s.call(t, client.Request{Operation: "replaceCourseOutcomes", IDs: courses[1:2], Body: map[string]any{"outcomes": []map[string]any{{"statement": "Design relational databases"}}}})
	var ids []string
	for _, o := range saved["outcomes"].([]any) {
		ids = append(ids, o.(map[string]any)["id"].(string))
	}
	cell := func(outcome, course int) string {
		return fmt.Sprintf(`document.querySelector("[data-cell='%s %s']")`, ids[outcome], courses[course])
	}
	mark := func(outcome, course int) string { return cell(outcome, course) + `.firstChild.textContent` }
	stored := func(outcome, course int) map[string]any {
		m := s.call(t, client.Request{Operation: "getProgramMap", IDs: []string{program}})
		for _, c := range m["cells"].([]any) {
			if c := c.(map[string]any); c["outcomeId"] == ids[outcome] && c["courseId"] == courses[course] {
				return c
			}
		}
		return nil
	}
	s.signIn(p, s.key, "#/programs/"+program)
	p.Until(cell(0, 0) + ` && !document.body.innerText.includes("are being read") && ` + mark(0, 1) + ` !== "·"`)
	p.Shows("No course covers it")
	unharmed(t, p)
	look(t, p, "map-"+size)
	p.Eval(cell(0, 0)+`.focus()`, nil)
	p.Press("Enter")
	p.Shows("Computed:")
	p.Shows("In the course’s text")
	look(t, p, "map-quotes-"+size)
	p.Press("ArrowRight")
	p.Shows("Like these outcomes of the course")
	look(t, p, "map-cell-"+size)
	p.Press("ArrowRight")
	p.Shows("The course teaches none of the outcome’s skills")
	p.Press("i", "a")
	p.Until(cell(0, 2) + `.matches(".draft")`)
	p.Fill("Note", "The committee of May. "+hostile[:300])
	p.Eval(cell(0, 2)+`.focus()`, nil)
	look(t, p, "map-draft-"+size)
	s.next(fault{"PUT", courses[2], "429"}, fault{"PUT", courses[2], "lost after"})
	p.Press("s")
	p.Until(mark(0, 2) + ` === "IA*"`)
	p.Until(`!` + cell(0, 2) + `.matches(".draft")`)
	p.Shows("Take back")
	if c := stored(0, 2); c["mark"] != "INTRODUCED" || c["assessed"] != true || !strings.HasPrefix(c["decided"].(map[string]any)["note"].(string), "The committee of May.") {
		t.Errorf("cell %v", c)
	}
	unharmed(t, p)
	look(t, p, "map-decided-"+size)

	p.Press("m")
	s.call(t, client.Request{Operation: "decideMapCell", IDs: []string{program, ids[0], courses[2]}, Body: map[string]any{"mark": "REINFORCED"}})
	p.Press("s")
	p.Shows("Somebody else changed this map meanwhile")
	p.Shows("Here stands reinforced, set by hand.")
	if c := stored(0, 2); c["mark"] != "REINFORCED" {
		t.Errorf("overwritten: %v", c)
	}
	look(t, p, "map-changed-"+size)
	p.Press("s")
	p.Until(mark(0, 2) + ` === "MA*"`)
	s.next(fault{"DELETE", courses[2], "503"})
	p.Eval(browser.Named("Take back")+`.focus()`, nil)
	p.Press("Enter")
	p.Until(mark(0, 2) + ` === "·" && document.activeElement === ` + cell(0, 2))
	p.Press("Escape")
	p.Until(`!document.querySelector(".panel.open") && document.activeElement === ` + cell(0, 2))

	p.Fill("Add an occupation", "registered nur")
	p.Until(`document.querySelector("[role=option]")?.textContent.includes("Registered Nurses")`)
	p.Press("Enter")
	p.Shows("First in")
	p.Until(`location.hash.includes("29-1141")`)
	look(t, p, "map-jobs-"+size)
	seen := len(p.Requests())
	p.Eval(cell(0, 2)+`.click()`, nil)
	p.Press("i", "s")
	p.Until(mark(0, 2) + ` === "I*"`)
	for _, address := range p.Requests()[seen:] {
		if strings.HasSuffix(address, "/map") {
			t.Error("a map with occupations is read twice")
		}
	}
	p.Press("Escape")

	p.Click("Page to print")
	p.Shows("A link opens the page without a key.")
	s.next(fault{"POST", "/links", "lost after"})
	p.Click("Make a link")
	p.Shows("It is shown only now.")
	s.once(t, "/links")
	look(t, p, "map-share-"+size)
	var link string
	p.Eval(`document.querySelector("dialog a.primary").href`, &link)
	r, err := http.Get(link) //nolint:noctx // of the stack
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if page, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !bytes.Contains(page, []byte("Registered Nurses")) {
		t.Errorf("page %d %v", r.StatusCode, err)
	}
	p.Eval(`HTMLAnchorElement.prototype.click = function () { window.opened = this.download; }`, nil)
	p.Click("Download the page")
	p.Until(`window.opened?.endsWith(".html")`)
	p.Press("Escape")

	p.Click("Sign out")
	s.signIn(p, s.read, "#/programs/"+program+"/map")
	p.Until(cell(0, 1))
	p.Eval(cell(0, 1)+`.click()`, nil)
	p.Shows("Computed:")
	look(t, p, "map-read-"+size)
	var offered int
	if p.Eval(`document.querySelectorAll("main form, main textarea, main fieldset").length`, &offered); offered != 0 {
		t.Errorf("a read key is offered %d changes", offered)
	}
	p.Click("Page to print")
	p.Shows("This key reads only")
	look(t, p, "map-share-read-"+size)
}
