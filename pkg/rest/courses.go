package rest

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type listCoursesInput struct {
	namedPageInput
	Code string `query:"code" minLength:"1" doc:"Only courses with this code; spelling differences such as case are ignored" extension:"true"`
}

type listSectionsInput struct {
	pageInput
	ExternalID string                `query:"externalId" minLength:"1" doc:"Only the section with exactly this externalId"`
	CourseID   string                `query:"courseId" minLength:"1" doc:"Only sections of this course"`
	Term       string                `query:"term" minLength:"1" doc:"Only sections whose term has this code; case is ignored"`
	Status     catalog.SectionStatus `query:"status" enum:"PLANNED,ACTIVE,CANCELLED" doc:"Only sections with this status"`
}

type readSectionInput struct {
	Include []string `query:"include" enum:"evidence,reviews,rejected,outcomes,text" doc:"evidence adds evidence and provenance; text adds the text to which the evidence's offsets refer; reviews adds people's decisions on the skills; rejected adds the evidence of rejected skills; outcomes adds the outcomes found in the syllabus" extension:"true"`
}

// SectionDetail is a section as include shows it.
type SectionDetail struct {
	*catalog.Section
	IncludedDecisions
	FoundOutcomes *[]catalog.FoundOutcome `json:"foundOutcomes,omitempty" doc:"Outcomes that the syllabus states, in its order; empty without a syllabus; only with include=outcomes" extension:"true"`
	IncludedText
}

func (s *Server) bindCourses() {
	describe(s, "getCourseCTDL", catalog.CourseKind)
	bindOutcomes(s, catalog.CourseKind)
	read(s, "listOutcomes", listOutcomes)
	write(s, "adoptOutcomes", adoptOutcomes)
	read(s, "listCourses", listCourses)
	read(s, "listSections", listSections)
	get[*catalog.Course](s, "getCourse")
	create(s, "createCourse", func(
		a service.Actor, ctx context.Context, in catalog.CourseInput,
	) (*catalog.Course, *catalog.Change, error) {
		var change catalog.Change
		course, err := a.CreateCourse(ctx, in, catalog.SectionInput{}, &change)
		return course, &change, err
	})
	revise(s, "updateCourse", service.Actor.ReviseCourse)
	erase(s, "deleteCourse", service.Actor.DeleteCourse)
	write(s, "createSection", createSection)
	read(s, "getSection", func(ctx context.Context, c *call, in *readSectionInput) (*SectionDetail, error) {
		section, err := c.section(ctx)
		if err != nil {
			return nil, err
		}
		included, err := c.includeReviewed(ctx, in.Include, section, section.Skills, !section.Extracted())
		out := &SectionDetail{Section: section, IncludedDecisions: included}
		if err == nil && slices.Contains(in.Include, "outcomes") {
			var found []catalog.FoundOutcome
			found, err = c.actor().FoundOutcomes(ctx, section)
			out.FoundOutcomes = &found
		}
		if err != nil || !slices.Contains(in.Include, "text") {
			return out, err
		}
		course, err := service.Get[*catalog.Course](ctx, c.Store, c.org, section.CourseID, c.strong)
		if err != nil {
			return nil, err
		}
		out.IncludedText, err = c.includeText(ctx, in.Include, section, course)
		return out, err
	})
	write(s, "updateSection", updateSection)
	remove(s, "deleteSection", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		return c.actor().DeleteSection(ctx, c.param("courseId"), c.param("sectionId"))
	})
	bindReviews[*catalog.Section](s, "reviewSectionSkill", "deleteSectionReview", func(
		ctx context.Context, c *call,
	) (service.Reviewable, error) {
		return c.actor().ReviewableSection(ctx, c.param("courseId"), c.param("sectionId"))
	})
}

func listCourses(ctx context.Context, c *call, in *listCoursesInput) (Page[*catalog.Course], error) {
	if in.Code == "" {
		return list[*catalog.Course](ctx, c, in.namedPageInput)
	}
	return coded(ctx, c, in.namedPageInput, in.Code, func(
		ctx context.Context, _ service.Records, org catalog.OrgID, offset, limit int,
	) ([]*catalog.Course, int, error) {
		return c.Store.CoursesByCode(ctx, org, in.Code, offset, limit)
	})
}

func listSections(ctx context.Context, c *call, in *listSectionsInput) (Page[*catalog.Section], error) {
	filter := catalog.SectionFilter{ExternalID: in.ExternalID, CourseID: in.CourseID, Term: in.Term, Status: in.Status}
	if filter == (catalog.SectionFilter{}) {
		return Page[*catalog.Section]{}, catalog.Errorf(catalog.InvalidParameter,
			"At least one of externalId, courseId, term and status is required.")
	}
	if in.ExternalID == "" {
		sections, total, err := c.Server.sectionFinder.Find(ctx, c.actor(), filter, in.Offset, in.Limit)
		return page(c, in.pageInput, sections, total), err
	}
	sections, err := named[*catalog.Section](ctx, c, in.ExternalID)
	sections = slices.DeleteFunc(sections, func(s *catalog.Section) bool { return !filter.Selects(s.CourseID, s.Ref()) })
	return page(c, in.pageInput, catalog.PageOf(sections, in.Offset, in.Limit), len(sections)), err
}

// section loads the section that the path names.
func (c *call) section(ctx context.Context) (*catalog.Section, error) {
	section, err := service.Get[*catalog.Section](ctx, c.Store, c.org, c.param("sectionId"), c.strong)
	if err == nil && section.CourseID != c.param("courseId") {
		return nil, catalog.Absent()
	}
	return section, err
}

func createSection(
	ctx context.Context, c *call, in *body[catalog.SectionInput],
) (*catalog.Section, *catalog.Change, error) {
	actor, err := c.actorWithDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	return actor.CreateSection(ctx, c.recordID(), in.Body)
}

func updateSection(
	ctx context.Context, c *call, in *body[catalog.SectionInput],
) (*catalog.Section, *catalog.Change, error) {
	section, course, err := c.actor().SectionOf(ctx, c.param("courseId"), c.param("sectionId"))
	if err != nil {
		return nil, nil, err
	}
	actor, err := c.actorWithDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	if _, err := actor.ReviseSection(section, course, in.Body, &change); err != nil {
		return nil, nil, err
	}
	if len(change.Jobs()) > 0 && section.Source(course) == catalog.FromSyllabus {
		err = c.admission.items(ctx, 1)
	}
	return section, &change, err
}
