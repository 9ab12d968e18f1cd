package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// call calls the API as somebody else, and returns what it answers.
func (s *service) call(t *testing.T, in client.Request) (out map[string]any) {
	t.Helper()
	r, err := s.api.Call(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Body) > 0 {
		if err := json.Unmarshal(r.Body, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// file writes a file to drop.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const hash = `location.hash`

// A person drops a file, sees what a check finds, corrects a column, applies, and fetches the rejected rows, while
// answers are lost; a large file is cancelled, a wrong one explained.
func imports(t *testing.T, s *service, p *browser.Page, size string) {
	s.signIn(p, s.key, "#/imports")
	p.Shows("Earlier imports")
	look(t, p, "imports-"+size)
	courses := fmt.Sprintf("Course #,Course Title,Credit Hours,Descripton,\"%s\"\n"+
		"BIO %[2]s,Biology %[2]s,4,Cells and genes,x\nBIO 9%[2]s,,3,More,\nBIO 8%[2]s,Zoology,\"%[1]s\",Animals,y\n", strings.ReplaceAll(hostile[:400], `"`, `""`), size)
	s.next(fault{"POST", "/documents", "lost after"}, fault{"POST", "/imports", "503"}, fault{"POST", "/imports", "lost after"}, fault{"POST", "/imports", "429"})
	network(p, false, 200_000, 50)
	p.Put("Drop a file, or choose one", file(t, "courses <b>"+size+".csv", courses))
	p.Shows("nothing is lost")
	look(t, p, "import-waiting-"+size)
	p.Shows("Ready: create 1")
	network(p, false, -1, 0)
	s.once(t, "/documents")
	s.once(t, "/imports")
	p.Shows("3 columns of 5 are read")
	p.Shows("Download the 2 rejected rows")
	unharmed(t, p)
	look(t, p, "import-check-"+size)

	p.Click("Description?")
	p.Shows("Your corrections are not checked yet")
	look(t, p, "import-corrected-"+size)
	p.Press("g", "c")
	p.Shows("Search courses")
	p.Eval(`history.back()`, nil)
	p.Shows("Your corrections are not checked yet") // what was corrected is still there
	p.Click("Check again")
	p.Shows("4 columns of 5 are read")
	p.Shows("Ready: create 1")

	s.next(fault{"POST", "/imports", "lost after"})
	p.Click("Apply")
	p.Shows("See the courses")
	s.once(t, "/imports")
	look(t, p, "import-applied-"+size)
	found := s.call(t, client.Request{Operation: "listCourses", Query: map[string][]string{"code": {"BIO " + size}}})
	if courses := found["data"].([]any); len(courses) != 1 || courses[0].(map[string]any)["description"] != "Cells and genes" {
		t.Errorf("courses %v", courses)
	}
	p.Eval(`HTMLAnchorElement.prototype.click = function () { window.opened = this.href; }`, nil)
	p.Click("Download the 2 rejected rows")
	p.Until(`window.opened`)
	var address string
	p.Eval(`window.opened`, &address)
	r, err := http.Get(address) //nolint:noctx // of the stack
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if rejected, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(rejected), "BIO 9"+size) || strings.Contains(string(rejected), "Biology") {
		t.Errorf("rejects %q %v", rejected, err)
	}
	var applied string
	p.Eval(hash, &applied)

	p.Press("g", "i")
	p.Put("Drop a file, or choose one", file(t, "notes.txt", "Nothing of this is a table of anything"))
	p.Shows("Nothing was changed")
	p.Shows("The file was not imported")
	look(t, p, "import-failed-"+size)

	p.Press("g", "i")
	var many strings.Builder
	many.WriteString("Course #,Course Title\n")
	for n := range 199_000 {
		fmt.Fprintf(&many, "X %d,Course %d\n", n, n)
	}
	p.Put("Drop a file, or choose one", file(t, "many.csv", many.String()))
	p.Shows("You can leave this page; it goes on.")
	s.next(fault{"DELETE", "", "503"})
	p.Click("Cancel")
	p.Shows("Cancelled")
	look(t, p, "import-cancelled-"+size)
	s.next(fault{"DELETE", "", "lost after"})
	p.Click("Delete this check")
	p.Shows("Earlier imports")

	p.Click("Sign out")
	s.signIn(p, s.read, applied)
	p.Shows("See the courses")
	look(t, p, "import-read-"+size)
	var offered int
	if p.Eval(`document.querySelectorAll("main select, main input, main .bar").length + [...document.querySelectorAll("main button")].filter((b) => !b.textContent.startsWith("Download")).length`, &offered); offered != 0 {
		t.Errorf("a read key is offered %d changes", offered)
	}
	p.Press("g", "i")
	p.Shows("Earlier imports")
	p.Until(`document.querySelectorAll("[data-row]").length > 0 && !document.querySelector("input[type=file]")`)

	// The newest imports come first, page by page.
	list := s.call(t, client.Request{Operation: "listImports", Query: url.Values{"limit": {"100"}}})["data"].([]any)
	document := list[0].(map[string]any)["documentId"]
	for len(list) < 22 {
		list = append(list, s.call(t, client.Request{Operation: "createImport", Body: map[string]any{"documentId": document, "mode": "CHECK"}}))
	}
	p.Press("g", "c")
	p.Shows("Search courses")
	p.Press("g", "i")
	rows := func(from, to int) string {
		ids := make([]string, 0, from-to)
		for i := from; i > to; i-- {
			ids = append(ids, "#/imports/"+list[i-1].(map[string]any)["id"].(string))
		}
		return `[...document.querySelectorAll("[data-row]")].map((e) => e.hash).join() === "` + strings.Join(ids, ",") + `"`
	}
	p.Until(rows(len(list), len(list)-20))
	p.Press("n")
	p.Until(rows(len(list)-20, max(0, len(list)-40)))
	p.Press("p")
	p.Until(rows(len(list), len(list)-20))
}
