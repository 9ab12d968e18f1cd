package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// announce announces a file.
func (c client) announce(name, file string, header ...string) reply {
	c.s.t.Helper()
	sum := sha256.Sum256([]byte(file))
	return c.must(201, "POST", "/documents", fmt.Sprintf(`{"fileName":%q,"sizeBytes":%d,"sha256":%q}`, name, len(file), strings.ToUpper(hex.EncodeToString(sum[:]))), header...)
}

// upload sends the request that a document says of itself, and returns the status.
func (r reply) upload(file string) int {
	r.t.Helper()
	var upload catalog.Upload
	raw, _ := json.Marshal(r.get("upload"))
	if err := json.Unmarshal(raw, &upload); err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(r.t.Context(), upload.Method, upload.URL, strings.NewReader(file))
	if err != nil {
		r.t.Fatal(err)
	}
	for name, value := range upload.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// document uploads a file and returns the document's id.
func (c client) document(file string) string {
	c.s.t.Helper()
	d := c.announce("syllabus.txt", file)
	if status := d.upload(file); status != 200 {
		c.s.t.Fatalf("upload: status %d", status)
	}
	return d.text("id")
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := s.one.announce(" a.txt ", "SQL")
	path := "/documents/" + made.text("id")
	made.want("status", "AWAITING_UPLOAD")
	made.want("fileName", "a.txt")
	made.want("sizeBytes", 3)
	made.want("deletedAt", nil)
	made.want("organizationId", "org_one")
	made.want("upload.method", "PUT")
	made.want("upload.expiresAt", (s.clock.Now() + 15*60*1000).String())
	if sum := made.text("sha256"); sum != strings.ToLower(sum) || len(sum) != 64 {
		t.Errorf("sha256 is stored as %s", sum)
	}
	if made.header("Location") != "/v1"+path && made.header("Location") != path {
		t.Errorf("Location %s", made.header("Location"))
	}

	// The upload is signed anew each time, and is not part of what the ETag names.
	s.clock.Add(60_000)
	waiting := s.one.must(200, "GET", path, "")
	if waiting.text("upload.url") == made.text("upload.url") || waiting.header("ETag") != made.header("ETag") {
		t.Errorf("upload %s, ETag %s, was %s, %s", waiting.text("upload.url"), waiting.header("ETag"), made.text("upload.url"), made.header("ETag"))
	}
	s.one.must(304, "GET", path, "", "If-None-Match", made.header("ETag"))
	seen := s.reader.must(200, "GET", path, "")
	seen.want("status", "AWAITING_UPLOAD")
	seen.want("upload", nil)
	if seen.header("ETag") != made.header("ETag") {
		t.Error("the ETag depends on the key")
	}
	s.reader.must(403, "POST", "/documents", bodies(nil)["createDocument"])
	s.reader.must(403, "DELETE", path, "")
	s.two.must(404, "GET", path, "")

	if status := waiting.upload("SQK"); status < 400 {
		t.Errorf("other bytes: status %d", status)
	}
	s.one.must(200, "GET", path, "").want("status", "AWAITING_UPLOAD")
	if status := waiting.upload("SQL"); status != 200 {
		t.Fatalf("upload: status %d", status)
	}
	ready := s.one.must(200, "GET", path, "")
	ready.want("status", "READY")
	ready.want("upload", nil)
	if ready.header("ETag") == made.header("ETag") || ready.text("updatedAt") <= made.text("updatedAt") {
		t.Errorf("READY looks like before: %s", ready.Body)
	}
	s.one.must(412, "DELETE", path, "", "If-Match", made.header("ETag"))
	s.one.must(204, "DELETE", path, "", "If-Match", ready.header("ETag"))
	s.one.must(404, "GET", path, "")
	s.one.must(404, "DELETE", path, "")
	if _, there, err := s.server.Files.Uploaded(t.Context(), "org_one", made.text("id")); there || err != nil {
		t.Errorf("its file is still there: %v", err)
	}
}

func TestDocumentsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newService(t)
	sum := strings.Repeat("0a", 32)
	for _, c := range [][2]string{
		{`{}`, "body.fileName,body.sha256,body.sizeBytes"},
		{`{"fileName":"","sizeBytes":1,"sha256":"` + sum + `"}`, "body.fileName"},
		{`{"fileName":"` + strings.Repeat("n", 256) + `","sizeBytes":1,"sha256":"` + sum + `"}`, "body.fileName"},
		{`{"fileName":"a\u0000b","sizeBytes":1,"sha256":"` + sum + `"}`, "body.fileName"},
		{`{"fileName":"a\nb","sizeBytes":1,"sha256":"` + sum + `"}`, "body.fileName"},
		{`{"fileName":"a\u0085b","sizeBytes":1,"sha256":"` + sum + `"}`, "body.fileName"},
		{`{"fileName":"n","sizeBytes":0,"sha256":"` + sum + `"}`, "body.sizeBytes"},
		{`{"fileName":"n","sizeBytes":26214401,"sha256":"` + sum + `"}`, "body.sizeBytes"},
		{`{"fileName":"n","sizeBytes":1.5,"sha256":"` + sum + `"}`, "body.sizeBytes"},
		{`{"fileName":"n","sizeBytes":1,"sha256":"` + sum[1:] + `"}`, "body.sha256"},
		{`{"fileName":"n","sizeBytes":1,"sha256":"` + sum[1:] + `g"}`, "body.sha256"},
		{`{"fileName":"n","sizeBytes":1,"sha256":"` + sum + `","status":"READY"}`, "body.status"},
	} {
		if got := s.one.must(422, "POST", "/documents", c[0]).locations(); got != c[1] {
			t.Errorf("%s: errors at %s, want %s", c[0], got, c[1])
		}
	}
	s.one.must(422, "POST", "/documents", `{"fileName":"n","sizeBytes":26214401,"sha256":"`+sum+`"}`).want("errors.0.message", "expected number <= 26214400")
	s.one.must(201, "POST", "/documents", `{"fileName":"n","sizeBytes":26214400,"sha256":"`+sum+`"}`).want("sizeBytes", 26214400)
}

