package rest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// seed are the fields of an object in the original contract, with those of the objects in them.
type seed map[string]seed

// these returns fields without fields of their own, and adds others.
func these(names string, more ...seed) seed {
	all := seed{}
	for _, name := range strings.Fields(names) {
		all[name] = nil
	}
	for _, other := range more {
		maps.Copy(all, other)
	}
	return all
}

// The operations of the original contract, by operationId, with the fields that it names. Each other field or parameter
// of theirs, in requests and responses, is marked as an extension, and nothing that it names.
func TestExtensionsAreMarked(t *testing.T) {
	record := "id organizationId createdAt updatedAt deletedAt "
	list := func(of seed) seed {
		return seed{"data": of, "pagination": these("total limit offset hasMore")}
	}
	skill := these("skillId skillName level confidence")
	courseProfile := "courseId courseName courseCode courseDefaultSectionId courseDisplayName "
	sectionProfile := these(courseProfile+"sectionId sectionName sectionInstructorName", seed{"sectionSkills": skill})
	course := these(record+"name code description defaultSectionId", seed{"sections": these("id name description")})
	section := these(record+"courseId name description instructorId syllabusHref", seed{"skills": skill})
	credential := these(record+"name description code", seed{"sections": sectionProfile})
	program := these(record+"name courseOrder derivedSocs description code cipCode",
		seed{"courses": these(courseProfile)})
	job := these(record+"name employerId description jobDescriptionHref salaryMin salaryMax onetSocCode",
		seed{"locations": these("type locationId"), "skills": skill})
	pack := these(record+"name transferFromInstitution description uniqueTag",
		seed{"matchingConfig": these("fullEquivalentThreshold partialEquivalentThreshold")})
	transfer := these(record+"packageId name processingStatus description syllabusHref", seed{"skills": skill})
	settings := these("courses view version",
		seed{"jobs": these("id lib"), "skills": these("id"), "area": these("code")})
	result := seed{
		"report": these(record+"name description", seed{"settings": settings}), "data": nil,
		"lookupData": {
			"courseProfiles": these(courseProfile), "sectionProfiles": sectionProfile,
			"jobProfiles":   these("jobId jobName", seed{"skillRequirements": skill}),
			"skillProfiles": these("skillId skillName"),
		},
	}
	contract := map[string]struct {
		parameters    string
		body, returns seed
	}{
		"listCourses":           {"limit offset", nil, list(course)},
		"getCourse":             {"courseId", nil, course},
		"getSection":            {"courseId sectionId", nil, section},
		"listJobs":              {"limit offset", nil, list(job)},
		"getCredential":         {"credentialId", nil, credential},
		"updateCredential":      {"credentialId", these("name description code courseSectionIds"), credential},
		"addCredentialSection":  {"credentialId", these("sectionId"), credential},
		"addProgramCourse":      {"programId", these("courseId"), program},
		"listTransferPackages":  {"limit offset", nil, list(pack)},
		"listTransferCourses":   {"packageId", nil, transfer},
		"createTransferCourses": {"packageId", seed{"courses": these("syllabusHref name description")}, transfer},
		"createReport":          {"", these("name description", seed{"settings": settings}), result},
		"getCustomerUsage":      {"customerId", nil, nil},
	}
	var document map[string]any
	if err := json.Unmarshal(openAPI(), &document); err != nil {
		t.Fatal(err)
	}
	at := func(v any, path ...string) any {
		for _, name := range path {
			object, _ := v.(map[string]any)
			v = object[name]
		}
		return v
	}
	resolved := func(v any) map[string]any {
		for {
			object, _ := v.(map[string]any)
			ref, ok := object["$ref"].(string)
			if !ok {
				return object
			}
			v = at(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	var compare func(where string, schema any, want seed)
	compare = func(where string, schema any, want seed) {
		object := resolved(schema)
		if want == nil || object == nil || object["type"] == "null" {
			return
		}
		for _, of := range []string{"oneOf", "anyOf"} {
			if ways, ok := object[of].([]any); ok {
				for _, way := range ways {
					compare(where, way, want)
				}
				return
			}
		}
		if items := object["items"]; items != nil {
			compare(where+"[]", items, want)
			return
		}
		properties, _ := object["properties"].(map[string]any)
		for name := range want {
			if properties[name] == nil {
				t.Errorf("%s lacks %s", where, name)
			}
		}
		for name, property := range properties {
			inner, known := want[name]
			if marked := at(property, "x-extension") == true; marked == known {
				t.Errorf("%s.%s is marked as an extension: %t", where, name, marked)
			}
			compare(where+"."+name, property, inner)
		}
	}
	for path, methods := range document["paths"].(map[string]any) {
		for method, v := range methods.(map[string]any) {
			op, _ := v.(map[string]any)
			id, _ := op["operationId"].(string)
			want, documented := contract[id]
			if id == "" || at(op, "x-extension") == true {
				continue
			}
			if !documented {
				t.Errorf("%s %s is %s", method, path, id)
				continue
			}
			delete(contract, id)
			parameters, _ := op["parameters"].([]any)
			for _, v := range parameters {
				p := resolved(v)
				name, _ := p["name"].(string)
				known := slices.Contains(strings.Fields(want.parameters), name)
				if marked := p["x-extension"] == true; marked == known {
					t.Errorf("%s: parameter %s is marked as an extension: %t", id, name, marked)
				}
			}
			for media, body := range asObject(at(resolved(op["requestBody"]), "content")) {
				compare(id+" "+media, at(body, "schema"), want.body)
			}
			for status, response := range asObject(op["responses"]) {
				if strings.HasPrefix(status, "2") {
					compare(id, at(resolved(response), "content", "application/json", "schema"), want.returns)
				}
			}
		}
	}
	for id := range contract {
		t.Errorf("%s is missing", id)
	}
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}
