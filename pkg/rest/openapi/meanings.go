package openapi

import (
	"reflect"
	"strings"
)

// meanings has the descriptions of parameters and properties that mean the same everywhere. Others have a doc tag.
var meanings = map[string]string{
	"organizationId": "Id of the organization that the API key belongs to",
	"customerId":     "Id of the customer",
	"courseId":       "Id of the course",
	"courseName":     "Name of the course",
	"sectionId":      "Id of the section",
	"sectionName":    "Name of the section",
	"programId":      "Id of the program",
	"credentialId":   "Id of the stackable credential",
	"jobId":          "Id of the job of the organization, or SOC code of the occupation",
	"packageId":      "Id of the transfer package",
	"reportId":       "Id of the report",
	"documentId":     "Id of the document",
	"extractionId":   "Id of the extraction",
	"importId":       "Id of the import",
	"articulationId": "Id of the articulation",
	"outcomeId":      "Id of the outcome",
	"ctid":           "Identifier of the entity in the Credential Registry",
	"handle":         "Name of the organization in public addresses",
	"asset":          "Name of a file of a page",
	"webhookId":      "Id of the webhook",
	"messageId":      "Id of the message, from its deliveries",

	"transferCourseId":      "Id of the transfer course",
	"sectionInstructorName": "Name of the instructor; null if unknown",
	"processingStatus":      "State of the extraction of skills",

	"skillId":   "Id of the skill in its taxonomy",
	"skillName": "Name of the skill",
	"level":     "1 remember, 2 understand, 3 apply, 4 analyze, 5 evaluate or create",
	"confidence": "Calibrated probability that the skill is correct, 0 to 1 with at most four " +
		"decimals; 1 if set by a person",
	"requiredLevel": "Level at which the skill is required: 1 remember, 2 understand, 3 apply, 4 " +
		"analyze, 5 evaluate or create",
	"taughtLevel": "Level at which the skill is taught: 1 remember, 2 understand, 3 apply, 4 " +
		"analyze, 5 evaluate or create",

	"socCode":    "SOC code of the occupation, NN-NNNN",
	"regionType": "national, state, or msa for a metropolitan area",
	"region":     "US, a state's FIPS code of two digits, or the CBSA code of a metropolitan area",
}

// meaning returns the description of a parameter or property, from its tag or by its name.
func meaning(tag reflect.StructTag, name string) string {
	if doc := tag.Get("doc"); doc != "" {
		return doc
	}
	return meanings[name]
}

// field is what the document says of a property.
type field struct {
	means     string
	extension bool
}

// fieldsOf describes a body's fields by JSON name. A field of a catalog.Input is an extension if the record's field is,
// and without a doc tag has its description.
func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	if apply, ok := t.MethodByName("Apply"); ok && apply.Type.NumIn() > 1 && apply.Type.In(1).Kind() == reflect.Pointer {
		fields = fieldsOf(apply.Type.In(1).Elem())
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		is := fields[name]
		if f.Tag.Get("doc") != "" || is.means == "" {
			is.means = meaning(f.Tag, name)
		}
		is.extension = is.extension || f.Tag.Get("extension") == "true"
		fields[name] = is
	}
	return fields
}
