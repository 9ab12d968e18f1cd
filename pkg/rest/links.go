package rest

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/service"
)

// Page links: POST {record}/links is bound with link; the public GET {record}/shared checks its token with
// follow and shows the page.

type tokenInput struct {
	Token string `query:"token" required:"true" minLength:"1" doc:"Token of the link, from its address"`
}

// link binds an operation that creates a link to the page of a record, which stands under its path and page.
func link[R catalog.Record](s *Server, id, page string) {
	write(s, id, func(
		ctx context.Context, c *call, in *body[catalog.LinkInput],
	) (*catalog.LinkedPage, *catalog.Change, error) {
		r, err := service.Get[R](ctx, c.Store, c.org, c.recordID(), c.strong)
		if err != nil {
			return nil, nil, err
		}
		token := c.IDs.New("lnk_")
		link := &catalog.Link{
			Hash: catalog.HashSecret(token), OrganizationID: c.org, Kind: catalog.KindOf(r), RecordID: r.Base().ID,
			KeyHash: c.caller.Key.Hash, ValidUntil: c.now + catalog.Time(in.Body.ExpiresInSeconds)*1000,
		}
		address := origin(c.request) + api.BasePath + catalog.HrefOf(r) + page + "/shared?" +
			url.Values{"token": {token}}.Encode()
		return &catalog.LinkedPage{URL: address, ExpiresAt: link.ValidUntil}, catalog.NewChange(link), nil
	})
}

// follow checks the token of a link to the record that the path names, and sets the call's organization to the link's.
// Expired, revoked and unknown links return the same not_found error.
func follow[R catalog.Record](ctx context.Context, c *call, token string) error {
	ended := catalog.Errorf(catalog.NotFound, "The link is unknown, expired or revoked. Ask for a new one.")
	link, err := c.Store.Link(ctx, catalog.HashSecret(token))
	if err != nil || link == nil {
		return cmp.Or(err, error(ended))
	}
	key, err := c.Callers.Keys.Key(ctx, link.KeyHash)
	if err != nil {
		return err
	}
	var record R
	if !link.Shows(catalog.KindOf(record), c.recordID(), key, c.now) {
		return ended
	}
	c.org = link.OrganizationID
	c.startPublic(ctx, "link:"+link.Hash, linkReads)
	return c.admission.wait()
}

// linkReads limits the reads of each link separately.
var linkReads = quota.Limit{Units: 120, Window: time.Minute}

// startPublic starts to charge a call without a key to a name, which must not be a customer id. Above the limit, the
// call is refused. If it cannot be counted, it is served.
func (c *call) startPublic(ctx context.Context, name string, limit quota.Limit) {
	counted := catalog.CustomerID(name)
	a := &admission{
		server: c.Server, customer: counted, op: c.op, window: limit.At(counted, c.now), units: 1, done: make(chan struct{}),
	}
	c.admission = a
	go func() {
		defer close(a.done)
		a.status, a.err = a.charge(ctx, a.units, 1)
	}()
}

// origin returns the scheme and host of the request; "" if unknown.
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