// TestSyllabusInADocument: documentId is taken wherever syllabusHref is.
func TestSyllabusInADocument(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	ready, other, foreign := one.document("SQL"), one.document("Python"), s.two.document("SQL")
	waiting := one.announce("w.txt", "SQL").text("id")
	course := one.course("A").text("id")
	section := one.must(201, "POST", "/courses/"+course+"/sections", `{"name":"S"}`)
	section.want("documentId", nil)
	at := "/courses/" + course + "/sections/" + section.text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")

	for _, bad := range []string{waiting, foreign, "doc_none", "doc_0000000000000000000000000000", course} {
		for _, c := range [][4]string{
			{"POST", "/courses/" + course + "/sections", `{"name":"S","documentId":%q}`, "body.documentId"},
			{"PATCH", at, `{"documentId":%q}`, "body.documentId"},
			{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[{"name":"A"},{"name":"B","documentId":%q}]}`, "body.courses[1].documentId"},
			{"POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"B","documentId":%q}]}`, "body.courses[0].documentId"},
			{"POST", "/syllabus-extractions", `{"documentId":%q}`, "body.documentId"},
		} {
			if got := one.must(422, c[0], c[1], fmt.Sprintf(c[2], bad)).locations(); got != c[3] {
				t.Errorf("%s %s of %s: errors at %s, want %s", c[0], c[1], bad, got, c[3])
			}
		}
	}
	both := fmt.Sprintf(`"documentId":%q,"syllabusHref":"https://example.org/a"`, ready)
	one.must(422, "POST", "/courses/"+course+"/sections", `{"name":"S",`+both+`}`)
	one.must(422, "PATCH", at, `{`+both+`}`)
	one.must(422, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"B",`+both+`}]}`)
	one.must(422, "POST", "/syllabus-extractions", `{`+both+`}`)
	one.must(422, "POST", "/syllabus-extractions", fmt.Sprintf(`{"text":"SQL","documentId":%q}`, ready))

	// A new one of either replaces the other, and is extracted; the same is not.
	sent := len(s.queue.sent)
	queued := func(what string, want int) {
		t.Helper()
		if got := len(s.queue.sent) - sent; got != want {
			t.Errorf("%s: %d extractions queued, want %d", what, got, want)
		}
		sent = len(s.queue.sent)
	}
	r := one.must(200, "PATCH", at, fmt.Sprintf(`{"documentId":%q}`, ready))
	r.want("documentId", ready)
	r.want("processingStatus", "PENDING")
	if cost := r.header("X-RateLimit-Cost"); cost != "12" {
		t.Errorf("a new document costs %s units", cost)
	}
	queued("a document", 1)
	r = one.must(200, "PATCH", at, fmt.Sprintf(`{"documentId":%q}`, ready))
	if cost := r.header("X-RateLimit-Cost"); cost != "2" {
		t.Errorf("the same document costs %s units", cost)
	}
	queued("the same", 0)
	r = one.must(200, "PATCH", at, `{"syllabusHref":"https://example.org/a"}`)
	r.want("documentId", nil)
	r.want("syllabusHref", "https://example.org/a")
	queued("an address", 1)
	r = one.must(200, "PATCH", at, fmt.Sprintf(`{"documentId":%q}`, other))
	r.want("documentId", other)
	r.want("syllabusHref", nil)
	queued("another document", 1)
	r = one.must(200, "PATCH", at, `{"documentId":null}`)
	r.want("documentId", nil)
	r.want("processingStatus", absent{})
	queued("none", 0)
	r = one.must(201, "POST", "/courses/"+course+"/sections", fmt.Sprintf(`{"name":"S","documentId":%q}`, ready))
	if cost := r.header("X-RateLimit-Cost"); cost != "12" {
		t.Errorf("a section with a document costs %s units", cost)
	}
	queued("a new section", 1)
	r = one.must(201, "POST", "/transfer-packages/"+pack+"/courses", fmt.Sprintf(`{"courses":[{"name":"A","documentId":%q},{"name":"B","documentId":%[1]q},{"name":"C"}]}`, ready))
	r.want("0.documentId", ready)
	r.want("2.documentId", nil)
	accepted := one.must(202, "POST", "/syllabus-extractions", fmt.Sprintf(`{"documentId":%q}`, ready))
	one.must(200, "GET", "/syllabus-extractions/"+accepted.text("extractionId"), "").want("documentId", ready)
}

// TestADocumentStaysUnderItsRecords: while a live one names it, it is not deleted.
func TestADocumentStaysUnderItsRecords(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("A").text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	for _, c := range []struct{ what, path, body, id, release, gone string }{
		{"a section", "/courses/" + course + "/sections", `{"name":"S","documentId":%q}`, "id", "DELETE", ""},
		{"a section that gets none", "/courses/" + course + "/sections", `{"name":"S","documentId":%q}`, "id", "PATCH", `{"documentId":null}`},
		{"a section that gets an address", "/courses/" + course + "/sections", `{"name":"S","documentId":%q}`, "id", "PATCH", `{"syllabusHref":"https://example.org/a"}`},
		{"a transfer course", "/transfer-packages/" + pack + "/courses", `{"courses":[{"name":"S","documentId":%q}]}`, "0.id", "DELETE", ""},
	} {
		document := one.document("SQL")
		path := "/documents/" + document
		made := one.must(201, "POST", c.path, fmt.Sprintf(c.body, document))
		one.must(409, "DELETE", path, "")
		one.must(200, "GET", path, "").want("status", "READY")
		r := one.do(c.release, c.path+"/"+made.text(c.id), c.gone)
		if r.Status/100 != 2 {
			t.Fatalf("%s: %d %s", c.what, r.Status, r.Body)
		}
		one.must(204, "DELETE", path, "")
	}
	// What goes with its owner lets go as well, in one transaction or in several.
	for _, courses := range []int{2, 120} {
		document := one.document("SQL")
		pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
		for left := courses; left > 0; left -= 40 {
			body := strings.Repeat(fmt.Sprintf(`,{"name":"S","documentId":%q}`, document), min(left, 40))
			one.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[`+body[1:]+`]}`)
		}
		one.must(409, "DELETE", "/documents/"+document, "")
		one.must(204, "DELETE", "/transfer-packages/"+pack, "")
		one.must(204, "DELETE", "/documents/"+document, "")
	}
	document := one.document("SQL")
	other := one.course("B").text("id")
	one.must(201, "POST", "/courses/"+other+"/sections", fmt.Sprintf(`{"name":"S","documentId":%q}`, document))
	one.must(204, "DELETE", "/courses/"+other, "")
	// An extraction alone holds none.
	one.must(202, "POST", "/syllabus-extractions", fmt.Sprintf(`{"documentId":%q}`, document))
	one.must(204, "DELETE", "/documents/"+document, "")
}

