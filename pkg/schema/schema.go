// Package schema derives the rules of requests from struct tags. It sets parameters and validates bodies. It is
// independent of operations.
package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"skillscurriculum/pkg/catalog"
)

// The schemas of bodies, each made on first use.
var (
	registryMu sync.RWMutex
	registry   = sync.OnceValue(func() huma.Registry { return NewRegistry(huma.DefaultSchemaNamer) })
)

// Prefix is the prefix of references to schemas.
const Prefix = "#/components/schemas/"

// Request ends the names of bodies, which are those of operations, not of Go types.
const Request = "Request"

// NewRegistry returns a registry in which an Optional has the schema of its value.
func NewRegistry(namer func(reflect.Type, string) string) huma.Registry {
	humaSettings()
	var r huma.Registry
	r = huma.NewMapRegistry(Prefix, func(t reflect.Type, hint string) string {
		optionals(r, t) // huma names a type before it makes the schemas of the fields
		if strings.HasSuffix(hint, Request) {
			return hint
		}
		return namer(t, hint)
	})
	for _, name := range []reflect.Type{reflect.TypeFor[catalog.OrgID](), reflect.TypeFor[catalog.CustomerID]()} {
		r.RegisterTypeAlias(name, reflect.TypeFor[string]())
	}
	return r
}

// optionals registers the types of the optional fields of a struct.
func optionals(r huma.Registry, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		if optional, ok := reflect.Zero(f.Type).Interface().(interface{ Type() reflect.Type }); ok {
			r.RegisterTypeAlias(f.Type, optional.Type())
		}
	}
}

// These settings are global in huma.
var humaSettings = sync.OnceFunc(func() { huma.DefaultArrayNullable, huma.ValidateStrictCasing = false, true })

// Of returns the schema of a body. name is its name in the OpenAPI document. No field of a patch is required.
func Of(t reflect.Type, name string, patch bool) *huma.Schema {
	registryMu.Lock()
	defer registryMu.Unlock()
	whole := registry().Schema(t, false, name)
	if !patch {
		return whole
	}
	if known := patches[whole]; known != nil {
		return known
	}
	made := *whole
	made.Required = nil
	made.PrecomputeMessages()
	patches[whole] = &made
	return &made
}

var patches = map[*huma.Schema]*huma.Schema{} // by the schema of the whole body

// ExcessAtItem makes the lists of the body that embeds it report the first item too many at its own location.
type ExcessAtItem struct{}

// TransformSchema implements huma.SchemaTransformer.
func (ExcessAtItem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, property := range s.Properties {
		if property.MaxItems != nil {
			excessAtItem.Store(property, true)
		}
	}
	return s
}

var excessAtItem sync.Map // of *huma.Schema: lists within ExcessAtItem

// Check trims the strings of a body of type T and returns its field errors. Imports check their rows with it.
func Check[T any](body map[string]any) []catalog.FieldError {
	return Validate(Of(reflect.TypeFor[T](), "", false), trim(body))
}

// CheckPatch is Check for a patch.
func CheckPatch[T any](body map[string]any) []catalog.FieldError {
	return Validate(Of(reflect.TypeFor[T](), "", true), trim(body))
}

// trim trims all strings, as parsing a request does.
func trim(v any) any {
	switch v := v.(type) {
	case string:
		return catalog.Trimmed(v)
	case []any:
		for i := range v {
			v[i] = trim(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = trim(v[k])
		}
	}
	return v
}

// MaxErrors is the maximum number of field errors in a response.
const MaxErrors = 100

const maxShown = 200 // characters of a value or a name in a field error

// Shown truncates a text for a field error.
func Shown(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxShown {
			return text[:i]
		}
	}
	return text
}

// The parts of huma's message for a missing property, before and after its name.
var missingBefore, missingAfter, _ = strings.Cut(validation.MsgExpectedRequiredProperty, "%s")

// Missing reports whether a field error is that a body lacks a required field, which a PATCH would leave as it is.
func Missing(e catalog.FieldError) bool {
	return strings.HasPrefix(e.Message, missingBefore) && strings.Count(e.Location, ".") == 1
}

// Validate returns the field errors of a value, sorted by location. It stops once there are more than MaxErrors. The
// location of a missing property is its own, not that of its parent.
func Validate(schema *huma.Schema, value any) []catalog.FieldError {
	registryMu.RLock()
	defer registryMu.RUnlock()
	c := checker{path: huma.NewPathBuffer(make([]byte, 0, 64), 0)}
	c.path.Push("body")
	c.check(schema, value)
	wrong := c.wrong
	for _, err := range c.result.Errors {
		detail := err.(*huma.ErrorDetail)
		fieldError := catalog.FieldError{Location: detail.Location, Message: plain(detail.Message)}
		if name, ok := strings.CutPrefix(detail.Message, missingBefore); ok {
			fieldError.Location += "." + strings.TrimSuffix(name, missingAfter)
		}
		switch value := detail.Value.(type) {
		case string:
			fieldError.Value = Shown(value)
		case float64, bool:
			fieldError.Value = value
		}
		wrong = append(wrong, fieldError)
	}
	slices.SortStableFunc(wrong, func(a, b catalog.FieldError) int {
		return cmp.Compare(inOrder(a.Location), inOrder(b.Location))
	})
	return wrong
}

