package api

import (
	"net/url"
	"slices"
	"strings"
)

// Route is what a path and method lead to.
type Route struct {
	Path      string            // the contract's path, empty when there is none
	Operation *Operation        // nil when the path exists but not for the method
	Params    map[string]string // decoded path parameters
	Allowed   []string          // the path's methods
}

// Match finds the operation for an escaped path that begins with BasePath. The
// path is taken as it is: a trailing or doubled slash leads nowhere. The error
// says that a segment cannot be decoded.
func Match(method, escapedPath string) (Route, error) {
	if _, err := url.PathUnescape(escapedPath); err != nil {
		return Route{}, err
	}
	rest, ok := strings.CutPrefix(escapedPath, BasePath+"/")
	if !ok {
		return Route{}, nil
	}
	segments := strings.Split(rest, "/")
	var found Route
	for i := range operations {
		op := &operations[i]
		params, ok := match(op.Path, segments)
		if !ok {
			continue
		}
		if found.Path == "" || found.Path != op.Path && len(params) < len(found.Params) {
			found = Route{Path: op.Path, Params: params}
		}
		if found.Path != op.Path {
			continue
		}
		found.Allowed = append(found.Allowed, op.Method)
		if op.Method == method {
			found.Operation = op
		}
	}
	slices.Sort(found.Allowed)
	return found, nil
}

func match(path string, segments []string) (map[string]string, bool) {
	pattern := strings.Split(path[1:], "/")
	if len(pattern) != len(segments) {
		return nil, false
	}
	var params map[string]string
	for i, p := range pattern {
		if name, ok := strings.CutPrefix(p, "{"); ok {
			value, _ := url.PathUnescape(segments[i])
			if value == "" {
				return nil, false
			}
			if params == nil {
				params = map[string]string{}
			}
			params[strings.TrimSuffix(name, "}")] = value
		} else if p != segments[i] {
			return nil, false
		}
	}
	return params, true
}
