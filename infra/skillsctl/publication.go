package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	usecase "skillscurriculum/pkg/service"
)

type organizationsSet struct {
	Organization catalog.OrgID `arg:"" placeholder:"ORG" help:"Organization to change."`
	Name         *string       `placeholder:"TEXT" help:"Name, on every page."`
	Description  *string       `placeholder:"TEXT" help:"What the institution is, in at least 15 characters."`
	Webpage      *string       `placeholder:"URL" help:"Its page, https."`
	AgentType    *string       `placeholder:"TERM" help:"Its type in CTDL, such as orgType:TwoYear."`
	CTID         *string       `name:"ctid" placeholder:"CTID" help:"Its identifier in the Credential Registry, if it has one already; can be set once."`
	Language     *string       `placeholder:"TAG" help:"Language of its catalog, such as en-US, the default."`
	Publication  *string       `enum:"on,off" placeholder:"on|off" help:"Whether ready records have public addresses."`
	Handle       *string       `placeholder:"NAME" help:"Its name in public addresses: 3 to 40 characters of a to z, 0 to 9 and -."`
}

// Run changes the given facts and shows all of them.
func (c *organizationsSet) Run(ctx context.Context, t *tool, s *service) error {
	before, err := s.organization(ctx, c.Organization)
	if err != nil {
		return err
	}
	after := *before
	in := catalog.OrganizationInput{
		Name: c.Name, Description: c.Description, Webpage: c.Webpage, AgentType: c.AgentType, CTID: c.CTID,
		Language: c.Language, Handle: c.Handle,
	}
	if c.Publication != nil {
		in.Publication = new(*c.Publication == "on")
	}
	if err := in.Apply(&after, ctdl.IsAgentType); err != nil {
		return err
	}
	if c.CTID != nil {
		var all usecase.CTIDs
		holders, err := all.Holders(ctx, usecase.Actor{Org: after.ID, Store: s.store}, []string{after.CTID})
		if err != nil {
			return err
		}
		if r := holders[after.CTID].Record; r != nil {
			return fmt.Errorf("the ctid is in use by the record %s", r.Base().ID)
		}
	}
	if err := s.store.ReplaceOrganization(ctx, before, &after); err != nil {
		return err
	}
	shown := shownOrganization{
		&after, after.RegistryID(), after.LanguageTag(), after.Publication, after.MissingFacts(),
	}
	return t.show(shown, func(w io.Writer) {
		fmt.Fprintf(w,
			"name\t%s\ndescription\t%s\nwebpage\t%s\nagentType\t%s\nctid\t%s\nlanguage\t%s\nhandle\t%s\npublication\t%t\n",
			after.Name, after.Description, after.Webpage, after.AgentType, shown.CTID, shown.Language, after.Handle,
			after.Publication)
		if len(shown.Missing) > 0 {
			fmt.Fprintf(w, "missing\t%s\n", strings.Join(shown.Missing, ", "))
		}
	})
}

// shownOrganization is an organization in the output, with its defaults.
type shownOrganization struct {
	*catalog.Organization
	CTID        string   `json:"ctid"`
	Language    string   `json:"language"`
	Publication bool     `json:"publication"`
	Missing     []string `json:"missing"` // facts that CTDL needs
}
