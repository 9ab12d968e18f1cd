package openapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/schema"
)

// exampleOrigin is the origin of the events' requests.
const exampleOrigin = "https://api.example.org"

// example is a call of an operation and its response, from the events.
type example struct {
	params            map[string]string // of path and query
	request, response any               // bodies; nil for none
	text              string            // the response if it is not JSON
}

// example returns the example of an operation, which is empty if there is no event.
func (d document) example(id string) example {
	var event struct {
		PathParameters        map[string]string `json:"pathParameters"`
		QueryStringParameters map[string]string `json:"queryStringParameters"`
		Body                  string            `json:"body"`
	}
	var golden struct {
		Body any `json:"body"`
	}
	d.read(id+".json", &event)
	d.read(id+".golden.json", &golden)
	found := example{params: map[string]string{}}
	for _, params := range []map[string]string{event.PathParameters, event.QueryStringParameters} {
		for name, value := range params {
			found.params[name] = value
		}
	}
	if event.Body != "" {
		if err := json.Unmarshal([]byte(event.Body), &found.request); err != nil {
			panic(fmt.Sprintf("openapi: event %s: %v", id, err))
		}
	}
	if text, is := golden.Body.(string); is { // long JSON is not stored
		found.text = text
	} else {
		found.response = golden.Body
	}
	return found
}

// textOf returns an example of a media type from an operation that has only this one; nil if there is none.
func (d document) textOf(media string) any {
	for _, op := range api.Operations() {
		if len(op.Gives) == 1 && op.Gives[0] == media {
			if found := d.example(op.ID); found.text != "" {
				return found.text
			}
		}
	}
	return nil
}

// problems returns an example of each problem: the golden response, or a generic one.
func (d document) problems() map[string]*huma.Example {
	found := map[string]*huma.Example{}
	for _, code := range api.ProblemCodes() {
		var golden struct {
			Body any `json:"body"`
		}
		if !d.read("problem."+string(code)+".golden.json", &golden) {
			golden.Body = api.NewProblem(exampleOrigin, code, api.ProblemTitle(code)+".", api.BasePath+"/courses",
				"req-"+string(code))
		}
		found[string(code)] = &huma.Example{Summary: api.ProblemTitle(code), Value: golden.Body}
	}
	return found
}

// read reads a file and reports whether it exists.
func (d document) read(name string, into any) bool {
	packed, err := fs.ReadFile(d.events, name)
	if err != nil {
		return false
	}
	if err := json.Unmarshal(packed, into); err != nil {
		panic(fmt.Sprintf("openapi: event %s: %v", name, err))
	}
	return true
}

// exampleOf returns the value of a parameter in an example, with the type of its schema; nil if it is absent.
func exampleOf(p schema.Parameter, params map[string]string) any {
	value, given := params[p.Name]
	if !given {
		return nil
	}
	switch p.Schema.Type {
	case huma.TypeArray:
		return strings.Split(value, ",")
	case huma.TypeInteger:
		if n, err := strconv.Atoi(value); err == nil {
			return n
		}
	case huma.TypeNumber:
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			return f
		}
	case huma.TypeBoolean:
		return value == "true"
	}
	return value
}
