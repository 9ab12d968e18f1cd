package rest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"skillscurriculum/pkg/catalog"
)

// The schemas that bodies are held to. Each is made when it is first needed.
var (
	registryMu sync.RWMutex
	registry   = sync.OnceValue(func() huma.Registry { return newRegistry(huma.DefaultSchemaNamer) })
)

const schemaPrefix = "#/components/schemas/"

// newRegistry returns a registry that knows what the contract's types stand for.
func newRegistry(namer func(reflect.Type, string) string) huma.Registry {
	humaSettings()
	r := huma.NewMapRegistry(schemaPrefix, namer)
	for optional, plain := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[catalog.Optional[string]]():                      reflect.TypeFor[string](),
		reflect.TypeFor[catalog.Optional[*string]]():                     reflect.TypeFor[*string](),
		reflect.TypeFor[catalog.Optional[*int]]():                        reflect.TypeFor[*int](),
		reflect.TypeFor[catalog.Optional[int]]():                         reflect.TypeFor[int](),
		reflect.TypeFor[catalog.Optional[bool]]():                        reflect.TypeFor[bool](),
		reflect.TypeFor[catalog.Optional[*float64]]():                    reflect.TypeFor[*float64](),
		reflect.TypeFor[catalog.Optional[*catalog.Credits]]():            reflect.TypeFor[*catalog.Credits](),
		reflect.TypeFor[catalog.Optional[[]string]]():                    reflect.TypeFor[[]string](),
		reflect.TypeFor[catalog.Optional[[]catalog.SkillInput]]():        reflect.TypeFor[[]catalog.SkillInput](),
		reflect.TypeFor[catalog.Optional[[]catalog.JobLocation]]():       reflect.TypeFor[[]catalog.JobLocation](),
		reflect.TypeFor[catalog.Optional[catalog.MatchingConfigInput]](): reflect.TypeFor[catalog.MatchingConfigInput](),
		reflect.TypeFor[catalog.Optional[catalog.InstitutionInput]]():    reflect.TypeFor[catalog.InstitutionInput](),
		reflect.TypeFor[catalog.Optional[[]catalog.AlternativeInput]]():  reflect.TypeFor[[]catalog.AlternativeInput](),
		reflect.TypeFor[catalog.Optional[[]catalog.GrantInput]]():        reflect.TypeFor[[]catalog.GrantInput](),
		reflect.TypeFor[catalog.Optional[catalog.Decision]]():            reflect.TypeFor[catalog.Decision](),
		reflect.TypeFor[catalog.Optional[*catalog.PersonInput]]():        reflect.TypeFor[*catalog.PersonInput](),
		reflect.TypeFor[catalog.Optional[bool]]():                        reflect.TypeFor[bool](),
		reflect.TypeFor[catalog.OrgID]():                                 reflect.TypeFor[string](),
		reflect.TypeFor[catalog.CustomerID]():                            reflect.TypeFor[string](),
	} {
		r.RegisterTypeAlias(optional, plain)
	}
	return r
}

// huma keeps these for the whole program.
var humaSettings = sync.OnceFunc(func() { huma.DefaultArrayNullable, huma.ValidateStrictCasing = false, true })

// contractSchema returns the schema of a body, under the name that the document
// knows it by.
func contractSchema(t reflect.Type, name string) *huma.Schema {
	registryMu.Lock()
	defer registryMu.Unlock()
	return registry().Schema(t, false, name)
}

const maxShown = 200 // characters of a value that a field error repeats

// What huma says of a property that is missing, before and after its name.
var missingBefore, missingAfter, _ = strings.Cut(validation.MsgExpectedRequiredProperty, "%s")

// validate returns a field error for each rule that the value breaks, in the order of
// their places. A missing property's place is its own, not that of its parent.
func validate(schema *huma.Schema, value any) []catalog.FieldError {
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	path.Push("body")
	registryMu.RLock()
	defer registryMu.RUnlock()
	var result huma.ValidateResult
	huma.Validate(registry(), schema, path, huma.ModeWriteToServer, value, &result)
	var wrong []catalog.FieldError
	for _, err := range result.Errors {
		detail, ok := err.(*huma.ErrorDetail)
		if !ok {
			wrong = append(wrong, catalog.FieldError{Location: "body", Message: err.Error()})
			continue
		}
		fieldError := catalog.FieldError{Location: detail.Location, Message: detail.Message}
		if name, ok := strings.CutPrefix(detail.Message, missingBefore); ok {
			fieldError.Location += "." + strings.TrimSuffix(name, missingAfter)
		}
		switch shown := detail.Value.(type) {
		case string:
			runes := []rune(shown)
			fieldError.Value = string(runes[:min(len(runes), maxShown)])
		case float64, bool:
			fieldError.Value = shown
		}
		wrong = append(wrong, fieldError)
	}
	wrong = append(wrong, nulls(schema, "body", value)...)
	slices.SortStableFunc(wrong, func(a, b catalog.FieldError) int { return cmp.Compare(inOrder(a.Location), inOrder(b.Location)) })
	return wrong
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// inOrder makes [10] stand after [9].
func inOrder(location string) string {
	return number().ReplaceAllStringFunc(location, func(digits string) string { return fmt.Sprintf("%7s", digits) })
}

// nulls finds the fields that are null although their schemas do not allow it and
// huma lets them pass: it takes the null of an optional field for an absent one, and
// allows a field whatever the object that has it may be.
func nulls(schema *huma.Schema, location string, value any) (wrong []catalog.FieldError) {
	schema = resolved(schema)
	switch value := value.(type) {
	case []any:
		if schema.Items == nil {
			return nil // told already: no list is wanted
		}
		for i, item := range value {
			wrong = append(wrong, nulls(schema.Items, fmt.Sprintf("%s[%d]", location, i), item)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			field, given := value[name]
			property, at := resolved(schema.Properties[name]), location+"."+name
			if given && field == nil && !property.Nullable && (schema.Nullable || !slices.Contains(schema.Required, name)) {
				wrong = append(wrong, catalog.FieldError{Location: at, Message: "must not be null"})
			}
			wrong = append(wrong, nulls(property, at, field)...)
		}
	}
	return wrong
}

// resolved returns the schema that a reference leads to.
func resolved(schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = registry().SchemaFromRef(schema.Ref)
	}
	return schema
}
