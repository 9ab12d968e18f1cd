package api

import (
	"maps"
	"net/http"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// ProblemMediaType is the media type of every error response (RFC 9457).
const ProblemMediaType = "application/problem+json"

// Problem is the body of every error response.
type Problem struct {
	Type      string               `json:"type" format:"uri" doc:"Address of this kind of problem in the reference; ends in /problems/ and the code"`
	Title     string               `json:"title" doc:"Kind of the problem, for people"`
	Status    int                  `json:"status" doc:"HTTP status of the response"`
	Detail    string               `json:"detail" doc:"What went wrong, for people; the wording may change"`
	Instance  string               `json:"instance" doc:"Path of the request"`
	Code      catalog.Code         `json:"code" doc:"Kind of the problem, for programs; stable"`
	RequestID string               `json:"requestId" doc:"Id of the request in the service's logs; quote it in support requests"`
	Errors    []catalog.FieldError `json:"errors,omitempty" doc:"Field errors of the request, if any"`
}

// NewProblem returns a problem with the type, title and status of its code. origin is as for ProblemType, instance the
// full path with BasePath.
func NewProblem(
	origin string, code catalog.Code, detail, instance, requestID string, fields ...catalog.FieldError,
) Problem {
	kind := problems[code]
	return Problem{
		Type: ProblemType(origin, code), Title: kind.title, Status: kind.status, Detail: detail,
		Instance: instance, Code: code, RequestID: requestID, Errors: fields,
	}
}

// ProblemType returns the URL of a kind of problem in the reference. origin is the scheme and host by which the client
// reached the service; if it is "", the URL is relative.
func ProblemType(origin string, code catalog.Code) string {
	return origin + BasePath + "/docs#/problems/" + string(code)
}

// ProblemCodes lists the codes, sorted.
func ProblemCodes() []catalog.Code { return slices.Sorted(maps.Keys(problems)) }

// ProblemTitle returns the title of a code.
func ProblemTitle(code catalog.Code) string { return problems[code].title }

// Status returns the HTTP status of a code.
func Status(code catalog.Code) int { return problems[code].status }

var problems = map[catalog.Code]struct {
	status int
	title  string
}{
	catalog.MalformedJSON:        {http.StatusBadRequest, "Malformed JSON"},
	catalog.InvalidParameter:     {http.StatusBadRequest, "Invalid parameter"},
	catalog.Unauthorized:         {http.StatusUnauthorized, "Unauthorized"},
	catalog.Forbidden:            {http.StatusForbidden, "Forbidden"},
	catalog.NotFound:             {http.StatusNotFound, "Not found"},
	catalog.MethodNotAllowed:     {http.StatusMethodNotAllowed, "Method not allowed"},
	catalog.Conflict:             {http.StatusConflict, "Conflict"},
	catalog.PreconditionFailed:   {http.StatusPreconditionFailed, "Precondition failed"},
	catalog.PayloadTooLarge:      {http.StatusRequestEntityTooLarge, "Payload too large"},
	catalog.UnsupportedMediaType: {http.StatusUnsupportedMediaType, "Unsupported media type"},
	catalog.ValidationFailed:     {http.StatusUnprocessableEntity, "Validation failed"},
	catalog.IdempotencyKeyReused: {http.StatusUnprocessableEntity, "Idempotency key reused"},
	catalog.RateLimitExceeded:    {http.StatusTooManyRequests, "Rate limit exceeded"},
	catalog.Internal:             {http.StatusInternalServerError, "Internal error"},
	catalog.Unavailable:          {http.StatusServiceUnavailable, "Unavailable"},
}

// Names of headers, in the contract's spelling. They are assigned to header maps directly, because net/http would
// canonicalize them.
const (
	HeaderRequestID = "X-Request-Id"
	HeaderLimit     = "X-RateLimit-Limit"
	HeaderRemaining = "X-RateLimit-Remaining"
	HeaderReset     = "X-RateLimit-Reset"
	HeaderCost      = "X-RateLimit-Cost"
	HeaderKey       = "X-API-Key"
	HeaderETag      = "ETag"
	// HeaderRecordETag is the ETag of the record for If-Match, where the body is not the record alone.
	HeaderRecordETag = "X-Record-ETag"
)
