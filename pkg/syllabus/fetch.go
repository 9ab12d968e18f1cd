package syllabus

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/egress"
	"skillscurriculum/pkg/egress/address"
)

// Fetcher fetches documents from untrusted addresses. It keeps neither connections nor cookies between fetches. The
// zero Fetcher is ready to use and reaches only public https addresses. It is safe for concurrent use.
type Fetcher struct {
	// AllowedHosts are host:port pairs that may be private or use plain http (SYLLABUS_ALLOWED_HOSTS).
	AllowedHosts []string
	limits       bounds

	tls      *tls.Config   // nil for the system's roots; set by tests
	resolver *net.Resolver // nil for the system's; set by tests
}

// Fetched is a fetched document, with its content encoding undone.
type Fetched struct {
	Body        []byte
	ContentType string // as declared
	FinalName   string // file name from the response or the last address
}

// Fetch returns the document at the address, or a *catalog.Failure (see the table in the
// package comment). It tries once.
func (f *Fetcher) Fetch(ctx context.Context, href string) (Fetched, error) {
	limits := f.limits.withDefaults()
	if err := address.Check(href, f.AllowedHosts); err != nil {
		return Fetched{}, fail(catalog.ForbiddenAddress, "The address %s.", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limits.total)
	defer cancel()
	fetched, err := f.get(ctx, href, limits)
	if err != nil {
		return Fetched{}, fetchFailure(err)
	}
	return fetched, nil
}

func (f *Fetcher) get(ctx context.Context, href string, limits bounds) (Fetched, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, href, nil)
	if err != nil {
		return Fetched{}, err
	}
	request.Header = http.Header{
		"User-Agent": {"skills-curriculum-service (syllabus reader)"},
		"Accept": {"application/pdf, text/html, text/markdown, text/plain, " +
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document, */*;q=0.5"},
		"Accept-Encoding": {"gzip"},
	}
	client := http.Client{
		// Each fetch has its own transport: nothing is left behind, and no connection that was checked for one address is
		// used for another. A nil Proxy ignores the environment.
		Transport: &http.Transport{
			DialContext: egress.Dialer{
				AllowedHosts: f.AllowedHosts, Timeout: limits.connect, Resolver: f.resolver,
			}.DialContext,
			TLSClientConfig:        f.tls,
			TLSHandshakeTimeout:    limits.connect,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fail(catalog.Unreachable, "The address redirects more than %d times.", maxRedirects)
			}
			if err := address.CheckURL(next.URL, f.AllowedHosts); err != nil {
				return fail(catalog.ForbiddenAddress, "The address redirects to one that is not allowed.")
			}
			next.Header.Del("Referer")
			return nil
		},
	}
	response, err := client.Do(request)
	if err != nil {
		return Fetched{}, err
	}
	defer func() { _ = response.Body.Close() }()
	if failure := statusFailure(response.StatusCode); failure != nil {
		return Fetched{}, failure
	}
	body, err := readBody(response, limits)
	if err != nil {
		return Fetched{}, err
	}
	return Fetched{Body: body, ContentType: response.Header.Get("Content-Type"), FinalName: finalName(response)}, nil
}

// statusFailure returns nil for statuses of a response with the document.
func statusFailure(status int) *catalog.Failure {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == 401, status == 403, status == 407:
		return fail(catalog.LoginRequired, "The server requires a login (status %d).", status)
	case status == 408, status == 425, status == 429, status >= 500, status < 400:
		return fail(catalog.Unreachable, "The server did not return the document (status %d).", status)
	}
	return fail(catalog.DocumentNotFound, "The server has no document at the address (status %d).", status)
}

func fetchFailure(err error) *catalog.Failure {
	var failure *catalog.Failure
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &failure):
		return failure
	case egress.Forbidden(err):
		return fail(catalog.ForbiddenAddress, "The address is not public.")
	case errors.As(err, &dns):
		return fail(catalog.Unreachable, "The host's name cannot be resolved.")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) &&
		timeout.Timeout():
		return fail(catalog.TimedOut, "The server did not respond in time.")
	}
	return fail(catalog.Unreachable, "The server cannot be reached.")
}

// readBody reads the body regardless of its declared length, and undoes gzip.
func readBody(response *http.Response, limits bounds) ([]byte, error) {
	large := tooLarge("The document is larger than %d MB.", maxWire>>20)
	if response.ContentLength > maxWire {
		return nil, large
	}
	wire, err := io.ReadAll(io.LimitReader(response.Body, maxWire+1))
	if err != nil {
		return nil, err
	}
	if int64(len(wire)) > maxWire {
		return nil, large
	}
	switch strings.ToLower(strings.TrimSpace(response.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return wire, nil
	case "gzip", "x-gzip":
	default:
		return nil, fail(catalog.UnsupportedType, "The document is compressed in a way that is not supported.")
	}
	unzip, err := gzip.NewReader(bytes.NewReader(wire))
	if err != nil {
		return nil, fail(catalog.Malformed, "The document's compression is damaged.")
	}
	most := min(limits.decoded, max(1<<20, int64(len(wire))*maxRatio)) + 1
	body, err := io.ReadAll(io.LimitReader(unzip, most))
	if int64(len(body)) == most {
		return nil, tooLarge("The document expands to far more than it should.")
	}
	if err != nil {
		return nil, fail(catalog.Malformed, "The document's compression is damaged.")
	}
	return body, nil
}

func finalName(response *http.Response) string {
	if _, params, err := mime.ParseMediaType(response.Header.Get("Content-Disposition")); err == nil &&
		params["filename"] != "" {
		return path.Base(params["filename"])
	}
	return path.Base(response.Request.URL.Path)
}
