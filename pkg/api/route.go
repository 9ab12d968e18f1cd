package api

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Route is the result of matching a path and a method. It must not be modified.
type Route struct {
	Path      string            // path in the contract; "" if the path does not exist
	Operation *Operation        // nil if the path does not have the method
	Params    map[string]string // decoded path parameters
	Allowed   []string          // methods of the path
}

// Match finds the operation for a method and an escaped path that begins with BasePath. Paths are not cleaned: a
// trailing or doubled slash does not match. It returns an error if the path cannot be decoded.
func Match(method, escapedPath string) (Route, error) { return contract().Match(method, escapedPath) }

var contract = sync.OnceValue(func() Routes { return NewRoutes(operations) })

// Routes finds operations by method and path.
type Routes []pattern

// Match is like the function Match, for these routes.
func (all Routes) Match(method, escapedPath string) (Route, error) {
	if _, err := url.PathUnescape(escapedPath); err != nil {
		return Route{}, err
	}
	rest, ok := strings.CutPrefix(escapedPath+"/", BasePath+"/")
	if !ok {
		return Route{}, nil
	}
	rest = strings.TrimSuffix(rest, "/")
	var found *pattern
	for i := range all {
		if p := &all[i]; p.matches(rest) && (found == nil || p.parameters < found.parameters) {
			found = p
		}
	}
	if found == nil {
		return Route{}, nil
	}
	route := Route{Path: found.path, Params: found.params(rest), Allowed: found.methods}
	for _, o := range found.operations {
		if o.Method == method {
			route.Operation = o
		}
	}
	return route, nil
}

// pattern is a parsed path of the contract.
type pattern struct {
	path       string
	segments   []segment
	parameters int
	operations []*Operation
	methods    []string // sorted
}

// segment is a literal or a parameter.
type segment struct{ text, parameter string }

// NewRoutes returns the routes of operations.
func NewRoutes(operations []Operation) Routes {
	var all Routes
	at := map[string]int{} // in all, by path
	for i := range operations {
		o := &operations[i]
		if _, known := at[o.Path]; !known {
			at[o.Path] = len(all)
			all = append(all, newPattern(o.Path))
		}
		p := &all[at[o.Path]]
		p.operations = append(p.operations, o)
		p.methods = append(p.methods, o.Method)
		slices.Sort(p.methods)
	}
	return all
}

func newPattern(path string) pattern {
	p := pattern{path: path}
	for text := range strings.SplitSeq(path[1:], "/") {
		if name, ok := strings.CutPrefix(text, "{"); ok {
			p.segments = append(p.segments, segment{parameter: strings.TrimSuffix(name, "}")})
			p.parameters++
		} else {
			p.segments = append(p.segments, segment{text: text})
		}
	}
	return p
}

// matches reports whether an escaped path matches. The path / has one empty segment.
func (p *pattern) matches(path string) bool {
	for i, s := range p.segments {
		text, rest, more := strings.Cut(path, "/")
		if more != (i < len(p.segments)-1) || s.parameter == "" && text != s.text || s.parameter != "" && text == "" {
			return false
		}
		path = rest
	}
	return true
}

// params decodes the parameters of a matching path.
func (p *pattern) params(path string) map[string]string {
	if p.parameters == 0 {
		return nil
	}
	params := make(map[string]string, p.parameters)
	for _, s := range p.segments {
		text, rest, _ := strings.Cut(path, "/")
		if s.parameter != "" {
			// Match has checked that the path can be decoded.
			params[s.parameter], _ = url.PathUnescape(text)
		}
		path = rest
	}
	return params
}
