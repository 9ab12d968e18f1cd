package rest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"skillscurriculum/pkg/catalog"
)

// parseJSON reads a JSON value, trims its strings, and refuses what is ambiguous:
// keys said twice, invalid UTF-8.
func parseJSON(body []byte) (any, error) {
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body is no JSON value, or says a key twice.").Because(err)
	}
	return trim(tree), nil
}

func trim(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
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

// The schemas of the contract's types, for validation and for the document. Each is
// made when it is first needed.
var (
	registryMu sync.RWMutex
	registry   = sync.OnceValue(newRegistry)
)

func newRegistry() huma.Registry {
	huma.DefaultArrayNullable, huma.ValidateStrictCasing = false, true
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for optional, plain := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[catalog.Optional[string]]():                reflect.TypeFor[string](),
		reflect.TypeFor[catalog.Optional[*string]]():               reflect.TypeFor[*string](),
		reflect.TypeFor[catalog.Optional[*float64]]():              reflect.TypeFor[*float64](),
		reflect.TypeFor[catalog.Optional[[]string]]():              reflect.TypeFor[[]string](),
		reflect.TypeFor[catalog.Optional[[]catalog.SkillInput]]():  reflect.TypeFor[[]catalog.SkillInput](),
		reflect.TypeFor[catalog.Optional[[]catalog.JobLocation]](): reflect.TypeFor[[]catalog.JobLocation](),
		reflect.TypeFor[catalog.Optional[matchingConfigInput]]():   reflect.TypeFor[matchingConfigInput](),
		reflect.TypeFor[catalog.OrgID]():                           reflect.TypeFor[string](),
		reflect.TypeFor[catalog.CustomerID]():                      reflect.TypeFor[string](),
	} {
		r.RegisterTypeAlias(optional, plain)
	}
	return r
}

// contractSchema gives the schema of a body, under the name that the document
// knows it by.
func contractSchema(t reflect.Type, name string) *huma.Schema {
	registryMu.Lock()
	defer registryMu.Unlock()
	return registry().Schema(t, false, name)
}

const maxShown = 200 // characters of a value that a fault repeats

// validate gives one fault for each rule that the value breaks.
func validate(schema *huma.Schema, value any) []catalog.Fault {
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	path.Push("body")
	registryMu.RLock()
	defer registryMu.RUnlock()
	var result huma.ValidateResult
	huma.Validate(registry(), schema, path, huma.ModeWriteToServer, value, &result)
	var faults []catalog.Fault
	for _, err := range result.Errors {
		detail, ok := err.(*huma.ErrorDetail)
		if !ok {
			faults = append(faults, catalog.Fault{Location: "body", Message: err.Error()})
			continue
		}
		fault := catalog.Fault{Location: detail.Location, Message: detail.Message}
		switch shown := detail.Value.(type) {
		case string:
			runes := []rune(shown)
			fault.Value = string(runes[:min(len(runes), maxShown)])
		case float64, bool:
			fault.Value = shown
		}
		faults = append(faults, fault)
	}
	return append(faults, nulls(schema, "body", value)...)
}

// nulls finds the optional fields that are null although their schemas do not
// allow it: huma takes such a null for an absent field.
func nulls(schema *huma.Schema, location string, value any) (faults []catalog.Fault) {
	for schema.Ref != "" {
		schema = registry().SchemaFromRef(schema.Ref)
	}
	switch value := value.(type) {
	case []any:
		if schema.Items == nil {
			return nil // told already: no list is wanted
		}
		for i, item := range value {
			faults = append(faults, nulls(schema.Items, fmt.Sprintf("%s[%d]", location, i), item)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			field, given := value[name]
			property, at := schema.Properties[name], location+"."+name
			if given && field == nil && !property.Nullable && !slices.Contains(schema.Required, name) {
				faults = append(faults, catalog.Fault{Location: at, Message: "must not be null"})
			}
			faults = append(faults, nulls(property, at, field)...)
		}
	}
	return faults
}
