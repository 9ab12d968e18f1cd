package rest

import (
	"context"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type addSectionInput struct {
	Body struct {
		SectionID string `json:"sectionId" minLength:"1" maxLength:"64" doc:"Section to append; the credential must not contain another section of its course"`
	}
}

func (s *Server) bindCredentials() {
	describe(s, "getCredentialCTDL", catalog.CredentialKind)
	find(s, "listCredentials", service.Actor.FillCredentials)
	get(s, "getCredential", service.Actor.FillCredentials)
	create(s, "createCredential", service.Actor.CreateCredential)
	revise(s, "updateCredential", service.Actor.UpdateCredential)
	erase(s, "deleteCredential", service.Delete[*catalog.Credential])
	write(s, "addCredentialSection", func(
		ctx context.Context, c *call, in *addSectionInput,
	) (*catalog.Credential, *catalog.Change, error) {
		return c.actor().AddCredentialSection(ctx, c.recordID(), in.Body.SectionID)
	})
	remove(s, "removeCredentialSection", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		return c.actor().RemoveCredentialSection(ctx, c.param("credentialId"), c.param("sectionId"))
	})
	read(s, "buildCredential", buildCredential)
}

type builderInput struct {
	Body struct {
		JobIdentifiers   []catalog.ReportJob       `json:"jobIdentifiers" minItems:"1" maxItems:"20" doc:"Occupations and jobs that the credential prepares for"`
		AllowedCourseIDs []string                  `json:"allowedCourseIds,omitempty" maxItems:"1000" doc:"Courses whose sections may be proposed; all courses when absent or empty"`
		MinSections      *int                      `json:"minSections,omitempty" minimum:"1" maximum:"200" default:"1" doc:"Minimum number of sections"`
		MaxSections      *int                      `json:"maxSections,omitempty" minimum:"1" maximum:"200" default:"20" doc:"Maximum number of sections; at least minSections"`
		Weights          *credentialBuilderWeights `json:"weights,omitempty" doc:"Weights of the cost that a proposal minimizes; the defaults when absent"`
	}
}

type credentialBuilderWeights struct {
	OverlapPenalty       *float64 `json:"overlapPenalty,omitempty" minimum:"0" maximum:"100" default:"10" doc:"Weight of skills taught more than once"`
	SectionCountPenalty  *float64 `json:"sectionCountPenalty,omitempty" minimum:"0" maximum:"100" default:"30" doc:"Weight of the number of sections"`
	UndercoveragePenalty *float64 `json:"undercoveragePenalty,omitempty" minimum:"0" maximum:"100" default:"60" doc:"Weight of required skills that are not taught"`
}

func buildCredential(ctx context.Context, c *call, in *builderInput) (*service.Proposal, error) {
	body := in.Body
	weights, defaults := catalog.ValueOr(body.Weights, credentialBuilderWeights{}), alignment.DefaultWeights
	request := alignment.CredentialRequest{
		MinSections: catalog.ValueOr(body.MinSections, 1), MaxSections: catalog.ValueOr(body.MaxSections, 20),
		Weights: alignment.Weights{
			OverlapPenalty:       catalog.ValueOr(weights.OverlapPenalty, defaults.OverlapPenalty),
			SectionCountPenalty:  catalog.ValueOr(weights.SectionCountPenalty, defaults.SectionCountPenalty),
			UndercoveragePenalty: catalog.ValueOr(weights.UndercoveragePenalty, defaults.UndercoveragePenalty),
		},
	}
	return c.actor().BuildCredential(ctx, request, body.JobIdentifiers, body.AllowedCourseIDs)
}
