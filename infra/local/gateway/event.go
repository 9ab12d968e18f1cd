package gateway

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/api"
)

// request is a request that the gateway has read.
type request struct {
	id    string
	path  string // as received, with the stage
	query map[string][]string
	route api.Route
	key   string
	body  []byte
}

// event returns the proxy event that API Gateway would create for the request.
func (in request) event(r *http.Request) events.APIGatewayProxyRequest {
	path := "/" + strings.TrimPrefix(strings.TrimPrefix(in.path, api.BasePath), "/")
	resource, parameters := in.route.Path, in.route.Params
	switch {
	case path == "/":
		resource = path
	case resource == "":
		resource, parameters = "/{proxy+}", map[string]string{"proxy": path[1:]}
	}
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	headers := maps.Clone(map[string][]string(r.Header))
	headers["Host"] = []string{r.Host}
	headers["X-Forwarded-For"] = []string{strings.Join(append(r.Header.Values("X-Forwarded-For"), ip), ", ")}
	headers["X-Forwarded-Proto"] = []string{"http"}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		headers["X-Forwarded-Port"] = []string{port}
	}
	now := time.Now().UTC()
	event := events.APIGatewayProxyRequest{
		Resource:                        resource,
		Path:                            path,
		HTTPMethod:                      r.Method,
		Headers:                         last(headers),
		MultiValueHeaders:               headers,
		QueryStringParameters:           last(in.query),
		MultiValueQueryStringParameters: in.query,
		PathParameters:                  parameters,
		Body:                            string(in.body),
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID:         "000000000000",
			APIID:             "local",
			Stage:             strings.TrimPrefix(api.BasePath, "/"),
			DomainName:        r.Host,
			RequestID:         in.id,
			ExtendedRequestID: in.id,
			Protocol:          r.Proto,
			ResourceID:        resource,
			ResourcePath:      resource,
			Path:              in.path,
			HTTPMethod:        r.Method,
			RequestTime:       now.Format("02/Jan/2006:15:04:05 -0700"),
			RequestTimeEpoch:  now.UnixMilli(),
			Identity:          events.APIGatewayRequestIdentity{APIKey: in.key, SourceIP: ip, UserAgent: r.UserAgent()},
		},
	}
	if !utf8.Valid(in.body) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(in.body), true
	}
	return event
}

// last keeps the last value of each name. It returns nil for no values.
func last(values map[string][]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	single := make(map[string]string, len(values))
	for name, list := range values {
		single[name] = list[len(list)-1]
	}
	return single
}

// parseQuery decodes a query like API Gateway, for which a semicolon is not a separator. It returns nil for no values.
func parseQuery(query string) (url.Values, error) {
	values, err := url.ParseQuery(strings.ReplaceAll(query, ";", "%3B"))
	if len(values) == 0 {
		values = nil
	}
	return values, err
}

// response is a response to a client. Header names keep their spelling.
type response struct {
	status int
	header map[string][]string
	body   []byte
}

// parseResponse reads a function's response. It returns an error for one that API Gateway
// would call malformed.
func parseResponse(out []byte) (response, error) {
	var proxy events.APIGatewayProxyResponse
	err := json.Unmarshal(out, &proxy)
	if err == nil && (proxy.StatusCode < 200 || proxy.StatusCode > 599) {
		err = fmt.Errorf("status %d", proxy.StatusCode)
	}
	a := response{status: proxy.StatusCode, header: map[string][]string{}, body: []byte(proxy.Body)}
	maps.Copy(a.header, proxy.MultiValueHeaders)
	for name, value := range proxy.Headers {
		if _, twice := a.header[name]; !twice {
			a.header[name] = []string{value}
		}
	}
	if err == nil && proxy.IsBase64Encoded {
		a.body, err = base64.StdEncoding.DecodeString(proxy.Body)
	}
	if err != nil {
		return response{}, fmt.Errorf("malformed response of the function: %w", err)
	}
	return a, nil
}

// compressed returns the response as API Gateway sends it to a client that accepts content
// codings.
func (a response) compressed(acceptEncoding string) response {
	coding := api.Coding(acceptEncoding, len(a.body))
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	default:
		return a
	}
	_, _ = w.Write(a.body) // writing to memory cannot fail
	_ = w.Close()
	a.header = maps.Clone(a.header)
	a.header["Content-Encoding"], a.body = []string{coding}, b.Bytes()
	return a
}

func (a response) write(w http.ResponseWriter) {
	header := w.Header()
	typed := false
	for name, values := range a.header {
		switch http.CanonicalHeaderKey(name) {
		case "Content-Length", "Transfer-Encoding", "Connection": // set by net/http
			continue
		case "Content-Type":
			typed = true
		}
		header[name] = values // Set would change the spelling
	}
	if !typed {
		header["Content-Type"] = nil // keeps net/http from guessing one
		if len(a.body) > 0 {
			header["Content-Type"] = []string{"application/json"}
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
