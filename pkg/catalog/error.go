package catalog

import (
	"errors"
	"fmt"
)

// Code is the stable part of an error response.
type Code string

// The codes; docs/contract.md says what each means.
const (
	MalformedJSON        Code = "malformed_json"
	InvalidParameter     Code = "invalid_parameter"
	Unauthorized         Code = "unauthorized"
	Forbidden            Code = "forbidden"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	Conflict             Code = "conflict"
	PreconditionFailed   Code = "precondition_failed"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	ValidationFailed     Code = "validation_failed"
	IdempotencyKeyReused Code = "idempotency_key_reused"
	RateLimitExceeded    Code = "rate_limit_exceeded"
	Internal             Code = "internal"
	Unavailable          Code = "unavailable"
)

// FieldError is a violation of a rule in a request: its location, a message, and the value.
type FieldError struct {
	Location string `json:"location" doc:"Location in the request: body, then names and [indexes], such as body.skills[0].level"`
	Message  string `json:"message" doc:"Explanation for people; the wording may change"`
	Value    any    `json:"value,omitempty" doc:"Value that was sent, or the id of the conflicting record"`
}

// Error is the service's only error type. Detail and Fields are shown to the caller; the wrapped cause never is.
type Error struct {
	Code   Code
	Detail string
	Fields []FieldError
	cause  error
}

// Errorf returns an Error; Because adds the cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Because attaches the cause that only logs show.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Invalid returns a validation_failed error with its field errors.
func Invalid(fields ...FieldError) *Error {
	const detail = "The request breaks a rule of the contract; errors lists where."
	return &Error{Code: ValidationFailed, Detail: detail, Fields: fields}
}

// Absent returns the error for records that are unknown, deleted or of another organization.
func Absent() *Error { return Errorf(NotFound, "There is no such record.") }

// ChangingTooFast returns the error for a page that concurrent changes kept from being read.
func ChangingTooFast() *Error {
	return Errorf(Unavailable, "The list is changing too fast at the moment.")
}

// HasCode reports whether err is an Error with the code.
func HasCode(err error, code Code) bool {
	var known *Error
	return errors.As(err, &known) && known.Code == code
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Detail
	for _, f := range e.Fields {
		text += "; " + f.Location + ": " + f.Message
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.cause }
