package rest_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestArticulationAsItIsShownCanBeSent: what a GET shows, nulls and all, but for what the
// service sets, is a body of POST and of PATCH.
func TestArticulationAsItIsShownCanBeSent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	shown := one.must(201, "POST", "/articulations", elective("A 1,B 2", "C 3").String())
	path := "/articulations/" + shown.text("id")
	var body map[string]any
	if err := json.Unmarshal(shown.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"id", "organizationId", "createdAt", "updatedAt", "deletedAt", "status", "decidedBy", "decidedAt", "evidence"} {
		if _, ok := body[set]; !ok {
			t.Errorf("%s is not shown", set)
		}
		delete(body, set)
	}
	if again := one.must(200, "PATCH", path, fields(body).String()); string(again.Body) != string(shown.Body) {
		t.Errorf("sent back it is %s, was %s", again.Body, shown.Body)
	}
	ctid := body["ctid"]
	delete(body, "ctid") // it is the first one's
	one.must(201, "POST", "/articulations", fields(body).String())
	body["ctid"] = ctid

	one.move(200, shown.text("id"), "IN_REVIEW")
	approved := one.move(200, shown.text("id"), "APPROVED")
	if again := one.must(200, "PATCH", path, fields(body).String()); string(again.Body) != string(approved.Body) {
		t.Errorf("sent back it is %s, was %s", again.Body, approved.Body)
	}
}

func TestBoundsOfArticulations(t *testing.T) {
	t.Parallel()
	s := newService(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	course := func(pairs ...any) []fields {
		return []fields{{"courses": []fields{fields{"code": "A"}.with(pairs...)}}}
	}
	many := func(n int) (all []fields) {
		for range n {
			all = append(all, fields{"label": "x"})
		}
		return all
	}
	for _, test := range []struct {
		field string
		value any
		at    string // "" for nothing wrong
	}{
		{"sendingInstitution", fields{"name": long(255)}, ""},
		{"sendingInstitution", fields{"name": long(256)}, "body.sendingInstitution.name"},
		{"sendingInstitution", fields{"name": " "}, "body.sendingInstitution.name"},
		{"sendingInstitution", fields{"name": "x", "codeType": "FICE"}, "body.sendingInstitution.codeType"},
		{"sendingInstitution", fields{"name": "x", "code": long(51)}, "body.sendingInstitution.code"},
		{"sendingInstitution", fields{"code": "1"}, "body.sendingInstitution.name"},
		{"sendingInstitution", nil, "body.sendingInstitution"},
		{"sending", []fields{}, "body.sending"},
		{"sending", sending(strings.Split("A,B,C,D,E,F,G,H,I,J", ",")...), ""},
		{"sending", sending(strings.Split("A,B,C,D,E,F,G,H,I,J,K", ",")...), "body.sending"},
		{"sending", sending("A,B,C,D,E,F,G,H,I,J"), ""},
		{"sending", sending("A,B,C,D,E,F,G,H,I,J,K"), "body.sending[0].courses"},
		{"sending", []fields{{"courses": []fields{}}}, "body.sending[0].courses"},
		{"sending", course("code", long(50)), ""},
		{"sending", course("code", long(51)), "body.sending[0].courses[0].code"},
		{"sending", course("code", "A;B"), "body.sending[0].courses[0].code"},
		{"sending", course("code", "A,B"), "body.sending[0].courses[0].code"},
		{"sending", course("code", " - "), "body.sending[0].courses[0].code"},
		{"sending", course("title", long(256)), "body.sending[0].courses[0].title"},
		{"sending", course("minimumGrade", long(51)), "body.sending[0].courses[0].minimumGrade"},
		{"sending", course("takenFrom", "2026-02-30"), "body.sending[0].courses[0].takenFrom"},
		{"sending", course("takenFrom", "2026-02-02", "takenTo", "2026-02-01"), "body.sending[0].courses[0].takenTo"},
		{"sending", course("credits", fields{"min": 1.1, "max": 2, "unit": "ECTS"}), "body.sending[0].courses[0].credits.min"},
		{"sending", course("color", "red"), "body.sending[0].courses[0].color"},
		{"receiving", many(10), ""},
		{"receiving", many(11), "body.receiving"},
		{"receiving", []fields{{"label": long(256)}}, "body.receiving[0].label"},
		{"receiving", []fields{{"label": ""}}, "body.receiving[0].label"},
		{"decision", "MAYBE", "body.decision"},
		{"decision", nil, "body.decision"},
		{"reason", long(10000), ""},
		{"reason", long(10001), "body.reason"},
		{"publicNote", long(10001), "body.publicNote"},
		{"privateNote", long(10001), "body.privateNote"},
		{"effectiveFrom", "2026-13-01", "body.effectiveFrom"},
		{"effectiveFrom", nil, "body.effectiveFrom"},
		{"effectiveTo", "2026-1-1", "body.effectiveTo"},
		{"effectiveTerm", long(51), "body.effectiveTerm"},
		{"reviewAfter", "soon", "body.reviewAfter"},
		{"programIds", nil, ""},
		{"published", nil, "body.published"},
		{"published", "yes", "body.published"},
		{"status", "DRAFT", "body.status"},
		{"decidedBy", fields{"name": "x"}, "body.decidedBy"},
		{"decidedAt", nil, "body.decidedAt"},
		{"evidence", nil, "body.evidence"},
	} {
		status := 422
		if test.at == "" {
			status = 201
		}
		r := s.one.must(status, "POST", "/articulations", elective("A").with(test.field, test.value).String())
		if test.at != "" && r.locations() != test.at {
			t.Errorf("%s %v: field errors at %s, want %s", test.field, test.value, r.locations(), test.at)
		}
	}
}
