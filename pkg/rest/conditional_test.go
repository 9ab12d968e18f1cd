package rest_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
)

// Each single record: how to make one, its path, and a body that changes it.
func singles(s *service) map[string]struct{ path, change string } {
	one := s.one
	course := one.course("A")
	section := course.text("defaultSectionId")
	credential := one.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q]}`, section)).text("id")
	program := one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, course.text("id"))).text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	return map[string]struct{ path, change string }{
		"course":     {"/courses/" + course.text("id"), `{"name":"B"}`},
		"section":    {"/courses/" + course.text("id") + "/sections/" + section, `{"instructorName":"N"}`},
		"credential": {"/credentials/" + credential, `{"name":"B"}`},
		"program":    {"/programs/" + program, `{"name":"B"}`},
		"job":        {"/jobs/" + one.job("J").text("id"), `{"salaryMin":1}`},
		"package":    {"/transfer-packages/" + pack, `{"uniqueTag":"t"}`},
	}
}

func TestETags(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, r := range singles(s) {
		first := s.one.must(200, "GET", r.path, "")
		tag := first.header("ETag")
		if len(tag) < 4 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			t.Errorf("%s: the ETag %s is not a strong one", name, tag)
		}
		same := s.one.must(200, "PATCH", r.path, `{}`)
		if same.header("ETag") != tag || string(same.Body) != string(first.Body) {
			t.Errorf("%s: an empty PATCH changes %s\nto %s", name, first.Body, same.Body)
		}
		for _, match := range []string{tag, "*", `"other", ` + tag, "W/" + tag} {
			s.one.must(304, "GET", r.path, "", "If-None-Match", match)
		}
		s.one.must(200, "GET", r.path, "", "If-None-Match", `"other"`)
		s.one.must(412, "PATCH", r.path, r.change, "If-Match", `"other"`).want("code", "precondition_failed")
		s.one.must(412, "PATCH", r.path, r.change, "If-Match", "W/"+tag)
		changed := s.one.must(200, "PATCH", r.path, r.change, "If-Match", tag)
		if changed.header("ETag") == tag {
			t.Errorf("%s: the ETag stays when the record changes", name)
		}
		if changed.text("updatedAt") <= first.text("updatedAt") {
			t.Errorf("%s: updatedAt stands still: %s", name, changed.Body)
		}
		now := s.one.must(200, "GET", r.path, "")
		if now.header("ETag") != changed.header("ETag") || string(now.Body) != string(changed.Body) {
			t.Errorf("%s: GET shows %s\nPATCH gave %s", name, now.Body, changed.Body)
		}
		s.one.must(412, "PATCH", r.path, r.change, "If-Match", tag)
		if name != "section" && name != "course" { // which cannot be deleted at all
			s.one.must(412, "DELETE", r.path, "", "If-Match", tag)
		}
		s.one.must(200, "PATCH", r.path, `{}`, "If-Match", "*")
		s.one.must(200, "PATCH", r.path, `{}`, "If-Match", now.header("ETag"))
	}
}

func TestETagIsThatOfTheCreation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.course("A")
	for _, c := range [][2]string{
		{"/courses", `{"name":"A","code":"B","description":"d"}`},
		{"/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"https://example.org/s.pdf"}`},
		{"/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q]}`, course.text("defaultSectionId"))},
		{"/programs", fmt.Sprintf(`{"name":"P","cipCode":"11.0701","courseOrder":[%q]}`, course.text("id"))},
		{"/jobs", `{"name":"J","employerId":"e","onetSocCode":"15-1252.00"}`},
		{"/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`},
		{"/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":[%q],"jobs":[{"id":"15-1252","lib":"soc"}]}}`, course.text("id"))},
	} {
		created := s.one.must(201, "POST", c[0], c[1], "Idempotency-Key", c[0])
		read := s.one.must(200, "GET", created.header("Location")[len("/v1"):], "")
		if string(created.Body) != string(read.Body) || created.header("ETag") != read.header("ETag") {
			t.Errorf("POST %s gave %s %s\nGET %s %s", c[0], created.header("ETag"), created.Body, read.header("ETag"), read.Body)
		}
		again := s.one.must(201, "POST", c[0], c[1], "Idempotency-Key", c[0])
		if again.header("ETag") != read.header("ETag") {
			t.Errorf("the replay of POST %s gave the ETag %s, want %s", c[0], again.header("ETag"), read.header("ETag"))
		}
	}
}

// Taking out a member is a change of the record that loses it.
func TestIfMatchOnMembers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, r := range singles(s) {
		if name != "credential" && name != "program" {
			continue
		}
		read := s.one.must(200, "GET", r.path, "")
		member := r.path + "/sections/"
		if name == "program" {
			member = r.path + "/courses/" + read.text("courseOrder.0")
		} else {
			member += read.text("sections.0.sectionId")
		}
		s.one.must(200, "PATCH", r.path, r.change)
		s.one.must(412, "DELETE", member, "", "If-Match", read.header("ETag"))
		s.one.must(204, "DELETE", member, "", "If-Match", s.one.must(200, "GET", r.path, "").header("ETag"))
		s.one.must(404, "DELETE", member, "")
	}
}

// What the ETag is compared with is the record as it is, however old the copy is
// that a read would show.
func TestIfMatchIsNotFooledByALaggingReplica(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	job := s.one.job("J")
	path := "/jobs/" + job.text("id")
	var old map[string]types.AttributeValue
	jobs := func(c call) (*sdk.GetItemInput, bool) {
		in, ok := c.input.(*sdk.GetItemInput)
		return in, ok && strings.HasSuffix(in.Key["pk"].(*types.AttributeValueMemberS).Value, "#Job")
	}
	w.through(func(c call) (any, error) {
		out, err := c.next()
		if _, ok := jobs(c); ok {
			old = out.(*sdk.GetItemOutput).Item
		}
		return out, err
	})
	s.one.must(200, "GET", path, "")
	w.through(nil)
	s.one.must(200, "PATCH", path, `{"name":"K"}`)
	w.through(func(c call) (any, error) {
		if in, ok := jobs(c); ok && !*in.ConsistentRead {
			return &sdk.GetItemOutput{Item: old}, nil
		}
		return c.next()
	})
	s.one.must(200, "GET", path, "").want("name", "J")
	s.one.must(412, "PATCH", path, `{"name":"L"}`, "If-Match", job.header("ETag"))
	s.one.must(412, "DELETE", path, "", "If-Match", job.header("ETag"))
	w.through(nil)
	s.one.must(200, "GET", path, "").want("name", "K")
}

// A long record has an ETag for each content coding that the gateway may send it
// in, and each of them stands for the record.
func TestETagsOfCompressedResponses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.must(201, "POST", "/courses", fmt.Sprintf(`{"name":"Long","code":"L","description":%q}`, strings.Repeat("word ", 1900))).text("id")
	for i := range 2 { // the sections' descriptions make the course longer than the bound
		s.one.must(201, "POST", "/courses/"+course+"/sections", fmt.Sprintf(`{"name":"S%d","description":%q}`, i, strings.Repeat("text ", 900)))
	}
	path := "/courses/" + course
	plain := s.one.must(200, "GET", path, "")
	packed := s.one.must(200, "GET", path, "", "Accept-Encoding", "gzip, br")
	if len(plain.Body) < api.CompressFrom || plain.header("Vary") != "Accept-Encoding" {
		t.Fatalf("%d bytes, Vary %s", len(plain.Body), plain.header("Vary"))
	}
	tag, coded := plain.header("ETag"), packed.header("ETag")
	if coded != strings.TrimSuffix(tag, `"`)+`-gzip"` {
		t.Errorf("the tags are %s and %s", tag, coded)
	}
	for _, match := range []string{tag, coded} {
		if got := s.one.must(304, "GET", path, "", "If-None-Match", match, "Accept-Encoding", "gzip").header("ETag"); got != coded {
			t.Errorf("a 304 to a client that takes gzip has the tag %s, want %s", got, coded)
		}
		if got := s.one.must(304, "GET", path, "", "If-None-Match", match).header("ETag"); got != tag {
			t.Errorf("a 304 has the tag %s, want %s", got, tag)
		}
	}
	s.one.must(412, "PATCH", path, `{"name":"B"}`, "If-Match", "W/"+coded)
	changed := s.one.must(200, "PATCH", path, `{"name":"B"}`, "If-Match", coded, "Accept-Encoding", "gzip")
	if changed.header("ETag") == coded {
		t.Error("the tag stays when the record changes")
	}
	s.one.must(412, "PATCH", path, `{"name":"C"}`, "If-Match", coded)
	short := s.one.job("J").text("id")
	if got := s.one.must(200, "GET", "/jobs/"+short, "", "Accept-Encoding", "gzip").header("ETag"); strings.Contains(got, "gzip") {
		t.Errorf("a short record has the tag %s", got)
	}
}
