package rest_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

func TestHoldersBlockDeletion(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("A")
	id, section := course.text("id"), one.must(201, "POST", "/courses/"+course.text("id")+"/sections", `{"name":"S"}`).text("id")
	free := one.must(201, "POST", "/courses/"+id+"/sections", `{"name":"free"}`).text("id")
	blocked := func(path, kind, holder string) {
		t.Helper()
		r := one.must(409, "DELETE", path, "")
		r.want("code", "conflict")
		if detail := r.text("detail"); !strings.Contains(detail, kind) || !strings.Contains(detail, holder) {
			t.Errorf("%s names neither %s nor %s", detail, kind, holder)
		}
	}
	one.must(409, "DELETE", "/courses/"+id+"/sections/"+course.text("defaultSectionId"), "")

	program := one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, id)).text("id")
	blocked("/courses/"+id, "Program", program)
	credential := one.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q]}`, section)).text("id")
	one.must(204, "DELETE", "/programs/"+program+"/courses/"+id, "")
	blocked("/courses/"+id, "Credential", credential)
	blocked("/courses/"+id+"/sections/"+section, "Credential", credential)
	one.must(204, "DELETE", "/courses/"+id+"/sections/"+free, "")

	one.must(200, "PATCH", "/credentials/"+credential, `{"courseSectionIds":[]}`)
	one.must(204, "DELETE", "/courses/"+id+"/sections/"+section, "")
	one.must(200, "POST", "/programs/"+program+"/courses", fmt.Sprintf(`{"courseId":%q}`, id))
	one.must(200, "POST", "/credentials/"+credential+"/sections", fmt.Sprintf(`{"sectionId":%q}`, course.text("defaultSectionId")))
	one.must(204, "DELETE", "/programs/"+program, "")
	blocked("/courses/"+id, "Credential", credential)
	one.must(204, "DELETE", "/credentials/"+credential+"/sections/"+course.text("defaultSectionId"), "")
	one.must(204, "DELETE", "/courses/"+id, "")
}

// A credential of more sections than a transaction holds, created, changed and
// deleted, with the courses held all the while and free afterwards.
func TestLargeCredentials(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	const n = 200
	ids, courses := make([]string, n), make([]string, n)
	for i := range n {
		course := one.course(fmt.Sprint("Course ", i))
		ids[i], courses[i] = fmt.Sprintf("%q", course.text("defaultSectionId")), course.text("id")
	}
	body := func(from, to int) string { return "[" + strings.Join(ids[from:to], ",") + "]" }
	created := one.must(201, "POST", "/credentials", `{"name":"C","courseSectionIds":`+body(0, n)+`}`)
	path := "/credentials/" + created.text("id")
	if got := len(created.get("sections").([]any)); got != n {
		t.Fatalf("%d sections", got)
	}
	read := one.must(200, "GET", path, "")
	if string(read.Body) != string(created.Body) {
		t.Error("GET shows another credential than POST")
	}
	extra := one.course("one too many")
	one.must(409, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, extra.text("defaultSectionId")))
	one.must(422, "PATCH", path, `{"courseSectionIds":[`+strings.Join(ids, ",")+","+fmt.Sprintf("%q", extra.text("defaultSectionId"))+`]}`)
	for _, i := range []int{0, 98, 99, 150, 199} {
		one.must(409, "DELETE", "/courses/"+courses[i], "")
	}
	one.must(200, "PATCH", path, `{"courseSectionIds":`+body(150, n)+`}`)
	one.must(409, "DELETE", "/courses/"+courses[199], "")
	one.must(204, "DELETE", "/courses/"+courses[0], "")
	one.must(200, "PATCH", path, `{"courseSectionIds":`+body(1, 150)+`}`)
	one.must(409, "DELETE", "/courses/"+courses[1], "")
	one.must(204, "DELETE", "/courses/"+courses[199], "")
	one.must(204, "DELETE", path, "")
	one.must(204, "DELETE", "/courses/"+courses[1], "")
	held := 0
	for _, id := range courses[2:150] {
		course, err := usecase.Get[*catalog.Course](t.Context(), s.store, "org_one", id, true)
		if err != nil {
			t.Fatal(err)
		}
		held += len(course.HeldBy)
	}
	if held > 0 {
		t.Errorf("%d holds outlive their credential", held)
	}
}

// A package of more courses than a transaction holds is deleted with all of them,
// while workers go on claiming and finishing them.
func TestLargePackagesAreDeletedWithTheirCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	one := s.one
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	path := "/transfer-packages/" + pack
	var courses []string
	for range 3 {
		r := one.must(201, "POST", path+"/courses", `{"courses":[`+strings.TrimSuffix(strings.Repeat(`{"name":"X"},`, 50), ",")+`]}`)
		s.clock.Add(1)
		for i := range 50 {
			courses = append(courses, r.text(fmt.Sprintf("%d.id", i)))
		}
	}
	transactions, changed := 0, map[string]string{}
	w.through(func(c call) (any, error) {
		if in, ok := c.input.(*sdk.TransactWriteItemsInput); ok && len(in.TransactItems) > 50 {
			if transactions++; transactions != 2 {
				return c.next()
			}
			for _, i := range []int{60, 110, 149} { // the package itself is gone by now
				job := catalog.ExtractionJob{OrganizationID: "org_one", Kind: catalog.TransferCourseKind, ID: courses[i], PackageID: pack}
				task, err := s.store.Claim(t.Context(), job, "run_x", s.clock.Now()+60_000)
				if err == nil {
					err = s.store.PutBack(t.Context(), task, s.clock.Now())
				}
				if err != nil {
					t.Error(err)
				}
				left, err := usecase.GetIn[*catalog.TransferCourse](t.Context(), s.store, "org_one", pack, courses[i], true)
				if err != nil {
					t.Fatal(err)
				}
				changed[courses[i]] = left.UpdatedAt.String()
			}
		}
		return c.next()
	})
	one.must(204, "DELETE", path, "")
	w.through(nil)
	one.must(404, "GET", path, "")
	one.must(404, "GET", path+"/courses", "")
	left, err := usecase.All[*catalog.TransferCourse](t.Context(), s.store, "org_one", pack)
	if err != nil || len(left) > 0 {
		t.Errorf("%d courses outlive their package, %v", len(left), err)
	}
	deletions := map[string]int{}
	since := ""
	for more := true; more; {
		r := one.must(200, "GET", "/changes?limit=1000&since="+since, "")
		for _, entry := range r.get("data").([]any) {
			if change := entry.(map[string]any); change["change"] == "deleted" {
				deletions[change["id"].(string)]++
				if last := changed[change["id"].(string)]; change["occurredAt"].(string) <= last {
					t.Errorf("%s was deleted at %s, and changed at %s before that", change["id"], change["occurredAt"], last)
				}
			}
		}
		since, more = r.text("next"), r.get("hasMore").(bool)
	}
	if len(deletions) != 151 {
		t.Errorf("the feed tells %d deletions, want 151", len(deletions))
	}
	for id, n := range deletions {
		if n != 1 {
			t.Errorf("the feed tells the deletion of %s %d times", id, n)
		}
	}
}

// beside runs something once, right before the next transaction is sent.
func (w *wire) beside(something func()) {
	var done bool
	w.through(func(c call) (any, error) {
		if _, ok := c.input.(*sdk.TransactWriteItemsInput); ok && !done {
			done = true
			something()
		}
		return c.next()
	})
}

// Courses that a package is given while it is being deleted go with it.
func TestPackageGrowsWhileItIsDeleted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	pack := s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`).text("id")
	path := "/transfer-packages/" + pack
	w.beside(func() { other.one.must(201, "POST", path+"/courses", `{"courses":[{"name":"Y"}]}`) })
	s.one.must(204, "DELETE", path, "")
	left, err := usecase.All[*catalog.TransferCourse](t.Context(), s.store, "org_one", pack)
	if err != nil || len(left) > 0 {
		t.Errorf("%d courses outlive their package, %v", len(left), err)
	}
	// And the other way round: a package that goes is given nothing.
	pack = s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	path = "/transfer-packages/" + pack
	w.beside(func() { other.one.must(204, "DELETE", path, "") })
	s.one.must(404, "POST", path+"/courses", `{"courses":[{"name":"Y"}]}`)
}

func TestPackageHoldsAThousandCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	fifty := `{"courses":[` + strings.TrimSuffix(strings.Repeat(`{"name":"X"},`, 50), ",") + `]}`
	for range 19 {
		s.one.must(201, "POST", path+"/courses", fifty)
	}
	w.beside(func() { other.one.must(201, "POST", path+"/courses", fifty) })
	s.one.must(409, "POST", path+"/courses", fifty).want("code", "conflict")
	w.through(nil)
	s.one.must(409, "POST", path+"/courses", `{"courses":[{"name":"X"}]}`)
	all := s.one.must(200, "GET", path+"/courses", "")
	all.want("1000", absent{})
	s.one.must(204, "DELETE", path+"/courses/"+all.text("999.id"), "")
	s.one.must(201, "POST", path+"/courses", `{"courses":[{"name":"Z"}]}`)
}

// A course cannot be deleted between the look at it and its hold, nor be held
// between the look at its holders and its deletion.
func TestHoldsAgainstDeletions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	w := s.tap()
	for _, member := range []string{"program", "credential"} {
		course := s.one.course("A")
		path, body := "/programs/"+s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")+"/courses", fmt.Sprintf(`{"courseId":%q}`, course.text("id"))
		if member == "credential" {
			path, body = "/credentials/"+s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")+"/sections", fmt.Sprintf(`{"sectionId":%q}`, course.text("defaultSectionId"))
		}
		w.beside(func() { other.one.must(200, "POST", path, body) })
		s.one.must(409, "DELETE", "/courses/"+course.text("id"), "")
		w.through(nil)

		course = s.one.course("B")
		if member == "program" {
			body = fmt.Sprintf(`{"courseId":%q}`, course.text("id"))
		} else {
			body = fmt.Sprintf(`{"sectionId":%q}`, course.text("defaultSectionId"))
		}
		w.beside(func() { other.one.must(204, "DELETE", "/courses/"+course.text("id"), "") })
		s.one.must(422, "POST", path, body)
		w.through(nil)
	}
}

