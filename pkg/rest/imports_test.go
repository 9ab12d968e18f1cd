package rest_test

import (
	"fmt"
	"testing"
)

func TestCreateImport(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.one
	document := c.document("vendor_guid,title")
	course := c.must(201, "POST", "/courses", `{"name":"Algebra","code":"MAT 1"}`).text("id")
	foreign := s.two.must(201, "POST", "/courses", `{"name":"Algebra","code":"MAT 1"}`).text("id")
	post := func(rest string) string { return fmt.Sprintf(`{"documentId":%q%s}`, document, rest) }
	made := c.must(202, "POST", "/imports", post(`,"resource":"outcome","layout":"CANVAS","ownerId":"`+course+`"`))
	if made.text("status") != "PENDING" || made.text("ownerId") != course {
		t.Errorf("%s", made.Body)
	}
	name := c.must(200, "GET", "/documents/"+document, "").text("fileName")
	made.want("fileName", name)
	c.must(200, "GET", "/imports", "").want("data.0.fileName", name)
	c.must(202, "POST", "/imports", post(`,"ownerId":"`+course+`","columns":{"vendor_guid":"guid"}`))
	for _, wrong := range []string{
		`,"resource":"outcome","layout":"CANVAS"`,
		`,"ownerId":"` + foreign + `"`,
		`,"ownerId":"prg_none"`,
		`,"ownerId":"BIO"`,
		`,"resource":"course","ownerId":"` + course + `"`,
		`,"resource":"outcome","retireMissing":true`,
		`,"resource":"outcome","columns":{"a":"syllabusHref"}`,
		`,"layout":"TES"`,
		`,"resource":"report"`,
		`,"mode":"DELETE"`,
	} {
		c.must(422, "POST", "/imports", post(wrong))
	}
	c.must(422, "POST", "/imports", `{"documentId":"doc_none"}`)

	path := "/imports/" + made.text("id")
	waiting := c.must(200, "GET", path, "")
	if waiting.header("Retry-After") == "" {
		t.Error("a waiting import has no Retry-After")
	}
	c.must(204, "DELETE", path, "")
	ended := c.must(200, "GET", path, "")
	if ended.text("status") != "CANCELLED" || len(ended.Header["Retry-After"]) > 0 || ended.text("finishedAt") == "" {
		t.Errorf("%s", ended.Body)
	}
	c.must(204, "DELETE", path, "")
	c.must(404, "GET", path, "")
	c.must(404, "DELETE", path, "")
}
