package schema

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
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
)

// Parameter is a field of an input type that is set from the query.
type Parameter struct {
	Name      string
	Index     []int
	Kind      reflect.Kind
	Doc       string
	Default   string
	Pattern   string // documents the form of values, which the handler checks
	Minimum   *float64
	Maximum   *float64
	Enum      []string
	Date      bool
	MinLength *int // in bytes; a text with a MinLength is trimmed
	MaxLength *int // in characters
	Required  bool
	List      bool // comma-separated values of Enum
	Extension bool // extends an operation that is not an extension itself
}

// Parameters are the parameters of an operation's query.
type Parameters []Parameter

// ParametersOf returns the fields tagged query, with their rules from the tags default, minimum, maximum, minLength,
// maxLength, enum, pattern and required. The values of a parameter named format are formats.
func ParametersOf(t reflect.Type, formats []string) Parameters {
	var all Parameters
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("query")
		if name == "" {
			continue
		}
		p := Parameter{
			Name: name, Index: f.Index, Kind: f.Type.Kind(), Date: f.Tag.Get("format") == "date", Doc: f.Tag.Get("doc"),
			Default: f.Tag.Get("default"), Pattern: f.Tag.Get("pattern"), Required: f.Tag.Get("required") == "true",
		}
		if p.Kind == reflect.Pointer {
			p.Kind = f.Type.Elem().Kind()
		}
		p.Minimum, p.Maximum = bound(f.Tag.Get("minimum")), bound(f.Tag.Get("maximum"))
		p.MinLength, p.MaxLength = length(f.Tag.Get("minLength")), length(f.Tag.Get("maxLength"))
		if enum := f.Tag.Get("enum"); enum != "" {
			p.Enum = strings.Split(enum, ",")
		} else if p.Name == "format" {
			p.Enum = formats
		}
		p.List, p.Extension = f.Type.Kind() == reflect.Slice, f.Tag.Get("extension") == "true"
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

func length(tag string) *int {
	if v := bound(tag); v != nil {
		return new(int(*v))
	}
	return nil
}

// Fill sets the fields of v from a query, which must not have other parameters.
func (all Parameters) Fill(v reflect.Value, rawQuery string) error {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return catalog.Errorf(catalog.InvalidParameter, "The query cannot be decoded.")
	}
	if err := all.refuseOthers(query); err != nil {
		return err
	}
	for _, p := range all {
		value := p.Default
		if given, ok := query[p.Name]; ok {
			if len(given) > 1 {
				return p.refused("must be given once")
			}
			value = given[0]
		} else if p.Required {
			return p.refused("is required")
		} else if p.Default == "" {
			continue
		}
		if err := p.set(v.FieldByIndex(p.Index), value); err != nil {
			return err
		}
	}
	return nil
}

// refuseOthers returns an error for the first parameter of a query that the operation does not have.
func (all Parameters) refuseOthers(query url.Values) error {
	if len(query) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.ContainsFunc(all, func(p Parameter) bool { return p.Name == name }) {
			return catalog.Errorf(catalog.InvalidParameter, "%.100q is not a parameter of this operation%s.", name, all.offer())
		}
	}
	return nil
}

// offer lists the parameters of the query.
func (all Parameters) offer() string {
	if len(all) == 0 {
		return ", which has none"
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return ", which has " + strings.Join(names, ", ")
}

func (p Parameter) refused(format string, args ...any) error {
	return catalog.Errorf(catalog.InvalidParameter, "%s %s.", p.Name, fmt.Sprintf(format, args...))
}

var (
	integer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?\d+$`) })
	decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+(\.\d+)?$`) })
)

func (p Parameter) set(field reflect.Value, value string) error {
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
		if p.Minimum != nil && float64(n) < *p.Minimum || p.Maximum != nil && float64(n) > *p.Maximum {
			return p.refused("must be %s", p.bounds())
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !decimal().MatchString(value) {
			return p.refused("must be a number")
		}
		if p.Minimum != nil && f < *p.Minimum || p.Maximum != nil && f > *p.Maximum {
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
			if !slices.Contains(p.Enum, v) {
				return p.refused("must be a list of %s", strings.Join(p.Enum, ", "))
			}
		}
		field.Set(reflect.ValueOf(values))
	default:
		return p.setText(field, value)
	}
	return nil
}

// setText sets a text, a date or a value of Enum.
func (p Parameter) setText(field reflect.Value, value string) error {
	if p.MinLength != nil {
		if value = catalog.Trimmed(value); len(value) < *p.MinLength {
			return p.refused("must not be empty")
		}
	}
	if p.MaxLength != nil && utf8.RuneCountInString(value) > *p.MaxLength {
		return p.refused("must be at most %d characters", *p.MaxLength)
	}
	if p.Date {
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return p.refused("must be a date, YYYY-MM-DD")
		}
	}
	if p.Enum != nil && !slices.Contains(p.Enum, value) {
		return p.refused("must be one of %s", strings.Join(p.Enum, ", "))
	}
	field.SetString(value)
	return nil
}

func (p Parameter) bounds() string {
	if p.Maximum == nil {
		return fmt.Sprintf("at least %v", *p.Minimum)
	}
	return fmt.Sprintf("%v to %v", *p.Minimum, *p.Maximum)
}
