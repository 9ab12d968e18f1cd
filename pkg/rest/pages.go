package rest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2/negotiation"

	"skillscurriculum/pkg/api"
)

// media returns the media type in which the client wants the response: format's, else
// the one of Accept.
func (c *call) media(format string) string {
	if i := slices.Index(c.op.Formats(), format); i >= 0 {
		return c.op.Gives[i]
	}
	return negotiation.SelectQValue(strings.Join(c.request.Header.Values("Accept"), ","), c.op.Gives)
}

// render sets what write writes as the response. policy is what a page may load.
func (c *call) render(media string, write func(w io.Writer) (policy string, err error)) error {
	var text bytes.Buffer
	policy, err := write(&text)
	c.rendered = &rendered{contentType: media + "; charset=utf-8", policy: policy, body: text.Bytes()}
	return err
}

// articulationPage renders an articulation as the page on which it is read and signed.
func (c *call) articulationPage(ctx context.Context, id string) (anything, error) {
	decision, err := c.actor().DecisionOn(ctx, id)
	if err != nil {
		return anything{}, err
	}
	return anything{}, c.render(api.HTML, func(w io.Writer) (string, error) { return c.Pages.Articulation(w, decision) })
}
