package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

type printJSON struct {
	Path string `arg:"" optional:"" help:"What to print of it: .name (or name), [0], or [name=value] for the first element that has that value."`
}

// Run prints the JSON of the standard input with indentation, or what stands at a
// path of it: a string without its quotes.
func (c *printJSON) Run(_ context.Context, t *tool) error {
	text, err := io.ReadAll(t.stdin)
	if err != nil {
		return err
	}
	if !json.Valid(text) {
		return fmt.Errorf("the input is not JSON: %.80s", text)
	}
	value, err := at(text, c.Path)
	if err != nil {
		return err
	}
	var word string
	if c.Path != "" && json.Unmarshal(value, &word) == nil {
		_, err = fmt.Fprintln(t.stdout, word)
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(value), "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.stdout, out.String())
	return err
}

var step = regexp.MustCompile(`^(?:\.([^.\[]+)|\.?\[(\d+)\]|\.?\[([^=\]]+)=([^\]]*)\])`)

// at returns the value at a path.
func at(value json.RawMessage, path string) (json.RawMessage, error) {
	if path != "" && !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	for rest := path; rest != "" && rest != "."; {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("the path goes wrong at %s", rest)
		}
		rest = rest[len(m[0]):]
		var next json.RawMessage
		if m[1] != "" {
			var object map[string]json.RawMessage
			if json.Unmarshal(value, &object) == nil {
				next = object[m[1]]
			}
		} else {
			var list []json.RawMessage
			if json.Unmarshal(value, &list) == nil {
				next = element(list, m[2], m[3], m[4])
			}
		}
		if next == nil {
			return nil, fmt.Errorf("there is no %s in the input", strings.TrimSuffix(path, rest))
		}
		value = next
	}
	return value, nil
}

// element returns the element with an index, or the first one whose field has a
// value; nil for none.
func element(list []json.RawMessage, index, name, value string) json.RawMessage {
	if index != "" {
		if i, err := strconv.Atoi(index); err == nil && i < len(list) {
			return list[i]
		}
		return nil
	}
	for _, e := range list {
		var fields map[string]any
		if json.Unmarshal(e, &fields) == nil && fmt.Sprint(fields[name]) == value {
			return e
		}
	}
	return nil
}
