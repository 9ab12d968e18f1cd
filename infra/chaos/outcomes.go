package main

import (
	"fmt"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// promised is the register of the statements of a course or program, in their order.
const promised = "outcomes"

// statements are sentences of which most name skills. Few, so that lists supersede each other with common ones.
var statements = []string{
	"Write programs in Python", "Query relational databases with SQL", "Explain linear algebra", "Analyze algorithms",
	"Be a kind colleague", "Describe machine learning (K2)",
}

// replacesOutcomes returns the act of replacing the outcomes of a course or a program, often twice in a row, so that
// the second supersedes the reading of the first.
func replacesOutcomes(kind catalog.Kind) func(*client) {
	return on(kind, func(c *client, path string) {
		if kind == catalog.CourseKind && adoptedOnly(idOf(path)) {
			return
		}
		for range 1 + c.random.IntN(3) {
			var list []object
			var texts []string
			for _, n := range c.random.Perm(len(statements))[:c.random.IntN(5)] {
				outcome := object{"statement": statements[n], "code": fmt.Sprint("CLO ", n)}
				if c.chance(4) {
					outcome["level"], outcome["skills"] = 1+n%5, []object{{"skillId": "core:sql", "level": 2}}
				}
				list, texts = append(list, outcome), append(texts, statements[n])
			}
			if list == nil {
				list = []object{}
			}
			c.change(request{
				operation: "replace" + string(kind) + "Outcomes", path: path + "/outcomes", body: object{"outcomes": list},
				effects: map[string]string{idOf(path) + " " + promised: strings.Join(texts, "|")},
			})
		}
	})
}

// adoptedOnly reports whether clients only adopt outcomes of a course, and never replace them.
func adoptedOnly(course string) bool { return course[len(course)-2] < '8' }

// adoptOutcomes adopts the outcomes of a section's syllabus, usually while it gets another one.
func adoptOutcomes(c *client, path string) {
	course := strings.Join(strings.Split(path, "/")[:3], "/")
	if !adoptedOnly(idOf(course)) {
		return
	}
	adopt := request{operation: "adoptOutcomes", path: course + "/outcomes/adopt", body: object{"sectionId": idOf(path)}}
	c.change(adopt)
	c.during(adopt, func() {
		if c.chance(2) {
			c.patch(catalog.SectionKind, path, c.syllabus(object{}))
		}
	})
}

// reviewOutcome reviews a skill of an outcome.
func reviewOutcome(c *client, path string) {
	if outcome := c.outcome(catalog.CourseKind, path); outcome != "" {
		c.change(request{
			operation: "reviewCourseOutcomeSkill",
			path:      path + "/outcomes/" + outcome + "/skills/" + one(c, reviewable) + "/review",
			body:      object{"verdict": catalog.Accepted, "level": 1 + c.random.IntN(5)},
		})
	}
}

// outcome returns the id of a random outcome of a course or program, or "" if it has none.
func (c *client) outcome(kind catalog.Kind, path string) string {
	list := c.send(request{operation: "get" + string(kind) + "Outcomes", path: path + "/outcomes"}).parsed()
	outcomes, _ := list["outcomes"].([]any)
	if len(outcomes) == 0 {
		return ""
	}
	outcome, _ := one(c, outcomes).(object)
	return text(outcome, "id")
}

// outcomesOf returns the outcomes of a course or program; nil for none.
func (a *audit) outcomesOf(owner string) *catalog.OutcomeList {
	if r := a.live[catalog.OutcomeListID(owner)]; r != nil {
		return r.Record.(*catalog.OutcomeList)
	}
	return nil
}

// outcomes: each list belongs to a live course or program and ended as its statements require, the same statement
// always yields the same skills, and a section that takes its skills from outcomes has theirs.
func (a *audit) outcomes() {
	skills := map[string]string{} // by statement
	for _, r := range a.kinds[catalog.OutcomeListKind] {
		list := r.Record.(*catalog.OutcomeList)
		owner := a.record(r, catalog.OutcomeOwner(list.OwnerID), list.OwnerID)
		if owner == nil || list.ID != catalog.OutcomeListID(list.OwnerID) {
			a.breach("%s is live, but its owner %s is not", list.ID, list.OwnerID)
			continue
		}
		if course, ok := owner.Record.(*catalog.Course); ok && course.HasOutcomes != (len(list.Outcomes) > 0) {
			a.breach("%s has %d outcomes, but promises: %t", course.ID, len(list.Outcomes), course.HasOutcomes)
		}
		for _, name := range pendingAttributes {
			if r.row[name] != nil {
				a.breach("%s is %s but has %s", list.ID, list.ProcessingStatus, name)
			}
		}
		switch {
		case gaveUp(&list.Extraction) && list.Unread() > 0:
		case list.ProcessingStatus == catalog.Completed && list.Failure == nil && list.Unread() == 0:
			if list.Provenance != nil && a.rows[api.EvidenceRows.Key(string(list.OrganizationID))][list.ID] == nil {
				a.breach("%s was read, but its evidence is missing", list.ID)
			}
		default:
			a.breach("%s is %s with %d unread, failure %v", list.ID, list.ProcessingStatus, list.Unread(), list.Failure)
		}
		seen := map[string]bool{}
		for _, o := range list.Outcomes {
			if seen[o.ID] || seen[o.Statement] {
				a.breach("%s has %s twice: %q", list.ID, o.ID, o.Statement)
			}
			seen[o.ID], seen[o.Statement] = true, true
			if o.Unread || o.SkillsSource != catalog.ExtractedSkills || adoptedOnly(list.OwnerID) {
				continue
			}
			found := pack(catalog.Unreviewed(&o))
			if before, ok := skills[o.Statement]; ok && before != found {
				a.breach("%s: %q yielded %s, and elsewhere %s", o.ID, o.Statement, found, before)
			}
			skills[o.Statement] = found
		}
	}
}

// follows reports whether a section that takes its skills from its course's outcomes has theirs.
func (a *audit) follows(section *catalog.Section, found string) bool {
	list := a.outcomesOf(section.CourseID)
	if list == nil || section.ProcessingStatus != list.ProcessingStatus {
		return false
	}
	return found == pack(list.Union())
}
