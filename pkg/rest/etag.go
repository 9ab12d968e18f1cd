package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// tag sets the ETag if the operation has one, and that of the record where the body shows it otherwise.
func (c *call) tag(r response) {
	if c.current != nil {
		r.header[api.HeaderRecordETag] = tagOf(encode(c.current))
	}
	if c.op.ETag {
		r.header[api.HeaderETag] = tagOf(without(c.op.Passing, r.body))
	}
}

func tagOf(body []byte) []string {
	sum := sha256.Sum256(body)
	return []string{`"` + hex.EncodeToString(sum[:12]) + `"`}
}

// without removes a field from a JSON object, unless the field is "".
func without(field string, body []byte) []byte {
	if field == "" {
		return body
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		panic(err) // responses are objects
	}
	delete(fields, field)
	return encode(fields)
}

// unlessKnown returns 304 instead of the response if its ETag is in If-None-Match.
func (c *call) unlessKnown(r response) response {
	header, tag := c.request.Header.Get("If-None-Match"), r.header[api.HeaderETag]
	if header == "" || tag == nil || !matches(header, tag[0], true) {
		return r
	}
	out := response{status: http.StatusNotModified, header: http.Header{}}
	for name, values := range r.coded(c.request).header {
		if name == api.HeaderETag || name == api.HeaderRecordETag || name == "Vary" || name == "Cache-Control" {
			out.header[name] = values
		}
	}
	return out
}

// coded returns the response with the ETag of the content coding that API Gateway applies to it: each coding needs its
// own strong ETag (RFC 9110, section 8.8.3.3).
func (r response) coded(request *http.Request) response {
	tag := r.header[api.HeaderETag]
	if tag == nil || len(r.body) < api.CompressFrom {
		return r
	}
	r.header = maps.Clone(r.header)
	r.header[api.HeaderETag] = []string{
		api.CodedTag(tag[0], api.Coding(request.Header.Get("Accept-Encoding"), len(r.body))),
	}
	r.header["Vary"] = []string{strings.Join(append(slices.Clone(r.header["Vary"]), "Accept-Encoding"), ", ")}
	return r
}

// matches reports whether an If-Match or If-None-Match header contains an ETag, in any content coding. Weak tags match
// only in a weak comparison.
func matches(header, tag string, weak bool) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if weak {
			candidate = strings.TrimPrefix(candidate, "W/")
		}
		if candidate == "*" || api.PlainTag(candidate) == tag {
			return true
		}
	}
	return false
}

// checkIfMatch compares If-Match with the current ETag of the record's GET. It runs between the handler's reads and the
// save, which fails if the record has changed since, so that the version compared is the version changed.
func (c *call) checkIfMatch(ctx context.Context) error {
	header := c.request.Header.Get("If-Match")
	if header == "" || c.op.IfMatch == "" {
		return nil
	}
	// The GET is without the request's parameters.
	request, location := *c.request, *c.request.URL
	location.RawQuery = ""
	request.Method, request.Header, request.URL = http.MethodGet, http.Header{}, &location
	plain := *c.exchange
	plain.request = &request
	get := c.endpoints[c.op.IfMatch]
	current := *c
	current.exchange, current.op, current.location = &plain, get.Operation, ""
	current.links, current.rendered, current.begun = nil, nil, false
	shown, err := get.serve(ctx, &current)
	if c.op.Method == http.MethodDelete && catalog.HasCode(err, catalog.NotFound) {
		return nil // The change completes a deletion, which compared If-Match itself, or is stale.
	}
	if err != nil {
		return err
	}
	if !matches(header, shown.header[api.HeaderETag][0], false) {
		return catalog.Errorf(catalog.PreconditionFailed, "The record has changed: If-Match does not contain its current "+
			"ETag.")
	}
	return nil
}
