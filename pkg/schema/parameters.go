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

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/catalog"
)

// Parameter is a field of an input type that is set from the query.
type Parameter struct {
	Name      string
	Index     []int
	Schema    *huma.Schema // a text with a MinLength is trimmed; the handler checks the Pattern
	Required  bool
	Extension bool // extends an operation that is not an extension itself
}

// Parameters are the parameters of an operation's query.
type Parameters []Parameter

// ParametersOf returns the fields tagged query, with the rules in their other tags. A list has comma-separated values
// of an enumeration. The values of a parameter named format are formats.
func ParametersOf(t reflect.Type, formats []string) Parameters {
	registryMu.Lock()
	defer registryMu.Unlock()
	var all Parameters
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("query")
		if name == "" {
			continue
		}
		if f.Type.Kind() == reflect.Pointer {
			f.Type = f.Type.Elem() // absent, never null
		}
		of := huma.SchemaFromField(registry(), f, "")
		if name == "format" {
			for _, format := range formats {
				of.Enum = append(of.Enum, format)
			}
		}
		all = append(all, Parameter{
			Name: name, Index: f.Index, Schema: of, Required: f.Tag.Get("required") == "true",
			Extension: f.Tag.Get("extension") == "true",
		})
	}
	return all
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
		value := ""
		if given, ok := query[p.Name]; ok {
			if len(given) > 1 {
				return p.refused("must be given once")
			}
			value = given[0]
		} else if p.Required {
			return p.refused("is required")
		} else if p.Schema.Default == nil {
			continue
		} else {
			value = fmt.Sprint(p.Schema.Default)
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
		field.SetInt(int64(n))
		return p.checkBounds(float64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !decimal().MatchString(value) {
			return p.refused("must be a number")
		}
		field.SetFloat(f)
		return p.checkBounds(f)
	case reflect.Bool:
		if value != "true" && value != "false" {
			return p.refused("must be true or false")
		}
		field.SetBool(value == "true")
	case reflect.Slice:
		values := strings.Split(value, ",")
		for _, v := range values {
			if words := words(p.Schema.Items); !slices.Contains(words, v) {
				return p.refused("must be a list of %s", strings.Join(words, ", "))
			}
		}
		field.Set(reflect.ValueOf(values))
	default:
		return p.setText(field, value)
	}
	return nil
}

// checkBounds returns an error for a number that is too small or too large.
func (p Parameter) checkBounds(n float64) error {
	least, most := p.Schema.Minimum, p.Schema.Maximum
	switch {
	case (least == nil || n >= *least) && (most == nil || n <= *most):
		return nil
	case most == nil:
		return p.refused("must be at least %v", *least)
	}
	return p.refused("must be %v to %v", *least, *most)
}

// setText sets a text, a date or a value of an enumeration.
func (p Parameter) setText(field reflect.Value, value string) error {
	if least := p.Schema.MinLength; least != nil {
		if value = catalog.Trimmed(value); len(value) < *least {
			return p.refused("must not be empty")
		}
	}
	if most := p.Schema.MaxLength; most != nil && utf8.RuneCountInString(value) > *most {
		return p.refused("must be at most %d characters", *most)
	}
	if p.Schema.Format == "date" {
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return p.refused("must be a date, YYYY-MM-DD")
		}
	}
	if words := words(p.Schema); words != nil && !slices.Contains(words, value) {
		return p.refused("must be one of %s", strings.Join(words, ", "))
	}
	field.SetString(value)
	return nil
}

// words returns the values of an enumeration; nil if the schema is none.
func words(schema *huma.Schema) (words []string) {
	for _, value := range schema.Enum {
		words = append(words, value.(string))
	}
	return words
}
