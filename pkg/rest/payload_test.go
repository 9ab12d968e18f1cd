package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
)

// maxResponse is how long a function's response may be, in bytes.
const maxResponse = 6 << 20

// payload returns the function's own response to a GET.
func (c client) payload(path string) []byte {
	c.s.t.Helper()
	path, query, _ := strings.Cut(path, "?")
	event := events.APIGatewayProxyRequest{Path: path, HTTPMethod: "GET", MultiValueHeaders: map[string][]string{api.HeaderKey: {c.key}}, MultiValueQueryStringParameters: map[string][]string{}}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			event.MultiValueQueryStringParameters[name] = []string{value}
		}
	}
	packed, err := json.Marshal(event)
	if err != nil {
		c.s.t.Fatal(err)
	}
	out, err := group.Function(c.s.server).Invoke(c.s.t.Context(), packed)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return out
}

// The courses of a package that are too long for one response come in several, each
// of which a function can send.
func TestLongTransferCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id") + "/courses"
	// Each quote and each backslash is four bytes in the end.
	course := fmt.Sprintf(`{"name":"X","description":%q}`, strings.Repeat(`"\`, 5_000))
	const n = 250
	for range n / 25 {
		s.one.must(201, "POST", path, `{"courses":[`+strings.TrimSuffix(strings.Repeat(course+",", 25), ",")+`]}`)
	}
	seen, next, responses := map[any]bool{}, path, 0
	for ; next != ""; responses++ {
		if size := len(s.one.payload(next)); size > maxResponse {
			t.Fatalf("GET %s: %d bytes", next, size)
		}
		r := s.one.must(200, "GET", next, "")
		var courses []struct{ ID string }
		if err := json.Unmarshal(r.Body, &courses); err != nil || len(courses) == 0 {
			t.Fatalf("GET %s: %d courses, %v", next, len(courses), err)
		}
		for _, course := range courses {
			if seen[course.ID] {
				t.Errorf("%s comes twice", course.ID)
			}
			seen[course.ID] = true
		}
		next = ""
		if links := r.Header["Link"]; links != nil {
			target, rel, _ := strings.Cut(links[0], ">; ")
			if rel != `rel="next"` {
				t.Errorf("link %s", links[0])
			}
			next = strings.TrimPrefix(target, "</v1")
		}
	}
	if len(seen) != n || responses < 2 {
		t.Errorf("%d courses in %d responses, want %d in several", len(seen), responses, n)
	}
}

func TestPagesOfTransferCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"0"},{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"}]}`).text("id") + "/courses"
	for _, c := range []struct{ query, names, next string }{
		{"", "01234", ""}, {"?limit=5", "01234", ""}, {"?limit=1000", "01234", ""}, {"?limit=2", "01", "?limit=2&offset=2"}, {"?limit=2&offset=2", "23", "?limit=2&offset=4"},
		{"?limit=2&offset=4", "4", ""}, {"?offset=3", "34", ""}, {"?offset=5", "", ""}, {"?offset=9223372036854775807", "", ""},
	} {
		r := s.one.must(200, "GET", path+c.query, "")
		var courses []struct{ Name string }
		if err := json.Unmarshal(r.Body, &courses); err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, course := range courses {
			names += course.Name
		}
		link := strings.Join(r.Header["Link"], "|")
		want := ""
		if c.next != "" {
			want = "</v1" + path + c.next + `>; rel="next"`
		}
		if names != c.names || link != want {
			t.Errorf("%s: courses %q, link %s", c.query, names, link)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "offset=-1"} {
		s.one.must(400, "GET", path+"?"+query, "").want("code", "invalid_parameter")
	}
}

// However many errors a body has, the response can be sent.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var body strings.Builder
	body.WriteString(`{"name":"A","code":"B"`)
	for i := range 900 {
		fmt.Fprintf(&body, `,"unknown%d":1`, i)
	}
	body.WriteByte('}')
	r := s.one.must(422, "POST", "/courses", body.String())
	if errors := r.get("errors").([]any); len(errors) != 100 || !strings.Contains(r.text("detail"), "more errors than the 100") {
		t.Errorf("%d errors: %s", len(errors), r.text("detail"))
	}
	few := s.one.must(422, "POST", "/courses", `{"x":1}`)
	if errors := few.get("errors").([]any); len(errors) != 3 || strings.Contains(few.text("detail"), "100") {
		t.Errorf("%s", few.Body)
	}
}
