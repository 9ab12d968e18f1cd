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

// tag sets the ETag of a response that has one.
func (c *call) tag(r response) {
	if c.op.ETag {
		sum := sha256.Sum256(without(c.op.Passing, r.body))
		r.header[api.HeaderETag] = []string{`"` + hex.EncodeToString(sum[:12]) + `"`}
	}
}

// without returns a JSON object without one of its fields; "" takes none out.
func without(field string, body []byte) []byte {
	if field == "" {
		return body
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		panic(err) // it is a response, and an object
	}
	delete(fields, field)
	return encode(fields)
}

// unlessKnown returns 304 in the place of a response that If-None-Match names.
func (c *call) unlessKnown(r response) response {
	header, tag := c.request.Header.Get("If-None-Match"), r.header[api.HeaderETag]
	if header == "" || tag == nil || !matches(header, tag[0], true) {
		return r
	}
	out := response{status: http.StatusNotModified, header: http.Header{}}
	for name, values := range r.coded(c.request).header {
		if name == api.HeaderETag || name == "Vary" || name == "Cache-Control" {
			out.header[name] = values
		}
	}
	return out
}

// coded returns a long response with the ETag of the content coding that API
// Gateway sends it in: other bytes have another tag (RFC 9110, section 8.8.3.3).
func (r response) coded(request *http.Request) response {
	tag := r.header[api.HeaderETag]
	if tag == nil || len(r.body) < api.CompressFrom {
		return r
	}
	r.header = maps.Clone(r.header)
	r.header[api.HeaderETag] = []string{api.CodedTag(tag[0], api.Coding(request.Header.Get("Accept-Encoding"), len(r.body)))}
	r.header["Vary"] = []string{strings.Join(append(slices.Clone(r.header["Vary"]), "Accept-Encoding"), ", ")}
	return r
}

// matches compares an If-Match or If-None-Match header with an ETag, and takes that
// of any content coding for it. Weak tags only match where the comparison is weak.
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

// checkIfMatch compares If-Match with the record as its GET shows it now. It runs
// after the handler has loaded the record and before its change is saved, which
// fails if the record was changed in between: what is compared is what is changed.
func (c *call) checkIfMatch(ctx context.Context) error {
	header := c.request.Header.Get("If-Match")
	if header == "" || c.op.IfMatch == "" {
		return nil
	}
	// Parameters of the request do not change what the record's GET shows.
	request, location := *c.request, *c.request.URL
	location.RawQuery = ""
	request.Method, request.Header, request.URL = http.MethodGet, http.Header{}, &location
	plain := *c.exchange
	plain.request = &request
	get := c.endpoints[c.op.IfMatch]
	current := *c
	current.exchange, current.op, current.location, current.links, current.rendered = &plain, get.Operation, "", nil, nil
	shown, err := get.serve(ctx, &current)
	if err != nil {
		return err
	}
	if !matches(header, shown.header[api.HeaderETag][0], false) {
		return catalog.Errorf(catalog.PreconditionFailed, "The record is not the one that If-Match names.")
	}
	return nil
}
