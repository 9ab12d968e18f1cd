package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"skillscurriculum/pkg/boot/group/printing"
)

// A parameter's example is another one wherever the document has it; nothing else is.
func TestWithExamples(t *testing.T) {
	t.Parallel()
	document := openAPI()
	parameter := func(document []byte, path, method string) string {
		var parsed any
		if err := json.Unmarshal(document, &parsed); err != nil {
			t.Fatal(err)
		}
		return at(asList(at(parsed, "paths", path, method, "parameters"))[0], "example").(string)
	}
	was := parameter(document, "/courses/{courseId}", "get")
	got, err := printing.WithExamples(document, map[string]string{"getCourse.courseId": `crs_"demo`, "listSections.externalId": "CS 101-EVENING"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if parameter(got, "/courses/{courseId}", "get") != `crs_"demo` || parameter(got, "/courses/{courseId}/sections", "post") != `crs_"demo` || strings.Contains(text, was) {
		t.Errorf("%s is still an example", was)
	}
	other := parameter(document, "/programs/{programId}/courses/{courseId}", "delete")
	for old, changed := range map[string]string{was: `crs_\"demo`, `"10234"`: `"CS 101-EVENING"`} {
		if n := strings.Count(string(document), old); n < 2 || strings.Count(text, changed) != n {
			t.Errorf("%s was there %d times, %s is %d times", old, n, changed, strings.Count(text, changed))
		}
	}
	if strings.Count(text, other) != strings.Count(string(document), other) {
		t.Errorf("%s is no longer there", other)
	}
	back := strings.NewReplacer(`crs_\"demo`, was, "CS 101-EVENING", "10234").Replace(text)
	if back != string(document) {
		t.Error("more than the examples is another")
	}

	for name, values := range map[string]map[string]string{
		"no such parameter": {"getCourse.jobId": "x"}, "no such operation": {"none.courseId": "x"},
		"one example, two values": {"getCourse.courseId": "x", "updateCourse.courseId": "y"}, "no word": {"listCourses.limit": "7"},
	} {
		if _, err := printing.WithExamples(document, values); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if same, err := printing.WithExamples(document, nil); err != nil || string(same) != string(document) {
		t.Errorf("without values: another document, %v", err)
	}
}
