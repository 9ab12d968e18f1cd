// Package api is the contract as data: every operation with its method, path,
// group, cost, headers, media types and errors. The HTTP floor, the OpenAPI
// document, the deployment and the local gateway all read this one table; handlers
// are bound to it elsewhere, so reading the contract never links the service.
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

// The groups, one folder below functions each.
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
)

// Groups lists all groups.
func Groups() []Group {
	return []Group{Courses, Jobs, Credentials, Programs, Transfers, Articulations, Reports, Labor, Extractions, Documents, Imports, Webhooks, Customers, Docs}
}

// Cost is what a call takes from its customer's window, in units: Base, and
// PerItem for each item (transfer course, new syllabus; else see Operation.Item) that it asks for. Where a
// body shows the items, the operation says in which of its fields: an array has as
// many as it is long, up to MaxItems, and a text that is not empty is one. Where
// only the loaded record shows them, the handler charges for them.
type Cost struct{ Base, PerItem int }

// MaxItems is how many items one call may ask for, unless its operation says otherwise.
const MaxItems = 50

// UpFront is what a call costs at least, whatever its body: the base, or one item
// where an operation costs by items alone.
func (c Cost) UpFront() int {
	if c.Base == 0 {
		return c.PerItem
	}
	return c.Base
}

// Rest is what the items that a call asks for cost beyond UpFront.
func (c Cost) Rest(items int) int { return max(0, c.Base+c.PerItem*items-c.UpFront()) }

// Access is what a key must be allowed to do.
type Access int

// Public needs no key at all; Read any key; Write a key of scope write.
const (
	Read Access = iota
	Write
	Public
)

// Operation is one operation of the contract. What a handler, the document, a
// gateway or the deployment must know of an operation stands here: none of them
// asks which operation it is.
type Operation struct {
	ID          string
	Method      string
	Path        string // below BasePath, with {parameters}
	Group       Group
	Summary     string // in the imperative, without a period
	Description string // what the summary leaves out, in whole sentences
	Access      Access
	Added       bool // goes beyond the original contract: x-extension

	Cost    Cost
	Item    string   // what Cost.PerItem counts; "" for a transfer course or new syllabus
	ItemsIn []string // fields of the body whose items Cost.PerItem counts; see Cost
	Most    int      // how many items one call may ask for; 0 for MaxItems
	// Expensive calls run only once they are admitted; others run in parallel with
	// their admission, and only their outcome waits for it.
	Expensive bool

	Accepts    []string // media types of the request's body; nil when it has none
	Idempotent bool     // takes Idempotency-Key
	IfMatch    string   // id of the GET of the record that If-Match is compared with; "" when it takes none

	Status  int      // of the successful response
	Gives   []string // media types of the successful response, the default first; nil when it has no body
	Creates string   // id of the GET of the record that Location names; "" when there is none
	ETag    bool     // the response has an ETag, which a GET compares with If-None-Match
	Passing string   // field of the response that the ETag leaves out, because it is another in each; "" for none
	Leads   string   // id of the GET to which a client that prefers HTML is redirected; "" for none
	Pages   bool     // the response may be a part of a list: Link leads to the others

	Queues   bool           // starts extractions: its function may send to the queue
	Notifies bool           // sends messages to webhooks, by a queue of their own
	Sealed   bool           // what is recorded under its idempotency key is encrypted: the response shows a secret
	Errors   []catalog.Code // beyond those that follow from the other fields
}

// HasBody reports whether the operation reads a body.
func (o Operation) HasBody() bool { return o.Accepts != nil }

// MostItems is how many items one call may ask for.
func (o Operation) MostItems() int { return cmp.Or(o.Most, MaxItems) }

// ShowsPage reports whether the response is a page for people and nothing else.
func (o Operation) ShowsPage() bool { return len(o.Gives) == 1 && o.Gives[0] == HTML }

// Formats lists the short names of the media types that the operation gives, in their order.
func (o Operation) Formats() []string {
	names := make([]string, len(o.Gives))
	for i, media := range o.Gives {
		names[i] = formats[media]
	}
	return names
}

// Counted reports whether the call must not run while its customer's units cannot
// be counted.
func (o Operation) Counted() bool { return o.Access == Write || o.Expensive }

// Codes lists every error code of the operation's responses.
func (o Operation) Codes() []catalog.Code {
	// The stage's throttle stands before every call, and none takes parameters that
	// it does not declare.
	codes := append([]catalog.Code{catalog.InvalidParameter, catalog.RateLimitExceeded, catalog.Internal, catalog.Unavailable}, o.Errors...)
	if o.Access != Public {
		codes = append(codes, catalog.Unauthorized)
	}
	if o.HasBody() {
		codes = append(codes, catalog.MalformedJSON, catalog.PayloadTooLarge, catalog.UnsupportedMediaType, catalog.ValidationFailed)
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

// Paths lists the distinct paths of the contract in order of first mention.
func Paths() []string {
	var paths []string
	for _, o := range Operations() {
		if !slices.Contains(paths, o.Path) {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// Of returns the operation with that id; it panics for an id that the contract lacks.
func Of(id string) Operation {
	i := slices.IndexFunc(operations, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		panic("no operation " + id)
	}
	return operations[i]
}

// Operations lists the contract.
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
