package rest_test

import "testing"

func TestCourseLife(t *testing.T) {
	s := newService(t)
	created := s.one.must(201, "POST", "/courses", `{"name":" Algorithms ","code":"CS 201"}`)
	id := created.text("id")
	created.want("name", "Algorithms")
	created.want("description", nil)
	created.want("deletedAt", nil)
	created.want("sections.0.id", created.get("defaultSectionId"))
	if got, want := created.Header.Get("Location"), "/v1/courses/"+id; got != want {
		t.Errorf("Location %s, want %s", got, want)
	}
	read := s.one.must(200, "GET", "/courses/"+id, "")
	if string(read.Body) != string(created.Body) {
		t.Errorf("GET %s\nPOST %s", read.Body, created.Body)
	}
	s.one.must(404, "GET", "/courses/nope", "")
	list := s.one.must(200, "GET", "/courses", "")
	list.want("pagination.total", 1)
	list.want("data.0.id", id)
	changed := s.one.must(200, "PATCH", "/courses/"+id, `{"description":"d"}`)
	changed.want("description", "d")
	s.one.must(204, "DELETE", "/courses/"+id, "")
	s.one.must(404, "GET", "/courses/"+id, "")
	s.one.must(200, "GET", "/courses", "").want("pagination.total", 0)
	changes := s.one.must(200, "GET", "/changes", "")
	changes.want("data.0.change", "created")
}
