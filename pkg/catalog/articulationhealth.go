package catalog

import (
	"fmt"
	"reflect"
	"strconv"
)

// ArticulationIssue is a reason to look at an approved articulation again.
type ArticulationIssue struct {
	ArticulationID string    `json:"articulationId"`
	Issue          IssueKind `json:"issue" enum:"COURSE_RETIRED,COURSE_RENAMED,CREDITS_CHANGED,SYLLABUS_CHANGED,REVIEW_DUE,EXPIRING" doc:"What needs a look"`
	Detail         string    `json:"detail" doc:"The issue in words"`
}

// IssueKind is a kind of issue.
type IssueKind string

// The issues.
const (
	CourseRetired   IssueKind = "COURSE_RETIRED"
	CourseRenamed   IssueKind = "COURSE_RENAMED"
	CreditsChanged  IssueKind = "CREDITS_CHANGED"
	SyllabusChanged IssueKind = "SYLLABUS_CHANGED"
	ReviewDue       IssueKind = "REVIEW_DUE"
	Expiring        IssueKind = "EXPIRING"
)

// expiringDays is the number of days before its last day for which an articulation is EXPIRING.
const expiringDays = 90

// RetiredCourse is the lifecycleStatus of a course that is no longer taught.
const RetiredCourse = "RETIRED"

// GrantedNow is the current state of an articulation's grants.
type GrantedNow struct {
	Courses map[string]*Course // the granted ones that are live
	// Document is the digest of the document behind the skills of the evidence's section; "" if the section is
	// deleted or has no document.
	Document string
}

// IssueFields are the fields of articulations that Issues needs.
var IssueFields = []string{
	"id", "status", "effectiveTo", "reviewAfter", "granted", "evidence.sectionId", "evidence.courseId",
	"evidence.extraction",
}

// Issues returns the articulation's issues as of today: changes since the approval, course by course, then dates. An
// articulation that is not approved or has ended has none.
func (a *Articulation) Issues(now GrantedNow, today string) []ArticulationIssue {
	if a.Status != ArticulationApproved || a.EndedBefore(today) {
		return nil
	}
	var issues []ArticulationIssue
	add := func(kind IssueKind, format string, args ...any) {
		issues = append(issues, ArticulationIssue{a.ID, kind, fmt.Sprintf(format, args...)})
	}
	for _, was := range a.Granted {
		course := now.Courses[was.CourseID]
		if course == nil {
			add(CourseRetired, "Course %s (%s %s) is deleted.", was.CourseID, was.Code, was.Name)
			continue
		}
		if course.LifecycleStatus == RetiredCourse {
			add(CourseRetired, "Course %s (%s %s) is RETIRED.", course.ID, course.Code, course.Name)
		}
		if course.Code != was.Code || course.Name != was.Name {
			add(CourseRenamed, "Course %s was %s %s and is %s %s.", course.ID, was.Code, was.Name, course.Code, course.Name)
		}
		if !reflect.DeepEqual(course.Credits, was.Credits) {
			add(CreditsChanged, "Course %s (%s %s) had %s and has %s.", course.ID, course.Code, course.Name, was.Credits,
				course.Credits)
		}
	}
	if e := a.Evidence; e != nil && e.Extraction.Section != nil && e.Extraction.Section.DocumentSHA256 != now.Document {
		add(SyllabusChanged, "Section %s of course %s has another syllabus than the one that was compared.", e.SectionID,
			e.CourseID)
	}
	if a.ReviewAfter != nil && *a.ReviewAfter < today {
		add(ReviewDue, "To be reviewed after %s.", *a.ReviewAfter)
	}
	if a.EffectiveTo != nil && *a.EffectiveTo <= addDays(today, expiringDays) {
		add(Expiring, "Ends on %s.", *a.EffectiveTo)
	}
	return issues
}

// String returns the credits as people write them.
func (c *Credits) String() string {
	if c == nil {
		return "no credits"
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	if c.Min == c.Max {
		return number(c.Min) + " " + c.Unit
	}
	return number(c.Min) + " to " + number(c.Max) + " " + c.Unit
}
