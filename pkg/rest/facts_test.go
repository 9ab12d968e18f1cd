package rest_test

import (
	"testing"
)

// The facts of a course: set, kept by what says nothing of them, and emptied by null.
func TestCourseFacts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	const credits = `{"min":-0.0,"max":4.5,"unit":"SEMESTER_HOUR"}`
	course := one.must(201, "POST", "/courses", `{"name":"N","code":"C","credits":`+credits+`,"level":"LOWER_DIVISION","effectiveFrom":"2026-08-01","webpage":" https://example.org/c "}`)
	path := "/courses/" + course.text("id")
	course.want("credits", map[string]any{"min": 0, "max": 4.5, "unit": "SEMESTER_HOUR"})
	course.want("lifecycleStatus", "ACTIVE")
	course.want("webpage", "https://example.org/c")
	course.want("effectiveTo", nil)
	one.must(200, "PATCH", path, `{"lifecycleStatus":"RETIRED","credits":{"min":3,"max":3,"unit":"ECTS"}}`).want("level", "LOWER_DIVISION")
	one.must(200, "PATCH", path, `{"effectiveTo":"2026-08-01"}`)
	read := one.must(200, "GET", path, "")
	read.want("credits", map[string]any{"min": 3, "max": 3, "unit": "ECTS"})
	read.want("lifecycleStatus", "RETIRED")
	read.want("effectiveTo", "2026-08-01")
	one.must(200, "GET", "/courses", "").want("data.0.level", "LOWER_DIVISION")
	for body, at := range map[string]string{
		`{"credits":{"min":3,"max":3}}`:                         "body.credits.unit",
		`{"credits":{"min":3,"max":3,"unit":"POINTS"}}`:         "body.credits.unit",
		`{"credits":{"min":0.3,"max":3,"unit":"CEU"}}`:          "body.credits.min",
		`{"credits":{"min":-1,"max":999.25,"unit":"CEU"}}`:      "body.credits.max,body.credits.min",
		`{"credits":{"min":4,"max":3,"unit":"CEU"}}`:            "body.credits.min",
		`{"credits":{"min":1,"max":3,"unit":"CEU","note":"x"}}`: "body.credits.note",
		`{"credits":{"min":null,"max":3,"unit":null}}`:          "body.credits.min,body.credits.unit",
		`{"credits":3}`:                         "body.credits",
		`{"level":"BASIC"}`:                     "body.level",
		`{"lifecycleStatus":null}`:              "body.lifecycleStatus",
		`{"lifecycleStatus":"GONE"}`:            "body.lifecycleStatus",
		`{"effectiveFrom":"2026-02-30"}`:        "body.effectiveFrom",
		`{"effectiveFrom":"2026-08-02"}`:        "body.effectiveTo",
		`{"effectiveTo":"2026-07-31"}`:          "body.effectiveTo",
		`{"webpage":"http://example.org"}`:      "body.webpage",
		`{"webpage":"https://u:p@example.org"}`: "body.webpage",
		`{"webpage":"https:///x"}`:              "body.webpage",
	} {
		if r := one.must(422, "PATCH", path, body); r.locations() != at {
			t.Errorf("%s: field errors at %s, want %s: %s", body, r.locations(), at, r.Body)
		}
	}
	empty := one.must(200, "PATCH", path, `{"credits":null,"level":null,"effectiveFrom":null,"effectiveTo":null,"webpage":""}`)
	for _, field := range []string{"credits", "level", "effectiveFrom", "effectiveTo", "webpage"} {
		empty.want(field, nil)
	}
	empty.want("lifecycleStatus", "RETIRED")
}

func TestTransferCourseFacts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/transfer-packages/" + s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id") + "/courses"
	made := s.one.must(201, "POST", path, `{"courses":[{"name":"X","code":" CIS 120L ","takenTerm":"Fall 2025","credits":{"min":3,"max":3,"unit":"QUARTER_HOUR"}}]}`)
	read := s.one.must(200, "GET", path+"/"+made.text("0.id"), "")
	read.want("code", "CIS 120L")
	read.want("takenTerm", "Fall 2025")
	read.want("credits", map[string]any{"min": 3, "max": 3, "unit": "QUARTER_HOUR"})
	if r := s.one.must(422, "POST", path, `{"courses":[{"name":"X"},{"name":"Y","credits":{"min":2,"max":1,"unit":"CEU"}}]}`); r.locations() != "body.courses[1].credits.min" {
		t.Errorf("field errors at %s", r.locations())
	}
}
