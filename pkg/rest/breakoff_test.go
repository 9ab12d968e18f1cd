package rest_test

import (
	"errors"
	"strings"
	"testing"
)

// A package with more courses than one transaction deletes, and the table gone
// after the first: whoever asks again finds the rest deleted.
func TestDeletionThatBrokeOff(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	courses := strings.TrimSuffix(strings.Repeat(`{"name":"X"},`, 35), ",")
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[`+courses+`]}`).text("id")
	s.one.must(201, "POST", path+"/courses", `{"courses":[`+courses+`]}`)
	transactions := 0
	w.through(func(c call) (any, error) {
		if c.operation == "TransactWriteItems" {
			if transactions++; transactions > 1 {
				return nil, errors.New("gone")
			}
		}
		return c.next()
	})
	s.one.must(503, "DELETE", path, "")
	w.through(nil)
	s.one.must(404, "GET", path, "")
	s.two.must(404, "DELETE", path, "")
	s.one.must(204, "DELETE", path, "")
	if left, err := s.store.TransferCourses(t.Context(), "org_one", path[len("/transfer-packages/"):]); err != nil || len(left) > 0 {
		t.Errorf("%d courses outlive their package, %v", len(left), err)
	}
	s.one.must(404, "DELETE", path, "")
}
