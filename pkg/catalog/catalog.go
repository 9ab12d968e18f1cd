// Package catalog is the language of the service: its records, the rules that change them, and its error codes. It
// imports nothing but the standard library and does no input or output; clocks and ids are passed in.
//
// A record is one struct: the Go field, the JSON name and the stored attribute are the same word.
package catalog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// OrgID names an organization. Every record belongs to one, and every store
// method takes it first, so that no key can be built without it.
type OrgID string

// CustomerID names a customer, the subject of rate limits.
type CustomerID string

// Time is an instant in milliseconds since the Unix epoch. As text it is RFC 3339
// in UTC with exactly three decimals: 2026-11-21T08:00:00.000Z.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf truncates t to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std returns the instant as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// After returns the first instant that is later than t and not before now: the updatedAt of a
// changed record, which therefore always increases.
func (t Time) After(now Time) Time { return max(now, t+1) }

// String is the text form.
func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalText is the text form.
func (t Time) MarshalText() ([]byte, error) { return t.Std().AppendFormat(nil, timeLayout), nil }

// UnmarshalText reads any RFC 3339 text.
func (t *Time) UnmarshalText(text []byte) error {
	std, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("not an RFC 3339 time: %q", text)
	}
	*t = TimeOf(std)
	return nil
}

// Meta has the fields common to all records.
type Meta struct {
	ID             string `json:"id" doc:"Id of the record: opaque, at most 64 characters, with a prefix that names its kind"`
	OrganizationID OrgID  `json:"organizationId" doc:"Organization that owns the record; determined by the API key"`
	CreatedAt      Time   `json:"createdAt" doc:"When the record was created"`
	UpdatedAt      Time   `json:"updatedAt" doc:"When the record last changed; later after every change"`
	DeletedAt      *Time  `json:"deletedAt" doc:"When the record was deleted; null while it is live"`
}

// NewMeta returns the Meta of a new record.
func NewMeta(id string, org OrgID, now Time) Meta {
	return Meta{ID: id, OrganizationID: org, CreatedAt: now, UpdatedAt: now}
}

// Base returns the record's Meta.
func (m *Meta) Base() *Meta { return m }

// Record is any record of the catalog.
type Record interface{ Base() *Meta }

// Optional is a field of a request that is absent, null (T is a pointer and Value nil) or set.
type Optional[T any] struct {
	Set   bool
	Value T
}

// Or returns the value, or old if the field is absent.
func (o Optional[T]) Or(old T) T {
	if o.Set {
		return o.Value
	}
	return old
}

// ValueOr returns what a pointer points to, or otherwise for nil.
func ValueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// Type returns the type of the value.
func (Optional[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// MarshalJSON encodes the value; omitzero omits absent fields.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON marks the field as set and decodes its value.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}
