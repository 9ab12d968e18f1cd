// Package api is the contract as data: every operation with its method, path, group, cost, headers, media types and
// errors. Package rest, the OpenAPI document, the deployment and the local gateway read this table. Handlers are bound
// to it elsewhere, so that reading the contract does not link the service.
package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// BasePath precedes every path of the contract; it is also the API Gateway stage.
const BasePath = "/v1"

// Group names the Lambda function that handles an operation.
type Group string

// The groups. Each has a folder in functions.
const (
	Courses       Group = "courses"
	Jobs          Group = "jobs"
	Credentials   Group = "credentials"
	Programs      Group = "programs"
	Transfers     Group = "transfers"
	Articulations Group = "articulations"
	Reports       Group = "reports"
	Labor         Group = "labor"
	Extractions   Group = "extractions"
	Documents     Group = "documents"
	Imports       Group = "imports"
	Webhooks      Group = "webhooks"
	Customers     Group = "customers"
	Docs          Group = "docs"
	Registry      Group = "registry"
)

// Groups lists all groups.
func Groups() []Group {
	return []Group{Courses, Jobs, Credentials, Programs, Transfers, Articulations, Reports, Labor, Extractions, Documents,
		Imports, Webhooks, Customers, Docs, Registry}
}

// Cost is the cost of a call in units: Base, and PerItem for each item (a transfer course or new syllabus, unless
// Operation.Item names another). Operation.ItemsIn names the fields of the body with the items: each element of an
// array counts, up to MaxItems, and a non-empty string is one item. The handler charges for items known only from
// loaded records.
type Cost struct{ Base, PerItem int }

// MaxItems is the maximum number of items in a call, unless its operation says otherwise.
const MaxItems = 50

// UpFront returns the minimum cost of a call: Base, or the cost of one item if Base is 0.
func (c Cost) UpFront() int {
	if c.Base == 0 {
		return c.PerItem
	}
	return c.Base
}

// Rest returns the cost of items beyond UpFront.
func (c Cost) Rest(items int) int { return max(0, c.Base+c.PerItem*items-c.UpFront()) }

// Access is the kind of key that an operation requires.
type Access int

// Read requires any key, Write a key of scope write, Public none.
const (
	Read Access = iota
	Write
	Public
)

// Operation is an operation of the contract. Its fields contain everything that handlers, the document, gateways and
// the deployment need, so that none of them depends on ids of operations.
type Operation struct {
	ID          string
	Method      string
	Path        string // below BasePath, with {parameters}
	Group       Group
	Summary     string // imperative, without a period
	Description string // whole sentences
	Access      Access
	Added       bool // extension of the original contract (x-extension)

	Cost    Cost
	Item    string   // item that Cost.PerItem counts; "" for a transfer course or new syllabus
	ItemsIn []string // fields of the body with items; see Cost
	Most    int      // maximum number of items in a call; 0 for MaxItems
	// Expensive calls start once they are admitted. Others run in parallel with their admission.
	Expensive bool

	Accepts    []string // media types of the request's body; nil for none
	Idempotent bool     // accepts Idempotency-Key
	IfMatch    string   // id of the GET whose ETag If-Match is compared with; "" for none

	Status  int      // of a successful response
	Begins  bool     // the status is 202 instead if the call starts an extraction
	Gives   []string // media types of a successful response, the default first; nil for no body
	Creates string   // id of the GET of the created record, for Location; "" for none
	ETag    bool     // the response has an ETag; a GET compares it with If-None-Match
	Record  bool     // the response can have X-Record-ETag
	Passing string   // field that differs in every response, which the ETag omits; "" for none
	Polled  bool     // the response has Retry-After while the record is worked on
	Leads   string   // id of the GET to which clients that prefer HTML are redirected; "" for none
	Pages   bool     // the response may be a page of a list, with Link
	Open    bool     // pages of any origin may read the response (CORS)

	Queues   bool           // starts extractions, so that its function needs the queue
	Notifies bool           // sends messages to webhooks, so that its function needs their queue
	Sealed   bool           // the response contains a secret, so that idempotency records are encrypted
	Errors   []catalog.Code // in addition to those that follow from the other fields
}

// HasBody reports whether requests have a body.
func (o Operation) HasBody() bool { return o.Accepts != nil }

// MostItems returns the maximum number of items in a call.
func (o Operation) MostItems() int { return cmp.Or(o.Most, MaxItems) }

// Parameters lists the names of the path's parameters, in its order.
func (o Operation) Parameters() (names []string) {
	for part := range strings.SplitSeq(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// ShowsPage reports whether the only media type is HTML.
func (o Operation) ShowsPage() bool { return len(o.Gives) == 1 && o.Gives[0] == HTML }

// Formats lists the short names of the media types in Gives.
func (o Operation) Formats() []string {
	names := make([]string, len(o.Gives))
	for i, media := range o.Gives {
		names[i] = formats[media]
	}
	return names
}

// Counted reports whether calls fail while units cannot be counted.
func (o Operation) Counted() bool { return o.Access == Write || o.Expensive }

// Codes lists the error codes of the operation.
func (o Operation) Codes() []catalog.Code {
	// The stage's throttle applies to every call, and unknown parameters are refused.
	codes := append([]catalog.Code{catalog.InvalidParameter, catalog.RateLimitExceeded, catalog.Internal,
		catalog.Unavailable}, o.Errors...)
	if o.Access != Public {
		codes = append(codes, catalog.Unauthorized)
	}
	if o.HasBody() {
		codes = append(codes, catalog.MalformedJSON, catalog.PayloadTooLarge, catalog.UnsupportedMediaType,
			catalog.ValidationFailed)
	}
	if o.Idempotent {
		codes = append(codes, catalog.IdempotencyKeyReused)
	}
	if o.Access == Write {
		codes = append(codes, catalog.Forbidden)
		if o.Method != http.MethodGet {
			codes = append(codes, catalog.Conflict)
		}
	}
	if strings.Contains(o.Path, "{") {
		codes = append(codes, catalog.NotFound)
	}
	if o.IfMatch != "" {
		codes = append(codes, catalog.PreconditionFailed)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Of returns the operation with an id. It panics if there is none.
func Of(id string) Operation {
	i := slices.IndexFunc(operations, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		panic("no operation " + id)
	}
	return operations[i]
}

// Operations lists all operations.
func Operations() []Operation { return slices.Clone(operations) }

// In lists the operations of a group.
func In(group Group) []Operation {
	return slices.DeleteFunc(Operations(), func(o Operation) bool { return o.Group != group })
}

// Notifies reports whether an operation of the group sends messages to webhooks.
func Notifies(group Group) bool {
	return slices.ContainsFunc(operations, func(o Operation) bool { return o.Group == group && o.Notifies })
}

// Queues reports whether an operation of the group starts extractions.
func Queues(group Group) bool {
	return slices.ContainsFunc(operations, func(o Operation) bool { return o.Group == group && o.Queues })
}
