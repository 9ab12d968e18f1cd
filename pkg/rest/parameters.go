package rest

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/pkg/catalog"
)

// parameter is one field of an input type that comes from path or query.
type parameter struct {
	name, in      string
	index         []int
	kind          reflect.Kind
	doc, fallback string
	pattern       string // that values of the right form have; the handler refuses others
	minimum       *float64
	maximum       *float64
	enum          []string
	date          bool
	minLength     *int // of a text, which is trimmed then
	required      bool
	list          bool // comma-separated values of the enum
	extension     bool // of an operation that is none itself
}

type parameters []parameter

// parametersOf reads the fields tagged path or query; default, minimum, maximum,
// enum, pattern, required and doc say the rest.
func parametersOf(t reflect.Type) parameters {
	var all parameters
	for _, f := range reflect.VisibleFields(t) {
		p := parameter{index: f.Index, kind: f.Type.Kind(), date: f.Tag.Get("format") == "date", doc: f.Tag.Get("doc"), fallback: f.Tag.Get("default"), pattern: f.Tag.Get("pattern"), required: f.Tag.Get("required") == "true"}
		if p.kind == reflect.Pointer {
			p.kind = f.Type.Elem().Kind()
		}
		if p.name = f.Tag.Get("path"); p.name != "" {
			p.in, p.required = "path", true
		} else if p.name = f.Tag.Get("query"); p.name != "" {
			p.in = "query"
		} else {
			continue
		}
		p.minimum, p.maximum = bound(f.Tag.Get("minimum")), bound(f.Tag.Get("maximum"))
		if length := bound(f.Tag.Get("minLength")); length != nil {
			p.minLength = new(int(*length))
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			p.enum = strings.Split(enum, ",")
		}
		p.list, p.extension = f.Type.Kind() == reflect.Slice, f.Tag.Get("extension") == "true"
		all = append(all, p)
	}
	return all
}

func bound(tag string) *float64 {
	if tag == "" {
		return nil
	}
	v, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic(err)
	}
	return &v
}

// fill sets the parameters' fields from the request, whose query may hold no others.
func (all parameters) fill(v reflect.Value, c *call) error {
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return catalog.Errorf(catalog.InvalidParameter, "The query cannot be decoded.")
	}
	if err := all.refuseOthers(query); err != nil {
		return err
	}
	for _, p := range all {
		value := p.fallback
		if p.in == "path" {
			value = c.route.Params[p.name]
		} else if given, ok := query[p.name]; ok {
			if len(given) > 1 {
				return p.refused("is given more than once")
			}
			value = given[0]
		} else if p.required {
			return p.refused("is missing")
		} else if p.fallback == "" {
			continue
		}
		if err := p.set(v.FieldByIndex(p.index), value); err != nil {
			return err
		}
	}
	return nil
}

// refuseOthers names the first parameter of a query that the operation does not have.
func (all parameters) refuseOthers(query url.Values) error {
	if len(query) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.ContainsFunc(all, func(p parameter) bool { return p.in == "query" && p.name == name }) {
			return catalog.Errorf(catalog.InvalidParameter, "%.100q is no parameter of this operation%s.", name, all.offer())
		}
	}
	return nil
}

// offer names the parameters that a query may hold.
func (all parameters) offer() string {
	var names []string
	for _, p := range all {
		if p.in == "query" {
			names = append(names, p.name)
		}
	}
	if names == nil {
		return ", which takes none"
	}
	return ", which takes " + strings.Join(names, ", ")
}

func (p parameter) refused(format string, args ...any) error {
	return catalog.Errorf(catalog.InvalidParameter, "%s %s.", p.name, fmt.Sprintf(format, args...))
}

var (
	integer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?\d+$`) })
	decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+(\.\d+)?$`) })
)

func (p parameter) set(field reflect.Value, value string) error {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil || !integer().MatchString(value) {
			return p.refused("must be an integer")
		}
		if p.minimum != nil && float64(n) < *p.minimum || p.maximum != nil && float64(n) > *p.maximum {
			return p.refused("must be %s", p.bounds())
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !decimal().MatchString(value) {
			return p.refused("must be a number")
		}
		if p.minimum != nil && f < *p.minimum || p.maximum != nil && f > *p.maximum {
			return p.refused("must be %s", p.bounds())
		}
		field.SetFloat(f)
	case reflect.Bool:
		if value != "true" && value != "false" {
			return p.refused("must be true or false")
		}
		field.SetBool(value == "true")
	case reflect.Slice:
		values := strings.Split(value, ",")
		for _, v := range values {
			if !slices.Contains(p.enum, v) {
				return p.refused("must be of %s", strings.Join(p.enum, ", "))
			}
		}
		field.Set(reflect.ValueOf(values))
	default:
		return p.setText(field, value)
	}
	return nil
}

// setText is set for a text, which may be a date or a word of a list.
func (p parameter) setText(field reflect.Value, value string) error {
	if p.minLength != nil {
		if value = strings.TrimSpace(value); len(value) < *p.minLength {
			return p.refused("must not be empty")
		}
	}
	if p.date {
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return p.refused("must be a date: YYYY-MM-DD")
		}
	}
	if p.enum != nil && !slices.Contains(p.enum, value) {
		return p.refused("must be one of %s", strings.Join(p.enum, ", "))
	}
	field.SetString(value)
	return nil
}

func (p parameter) bounds() string {
	if p.maximum == nil {
		return fmt.Sprintf("at least %v", *p.minimum)
	}
	return fmt.Sprintf("%v to %v", *p.minimum, *p.maximum)
}
