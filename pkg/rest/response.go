package rest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"skillscurriculum/pkg/catalog"
)

// encode returns the JSON of a response.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // every output can be encoded
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// maxPayload is the maximum size of a body as a JSON string: Lambda limits the function's response, headers included,
// to 6 MiB of JSON.
const maxPayload = 6_200_000

// payloadSize returns the size of a body as a JSON string.
func payloadSize(body []byte) int {
	size := len(body)
	for _, b := range body {
		switch {
		case b == '"', b == '\\', b == '\n', b == '\t', b == '\r', b == '\b', b == '\f':
			size++
		case b < ' ':
			size += len(`\u0000`) - 1
		}
	}
	return size
}

// fitting returns how many of the courses fit into one response. If all do, it renders them.
func (c *call) fitting(courses []*catalog.TransferCourse) int {
	if body := encode(courses); payloadSize(body) <= maxPayload {
		c.rendered = &rendered{body: body}
		return len(courses)
	}
	size := 0
	for i, course := range courses {
		if size += payloadSize(encode(course)) + len(","); size > maxPayload-len("[]") {
			return i
		}
	}
	return len(courses)
}

// fits returns an error for a response that is too large to be delivered.
func (c *call) fits(r response) error {
	switch {
	case len(r.body) < maxPayload/6 || payloadSize(r.body) <= maxPayload:
		return nil
	case c.op.HasBody():
		return catalog.Invalid(catalog.FieldError{
			Location: "body", Message: fmt.Sprintf("the response would exceed %d bytes: request less at a time", maxPayload),
		})
	}
	return catalog.Errorf(catalog.InvalidParameter, "The response would exceed %d bytes: request less at a time, or "+
		"another format.", maxPayload)
}