// TestHoldersAtOnce: of a deletion and what begins to name the document at the same
// time, one wins; many that name it all do.
func TestHoldersAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.course("A").text("id")
	for range 6 {
		document := s.one.document("SQL")
		var deleted reply
		made := make([]reply, 4)
		var all sync.WaitGroup
		all.Go(func() { deleted = s.one.do("DELETE", "/documents/"+document, "") })
		for i := range made {
			all.Go(func() {
				made[i] = s.one.do("POST", "/courses/"+course+"/sections", fmt.Sprintf(`{"name":"S","documentId":%q}`, document))
			})
		}
		all.Wait()
		held := 0
		for _, r := range made {
			switch r.Status {
			case 201:
				held++
			case 422:
			default:
				t.Errorf("create: status %d: %s", r.Status, r.Body)
			}
		}
		switch {
		case deleted.Status == 204 && held == 0, deleted.Status == 409 && held == len(made):
		default:
			t.Errorf("deletion: status %d, and %d of %d hold it", deleted.Status, held, len(made))
		}
	}
}

// TestAnUploadThatNeverCame: record and bytes are gone after a day; what came stays.
func TestAnUploadThatNeverCame(t *testing.T) {
	t.Parallel()
	s := newService(t)
	never, came := s.one.announce("n.txt", "SQL"), s.one.document("SQL")
	sweep := func() {
		t.Helper()
		if err := s.store.CompleteDeletions(t.Context(), s.server.Files.Remove); err != nil {
			t.Fatal(err)
		}
		if err := s.store.ExpireDocuments(t.Context(), s.server.Files.Uploaded); err != nil {
			t.Fatal(err)
		}
	}
	path := "/documents/" + never.text("id")
	s.clock.Add(catalog.DocumentTTL - 60_000)
	sweep()
	last := s.one.must(200, "GET", path, "")
	last.want("upload.expiresAt", (s.clock.Now() + 60_000).String())
	s.clock.Add(60_000)
	s.one.must(404, "GET", path, "")
	s.clock.Add(60_001)
	sweep()
	if _, err := usecase.Get[*catalog.Document](t.Context(), s.store, "org_one", never.text("id"), true); err == nil {
		t.Error("its record is still there")
	}
	s.one.must(200, "GET", "/documents/"+came, "").want("status", "READY")
	s.clock.Add(catalog.DocumentTTL)
	sweep()
	s.one.must(200, "GET", "/documents/"+came, "").want("status", "READY")

	// Bytes that come after the deletion go as well.
	d := s.one.announce("d.txt", "SQL")
	s.one.must(204, "DELETE", "/documents/"+d.text("id"), "")
	if status := d.upload("SQL"); status != 200 {
		t.Fatalf("upload: status %d", status)
	}
	s.clock.Add(catalog.UploadTTL + 60_001)
	sweep()
	if _, there, err := s.server.Files.Uploaded(t.Context(), "org_one", d.text("id")); there || err != nil {
		t.Errorf("late bytes are still there: %v", err)
	}
}
