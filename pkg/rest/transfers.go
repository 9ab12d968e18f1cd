package rest

import (
	"context"
	"fmt"
	"net/url"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

type transferCoursesInput struct {
	Limit  int `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of courses in the response; as many as fit when absent" extension:"true"`
	Offset int `query:"offset" default:"0" minimum:"0" doc:"Number of courses to skip" extension:"true"`
}

type createPackageInput struct {
	Body struct {
		catalog.TransferPackageInput
		Courses []catalog.TransferCourseInput `json:"courses,omitempty" maxItems:"50" doc:"Courses to create in the package, all or none"`
	}
}

type createTransferCoursesInput struct {
	Body struct {
		Courses []catalog.TransferCourseInput `json:"courses" minItems:"1" maxItems:"50" doc:"Courses to create, in this order, all or none"`
	}
}

type matchPackageInput struct {
	Full    *float64 `query:"fullEquivalentThreshold" minimum:"0" maximum:"1" doc:"Overrides the package's threshold for this response only"`
	Partial *float64 `query:"partialEquivalentThreshold" minimum:"0" maximum:"1" doc:"Overrides the package's threshold for this response only"`
}

// TransferCourseDetail is a transfer course as include shows it.
type TransferCourseDetail struct {
	*catalog.TransferCourse
	IncludedDecisions
	IncludedText
}

func (s *Server) bindTransfers() {
	find[*catalog.TransferPackage](s, "listTransferPackages")
	write(s, "createTransferPackage", createPackage)
	get[*catalog.TransferPackage](s, "getTransferPackage")
	revise(s, "updateTransferPackage", service.Revise[catalog.TransferPackageInput, catalog.TransferPackage])
	erase(s, "deleteTransferPackage", service.Actor.DeletePackage)
	read(s, "listTransferCourses", listTransferCourses)
	write(s, "createTransferCourses", createTransferCourses)
	read(s, "getTransferCourse", func(
		ctx context.Context, c *call, in *includeReviewedInput,
	) (*TransferCourseDetail, error) {
		course, err := c.transferCourse(ctx)
		if err != nil {
			return nil, err
		}
		included, err := c.includeReviewed(ctx, in.Include, course, course.Skills, false)
		if err != nil {
			return nil, err
		}
		text, err := c.includeText(ctx, in.Include, course, nil)
		return &TransferCourseDetail{course, included, text}, err
	})
	remove(s, "deleteTransferCourse", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		course, err := c.transferCourse(ctx)
		if err != nil {
			return nil, err
		}
		var change catalog.Change
		change.Delete(course, c.now, nil)
		return &change, nil
	})
	bindReviews[*catalog.TransferCourse](s, "reviewTransferCourseSkill", "deleteTransferCourseReview", func(
		ctx context.Context, c *call,
	) (service.Reviewable, error) {
		return c.actor().ReviewableTransferCourse(ctx, c.param("packageId"), c.param("transferCourseId"))
	})
	write(s, "retryTransferCourse", func(
		ctx context.Context, c *call, _ *none,
	) (*catalog.TransferCourse, *catalog.Change, error) {
		return c.actor().RetryTransferCourse(ctx, c.param("packageId"), c.param("transferCourseId"))
	})
	read(s, "matchTransferCourse", func(ctx context.Context, c *call, _ *none) (*service.Equivalencies, error) {
		return c.actor().Match(ctx, c.param("packageId"), c.param("transferCourseId"))
	})
	read(s, "matchTransferPackage", func(
		ctx context.Context, c *call, in *matchPackageInput,
	) (*service.PackageEquivalencies, error) {
		return c.actor().MatchPackage(ctx, c.recordID(),
			catalog.MatchingConfigInput{FullEquivalentThreshold: in.Full, PartialEquivalentThreshold: in.Partial})
	})
}

// transferCourse loads the transfer course in the path.
func (c *call) transferCourse(ctx context.Context) (*catalog.TransferCourse, error) {
	return service.GetIn[*catalog.TransferCourse](
		ctx, c.Store, c.org, c.param("packageId"), c.param("transferCourseId"), c.strong)
}

func listTransferCourses(ctx context.Context, c *call, in *transferCoursesInput) ([]*catalog.TransferCourse, error) {
	_, courses, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.TransferPackage, error) {
		return service.Get[*catalog.TransferPackage](ctx, c.Store, c.org, c.recordID(), c.strong) // 404 where it is gone
	}, func(ctx context.Context) ([]*catalog.TransferCourse, error) {
		return service.All[*catalog.TransferCourse](ctx, c.Store, c.org, c.recordID())
	})
	if err != nil {
		return nil, err
	}
	asked := courses[min(in.Offset, len(courses)):]
	if in.Limit > 0 {
		asked = asked[:min(in.Limit, len(asked))]
	}
	given := c.fitting(asked)
	if end := in.Offset + given; end < len(courses) {
		c.link("next", func(query url.Values) { query.Set("offset", fmt.Sprint(end)) })
	}
	return asked[:given], nil
}

// documentsOf lists the documents that courses name.
func documentsOf(courses []catalog.TransferCourseInput) []catalog.Optional[*string] {
	named := make([]catalog.Optional[*string], len(courses))
	for i, course := range courses {
		named[i] = course.DocumentID
	}
	return named
}

func createPackage(
	ctx context.Context, c *call, in *createPackageInput,
) (*catalog.TransferPackage, *catalog.Change, error) {
	actor, err := c.actorWithDocuments(ctx, documentsOf(in.Body.Courses)...)
	if err != nil {
		return nil, nil, err
	}
	return actor.CreatePackage(ctx, in.Body.TransferPackageInput, in.Body.Courses)
}

func createTransferCourses(
	ctx context.Context, c *call, in *createTransferCoursesInput,
) ([]*catalog.TransferCourse, *catalog.Change, error) {
	actor, err := c.actorWithDocuments(ctx, documentsOf(in.Body.Courses)...)
	if err != nil {
		return nil, nil, err
	}
	return actor.AddTransferCourses(ctx, c.recordID(), in.Body.Courses)
}
