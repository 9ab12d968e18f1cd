// Package api is the contract as data: every operation with its method, path,
// group, costs and answers. The HTTP floor, the OpenAPI document, the deployment
// and the local gateway all read this one table; handlers are bound to it
// elsewhere, so reading the contract never links the service.
package api

import (
	"net/http"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// BasePath precedes every path of the contract; it is also the API Gateway stage.
const BasePath = "/v1"

// Group names the Lambda function that answers an operation.
type Group string

// The groups, one folder below functions each.
const (
	Courses     Group = "courses"
	Jobs        Group = "jobs"
	Credentials Group = "credentials"
	Programs    Group = "programs"
	Transfers   Group = "transfers"
	Reports     Group = "reports"
	Labor       Group = "labor"
	Extractions Group = "extractions"
	Customers   Group = "customers"
)

// Groups lists all groups.
func Groups() []Group {
	return []Group{Courses, Jobs, Credentials, Programs, Transfers, Reports, Labor, Extractions, Customers}
}

// Cost is what a call takes from its customer's window, in units: Base, and
// PerItem for each item (transfer course, new syllabus) that its body asks for.
type Cost struct{ Base, PerItem int }

// UpFront is what a call costs at least, whatever its body: the base, or one item
// where an operation costs by items alone.
func (c Cost) UpFront() int {
	if c.Base == 0 {
		return c.PerItem
	}
	return c.Base
}

// Rest is what the items that a body asks for cost beyond UpFront.
func (c Cost) Rest(items int) int { return max(0, c.Base+c.PerItem*items-c.UpFront()) }

// Access says what a key must be allowed to do.
type Access int

// Public needs no key at all; Read any key; Write a key of scope write.
const (
	Read Access = iota
	Write
	Public
)

// Operation is one operation of the contract.
type Operation struct {
	ID      string
	Method  string
	Path    string // below BasePath, with {parameters}
	Group   Group
	Summary string
	Cost    Cost
	Status  int // of the successful answer
	Access  Access
	Idem    bool           // accepts Idempotency-Key
	Errors  []catalog.Code // beyond those that every operation of its kind can give
	Added   bool           // not in seed.md: x-extension
}

// Everywhere lists the codes that any operation with a key may answer.
var Everywhere = []catalog.Code{catalog.Unauthorized, catalog.RateLimitExceeded, catalog.Internal, catalog.Unavailable}

// Codes lists every error code the operation may answer.
func (o Operation) Codes() []catalog.Code {
	if o.Access == Public {
		// The stage's throttle stands before every call.
		return []catalog.Code{catalog.RateLimitExceeded, catalog.Internal, catalog.Unavailable}
	}
	codes := slices.Clone(Everywhere)
	codes = append(codes, o.Errors...)
	if o.HasBody() {
		codes = append(codes, catalog.MalformedJSON, catalog.PayloadTooLarge, catalog.UnsupportedMediaType, catalog.ValidationFailed)
	}
	if o.Idem {
		codes = append(codes, catalog.InvalidParameter, catalog.IdempotencyKeyReused)
	}
	if o.Access == Write {
		codes = append(codes, catalog.Forbidden, catalog.Conflict)
	}
	if strings.Contains(o.Path, "{") {
		codes = append(codes, catalog.NotFound, catalog.InvalidParameter)
	}
	if o.Method == http.MethodPatch || o.Method == http.MethodDelete {
		codes = append(codes, catalog.PreconditionFailed)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// HasBody says whether the operation reads a body.
func (o Operation) HasBody() bool {
	return (o.Method == http.MethodPost || o.Method == http.MethodPatch) && o.ID != "retryTransferCourse" &&
		o.ID != "matchTransferCourse" && o.ID != "matchTransferPackage"
}

// Expensive reports whether the call must not run while its customer's units cannot be counted.
func (o Operation) Expensive() bool { return o.Access == Write || o.Cost.UpFront() > 1 }

// CountsItems says whether the body of a call shows how many items it asks for. A
// PATCH asks for one only where its record had another syllabus.
func (o Operation) CountsItems() bool {
	return o.Cost.PerItem > 0 && o.Method == http.MethodPost
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

// Of gives the operation with that id; it panics for an id the contract lacks.
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
