package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// encode writes JSON as the service sends it.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // outputs hold nothing that JSON cannot say
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func joinLinks(links []string) string { return strings.Join(links, ", ") }

// maxPayload is how long a body may be, in bytes of the function's own response: a
// JSON text, of at most 6 MiB with its headers, in which the body is a string.
const maxPayload = 6_200_000

// payloadSize returns how long a body is as a JSON string.
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

// fitting returns how many of the courses fit one response, and renders them where
// all do.
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

// fits refuses a response that could not be delivered, and says what to ask for.
func (c *call) fits(r response) error {
	switch {
	case len(r.body) < maxPayload/6 || payloadSize(r.body) <= maxPayload:
		return nil
	case c.op.HasBody():
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: fmt.Sprintf("the response would be longer than %d bytes: ask for less at a time", maxPayload)})
	}
	return catalog.Errorf(catalog.InvalidParameter, "The response would be longer than %d bytes: ask for less at a time, or for another format.", maxPayload)
}
