package rest

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
)

// What a JSON reader takes is what a second reading of it takes, trimmed.
func FuzzParseJSON(f *testing.F) {
	for _, body := range []string{"", "{}", "[]", `{"a":1,"a":2}`, `{"a":" x "}`, "\xff", `"\ud800"`, `1e400`, `{"a":{"b":[null,true,-0.5]}}`, strings.Repeat("[", 100)} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tree, err := parseJSON(body)
		if err != nil {
			var known *catalog.Error
			if !errors.As(err, &known) || known.Code != catalog.MalformedJSON && !(known.Code == catalog.ValidationFailed && json.Valid(body)) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q is taken", body)
		}
		again, err := parseJSON(encode(tree))
		if err != nil || !reflect.DeepEqual(again, tree) {
			t.Fatalf("%q reads as %v and then as %v, %v", body, tree, again, err)
		}
	})
}

// Whatever a body holds, it is either faulty, with each field error inside the body, or
// fits the type that its handler takes.
func FuzzValidate(f *testing.F) {
	s := New(&Server{})
	var operations []string
	for _, op := range api.Operations() {
		if s.endpoints[op.ID].schema != nil {
			operations = append(operations, op.ID)
		}
	}
	for i, body := range []string{
		`{"name":"A","code":"B"}`, `{"name":null}`, `[]`, `{"skills":[[]]}`, `{"skills":[{"skillId":"x","level":3,"confidence":0.5}]}`, `{"name":["x"]}`,
		`{"settings":{"jobs":[{"id":"x","lib":{}}],"area":null}}`, `{"courses":[{"name":"A"},null]}`, `{"matchingConfig":{"fullEquivalentThreshold":"1"}}`,
		`{"weights":[],"jobIdentifiers":{}}`, `{"salaryMin":1e308,"locations":[null]}`,
		`{"courseSectionIds":["a"," b "],"description":null}`, `{"name":" A ","employerId":"e","salaryMin":1.5,"salaryMax":null,"locations":[{"locationId":"l","type":"CITY","value":"v"}],"skills":null}`,
		`{"jobIdentifiers":[{"id":"x","lib":"soc"}],"minSections":2,"weights":{"overlapPenalty":0.5}}`, `{"name":"R","settings":{"courses":["c"],"area":{"code":"06"},"version":1,"view":"gap"}}`,
	} {
		f.Add(i, []byte(body))
	}
	f.Fuzz(func(t *testing.T, which int, body []byte) {
		tree, err := parseJSON(body)
		if err != nil {
			return
		}
		if which %= len(operations); which < 0 {
			which = -which
		}
		e := s.endpoints[operations[which]]
		wrong := schema.Validate(e.schema(), tree)
		for _, f := range wrong {
			if !strings.HasPrefix(f.Location, "body") || f.Message == "" {
				t.Errorf("%s %s: field error %+v", e.ID, body, f)
			}
		}
		if len(wrong) > 0 {
			return
		}
		field, _ := e.In.FieldByName("Body")
		if _, object := tree.(map[string]any); !object {
			return
		}
		if err := json.Unmarshal(encode(tree), reflect.New(field.Type).Interface()); err != nil {
			t.Errorf("%s takes %s, which does not fit: %v", e.ID, body, err)
		}
	})
}

// Whatever a query says, parameters are within their bounds or the query is an
// invalid_parameter.
func FuzzParameters(f *testing.F) {
	for _, query := range []string{"", "limit=5", "limit=+5", "limit=%2B5", "limit=5&limit=5", "offset=-0", "limit=%zz", "a;b", "limit=99999999999999999999", "offset=1e3", "fullEquivalentThreshold=0.5", "fullEquivalentThreshold=NaN", "include=evidence,evidence", "include=,"} {
		f.Add(query)
	}
	lists, matches, includes := schema.ParametersOf(reflect.TypeFor[pageInput](), nil), schema.ParametersOf(reflect.TypeFor[matchPackageInput](), nil), schema.ParametersOf(reflect.TypeFor[extractionInput](), nil)
	f.Fuzz(func(t *testing.T, query string) {
		check := func(err error) bool {
			var known *catalog.Error
			if err != nil && (!errors.As(err, &known) || known.Code != catalog.InvalidParameter) {
				t.Errorf("%q: %v", query, err)
			}
			return err == nil
		}
		var list pageInput
		if check(lists.Fill(reflect.ValueOf(&list).Elem(), query)) && (list.Limit < 1 || list.Limit > 100 || list.Offset < 0) {
			t.Errorf("%q gives %+v", query, list)
		}
		var match matchPackageInput
		if check(matches.Fill(reflect.ValueOf(&match).Elem(), query)) && match.Full != nil && (math.IsNaN(*match.Full) || *match.Full < 0 || *match.Full > 1) {
			t.Errorf("%q gives %v", query, *match.Full)
		}
		var include extractionInput
		if check(includes.Fill(reflect.ValueOf(&include).Elem(), query)) {
			for _, what := range include.Include {
				if what != "evidence" && what != "text" {
					t.Errorf("%q includes %q", query, what)
				}
			}
		}
	})
}

// Every format that the contract gives reports in has its encoder, and its short name.
func TestReportFormatsAreWritten(t *testing.T) {
	for _, op := range api.Operations() {
		if op.Group != api.Reports {
			continue
		}
		for i, media := range op.Gives {
			if media != api.JSON && reportFormats[media] == nil || op.Formats()[i] == "" {
				t.Errorf("%s gives %s, which nothing writes or asks for", op.ID, media)
			}
		}
	}
}
