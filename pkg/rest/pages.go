package rest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2/negotiation"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/service/parallel"
)

// media returns the media type that the client prefers, by the parameter format or else by Accept.
func (c *call) media(format string) string {
	if i := slices.Index(c.op.Formats(), format); i >= 0 {
		return c.op.Gives[i]
	}
	return negotiation.SelectQValue(strings.Join(c.request.Header.Values("Accept"), ","), c.op.Gives)
}

// render makes the output of write the response. policy is the Content-Security-Policy of a page.
func (c *call) render(media string, write func(w io.Writer) (policy string, err error)) error {
	var text bytes.Buffer
	policy, err := write(&text)
	c.rendered = &rendered{contentType: media + "; charset=utf-8", policy: policy, body: text.Bytes()}
	return err
}

// masthead returns what the page of a record names.
func (c *call) masthead(ctx context.Context, record string) (alignment.Masthead, error) {
	m := alignment.Masthead{Record: record, Made: c.now}
	organization, err := c.Store.Organization(ctx, c.org)
	if organization != nil { // organizations of early releases have no name
		m.Organization = organization.Name
	}
	return m, err
}

// articulationPage renders the articulation that the path names as a page.
func (c *call) articulationPage(ctx context.Context) (anything, error) {
	id := c.recordID()
	m, decision, err := parallel.Two(ctx, parallel.Call(c.masthead, id), parallel.Call(c.actor().DecisionOn, id))
	if err != nil {
		return anything{}, err
	}
	return anything{}, c.render(api.HTML, func(w io.Writer) (string, error) {
		return c.Pages.Articulation(w, m, decision)
	})
}
