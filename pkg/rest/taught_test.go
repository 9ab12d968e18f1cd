package rest_test

import (
	"fmt"
	"slices"
	"testing"
)

// The live sections that teach a skill: the deepest first, then the surest, then by id.
func TestSkillSections(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.must(201, "POST", "/courses", `{"name":"Data","code":"CS 5"}`)
	path := "/courses/" + course.text("id")
	teach := func(level int, confidence string) reply {
		return one.must(201, "POST", path+"/sections",
			fmt.Sprintf(`{"name":"S","instructorName":"Ada","skills":[{"skillId":"core:sql","level":%d,"confidence":%s},{"skillId":"core:python","level":1}]}`, level, confidence))
	}
	low, sure, first, second := teach(2, "1"), teach(4, "0.9"), teach(4, "0.5"), teach(4, "0.5")
	same := []string{first.text("id"), second.text("id")}
	slices.Sort(same)
	list := one.must(200, "GET", "/skills/core:sql/sections", "")
	for i, id := range []string{sure.text("id"), same[0], same[1], low.text("id")} {
		list.want(fmt.Sprintf("data.%d.sectionId", i), id)
	}
	list.want("pagination", map[string]any{"total": 4, "limit": 50, "offset": 0, "hasMore": false})
	list.want("data.0", map[string]any{
		"courseId": course.text("id"), "courseName": "Data", "courseCode": "CS 5", "courseDefaultSectionId": course.text("defaultSectionId"), "courseDisplayName": "CS 5 Data",
		"sectionId": sure.text("id"), "sectionName": "S", "sectionInstructorName": "Ada", "level": 4, "confidence": 0.9,
	})
	page := one.must(200, "GET", "/skills/core:sql/sections?limit=2&offset=3", "")
	page.want("data.0.sectionId", low.text("id"))
	page.want("data.1", absent{})
	page.want("pagination.total", 4)

	// A review counts at once, and so does any other change.
	review := path + "/sections/" + sure.text("id") + "/skills/core:sql/review"
	one.must(200, "PUT", review, `{"verdict":"REJECTED"}`)
	one.must(200, "GET", "/skills/core:sql/sections", "").want("pagination.total", 3)
	one.must(200, "PUT", review, `{"verdict":"ACCEPTED","level":5}`)
	one.must(200, "GET", "/skills/core:sql/sections", "").want("data.0.level", 5)
	one.must(200, "PATCH", path, `{"name":"Databases"}`)
	one.must(204, "DELETE", path+"/sections/"+low.text("id"), "")
	changed := one.must(200, "GET", "/skills/core:sql/sections", "")
	changed.want("data.0.courseName", "Databases")
	changed.want("pagination.total", 3)

	one.must(200, "GET", "/skills/core:algebra/sections", "").want("data", []any{})
	one.must(404, "GET", "/skills/core:nothing/sections", "")
	one.must(400, "GET", "/skills/core:sql/sections?limit=0", "")
	s.two.must(200, "GET", "/skills/core:sql/sections", "").want("data", []any{})
	one.must(204, "DELETE", path, "")
	one.must(200, "GET", "/skills/core:sql/sections", "").want("data", []any{})
}