// Members that come at the same time are all there in the end, in some order.
func TestMembersAreNotLost(t *testing.T) {
	t.Parallel()
	s := newService(t)
	other := s.function()
	credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	program := s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
	const n = 8
	done := make(chan reply, 3*n)
	for i := range n {
		course := s.one.course(fmt.Sprint(i))
		from := []client{s.one, other.one}[i%2]
		go func() {
			done <- from.do("POST", "/credentials/"+credential+"/sections", fmt.Sprintf(`{"sectionId":%q}`, course.text("defaultSectionId")))
		}()
		go func() {
			done <- from.do("POST", "/programs/"+program+"/courses", fmt.Sprintf(`{"courseId":%q}`, course.text("id")))
		}()
		go func() {
			done <- from.do("PATCH", "/credentials/"+credential, fmt.Sprintf(`{"name":"N%d"}`, i))
		}()
	}
	for range 3 * n {
		if r := <-done; r.Status != 200 {
			t.Errorf("%s: status %d: %s", r.call, r.Status, r.Body)
		}
	}
	if got := len(s.one.must(200, "GET", "/credentials/"+credential, "").get("sections").([]any)); got != n {
		t.Errorf("%d sections, want %d", got, n)
	}
	r := s.one.must(200, "GET", "/programs/"+program, "")
	if got := len(r.get("courseOrder").([]any)); got != n {
		t.Errorf("%d courses, want %d", got, n)
	}
	for i := range n {
		r.want(fmt.Sprintf("courses.%d.courseId", i), r.get(fmt.Sprintf("courseOrder.%d", i)))
	}
}