// plain writes the bound at the end of a message without an exponent.
func plain(message string) string {
	at := strings.LastIndexByte(message, ' ') + 1
	if bound, err := strconv.ParseFloat(message[at:], 64); err == nil && strings.Contains(message[at:], "e+") {
		return message[:at] + strconv.FormatFloat(bound, 'f', -1, 64)
	}
	return message
}

// checker validates a body. huma always checks a whole value, so checker passes it the items of lists one by one, and
// no unknown properties.
type checker struct {
	path   *huma.PathBuffer
	result huma.ValidateResult  // found by huma
	wrong  []catalog.FieldError // found by checker
}

func (c *checker) full() bool { return len(c.result.Errors)+len(c.wrong) > MaxErrors }

func (c *checker) check(schema *huma.Schema, value any) {
	huma.Validate(registry(), shell(schema), c.path, huma.ModeWriteToServer, value, &c.result)
	c.within(schema, value)
}

// within checks what huma does not: the items of lists, unknown properties, and null. huma accepts null for optional
// fields, and for all fields of nullable objects.
func (c *checker) within(schema *huma.Schema, value any) {
	schema = resolved(schema)
	switch value := value.(type) {
	case []any:
		if schema.Items == nil {
			return // huma has reported that it must not be a list
		}
		if schema.MaxItems != nil && len(value) > *schema.MaxItems { // huma has reported the excess, unless it is at the item
			value = value[:*schema.MaxItems]
			if _, ok := excessAtItem.Load(schema); ok {
				c.path.PushIndex(len(value))
				c.wrong = append(c.wrong, catalog.FieldError{
					Location: c.path.String(), Message: fmt.Sprintf("must be one of at most %d items", len(value)),
				})
				c.path.Pop()
			}
		}
		for i, item := range value {
			if c.full() {
				return
			}
			c.path.PushIndex(i)
			c.check(schema.Items, item)
			c.path.Pop()
		}
	case map[string]any:
		if schema.Properties == nil {
			return
		}
		known := 0
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			field, given := value[name]
			if !given || c.full() {
				continue
			}
			known++
			property := resolved(schema.Properties[name])
			c.path.Push(name)
			if field == nil && !property.Nullable && (schema.Nullable || !slices.Contains(schema.Required, name)) {
				c.wrong = append(c.wrong, catalog.FieldError{Location: c.path.String(), Message: "must not be null"})
			}
			c.within(property, field)
			c.path.Pop()
		}
		if closed(schema) && known < len(value) && !c.full() {
			c.unknown(schema, value)
		}
	}
}

// unknown reports the first unknown properties of an object, by name.
func (c *checker) unknown(schema *huma.Schema, value map[string]any) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(value)), func(name string) bool {
		_, known := schema.Properties[name]
		return known
	})
	for _, name := range names[:min(len(names), MaxErrors+1)] {
		c.wrong = append(c.wrong, catalog.FieldError{
			Location: c.path.String() + "." + Shown(name), Message: validation.MsgUnexpectedProperty,
		})
	}
}

// closed reports whether unknown properties are errors.
func closed(schema *huma.Schema) bool {
	open, set := schema.AdditionalProperties.(bool)
	return set && !open
}

var shells sync.Map // of *huma.Schema to *huma.Schema

// shell returns the part of a schema that huma checks: without the items of lists, and with any properties.
func shell(schema *huma.Schema) *huma.Schema {
	schema = resolved(schema)
	if known, ok := shells.Load(schema); ok {
		return known.(*huma.Schema)
	}
	made := *schema
	switch {
	case schema.Items != nil:
		made.Items = &huma.Schema{}
		if _, ok := excessAtItem.Load(schema); ok {
			made.MaxItems = nil
		}
	case schema.Properties != nil:
		made.Properties = map[string]*huma.Schema{}
		for name, property := range schema.Properties {
			made.Properties[name] = shell(property)
		}
		if closed(schema) {
			made.AdditionalProperties = true
		}
	}
	shells.Store(schema, &made)
	return &made
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// inOrder pads numbers, so that [10] sorts after [9].
func inOrder(location string) string {
	return number().ReplaceAllStringFunc(location, func(digits string) string { return fmt.Sprintf("%7s", digits) })
}

// resolved follows references to a schema.
func resolved(schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = registry().SchemaFromRef(schema.Ref)
	}
	return schema
}
