package rest

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Links to pages: a POST at a record's path + /links makes one, the public GET at its
// path + /shared shows the page to whoever has the token. The handlers of a kind call
// linkTo in the one and follow in the other.

type tokenInput struct {
	Token string `query:"token" required:"true" minLength:"1" doc:"the link's token, as the link's address has it"`
}

// linkTo makes a link to the page of a record.
func (c *call) linkTo(r catalog.Record, in catalog.LinkInput) (*catalog.LinkedPage, *catalog.Change, error) {
	token := c.IDs.New("lnk_")
	link := &catalog.Link{
		Hash: catalog.HashSecret(token), OrganizationID: c.org, Kind: catalog.KindOf(r), RecordID: r.Base().ID,
		KeyHash: c.caller.KeyHash, ValidUntil: c.now + catalog.Time(in.ExpiresInSeconds)*1000,
	}
	address := origin(c.request) + api.BasePath + catalog.HrefOf(r) + "/shared?" + url.Values{"token": {token}}.Encode()
	return &catalog.LinkedPage{URL: address, ExpiresAt: link.ValidUntil}, &catalog.Change{Links: []*catalog.Link{link}}, nil
}

// follow finds the organization that a link lets the request see one record of. A link
// that has ended, was revoked or never was are the same not_found.
func (c *call) follow(ctx context.Context, kind catalog.Kind, id, token string) error {
	ended := catalog.Errorf(catalog.NotFound, "The link has ended, was revoked, or was never given out. Ask for a new one.")
	link, err := c.Store.Link(ctx, catalog.HashSecret(token))
	if err != nil || link == nil {
		return cmp.Or(err, error(ended))
	}
	key, err := c.Callers.Keys.Key(ctx, link.KeyHash)
	if err != nil {
		return err
	}
	if !link.Shows(kind, id, key, c.now) {
		return ended
	}
	c.org = link.OrganizationID
	return nil
}

// origin returns the scheme and host at which the client reached the service; "" where
// the request does not say.
func origin(r *http.Request) string {
	host := cmp.Or(r.URL.Host, r.Host)
	if host == "" {
		return ""
	}
	if r.Header.Get("X-Forwarded-Proto") == "http" { // on one machine
		return "http://" + host
	}
	return "https://" + host
}
