package openapi

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/upsert"
)

const schemaPrefix = schema.Prefix

// names are the names of schemas whose Go types have names that are clear only within their packages.
var names = map[string]string{
	"Alternative":      "ArticulationAlternative",
	"Answer":           "LaborMarketResult",
	"Content":          "WebhookMessage",
	"ContentData":      "WebhookMessageData",
	"DecisionEvidence": "ArticulationEvidence",
	"Evidence":         "SkillEvidence",
	"ExtractionStamps": "EvidenceExtractions",
	"Failure":          "ExtractionFailure",
	"Finding":          "ExtractedSkill",
	"Grant":            "ReceivingCourse",
	"Granted":          "GrantedArticulation",
	"Institution":      "SendingInstitution",
	"LinkedPage":       "PageLink",
	"Lookup":           "ArticulationLookup",
	"Market":           "LaborMarket",
	"Match":            "EquivalencyMatch",
	"Missing":          "MissingProperty",
	"Move":             "ArticulationStatusChange",
	"Person":           "DecidedBy",
	"Proposal":         "CredentialProposal",
	"Provenance":       "ExtractionProvenance",
	"ReportJob":        "JobIdentifier",
	"Result":           "ReportResult",
	"Review":           "SkillReview",
	"SkillInput":       "SkillRefInput",
	"SkippedCourse":    "SkippedTransferCourse",
	"Upload":           "DocumentUpload",
	"Vintage":          "LaborMarketVintage",
	"WebhookAttempt":   "WebhookDelivery",
}

// schemaName returns the name of the schema of a Go type. Bodies are named after their operations (hint).
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if known := names[name]; known != "" {
		return known
	}
	item, list := strings.CutPrefix(name, "Page")
	item, input := strings.CutSuffix(item, "Input")
	if known := names[item]; known != "" {
		item = known
	}
	switch {
	case list:
		item += "List"
	case input:
		item += "Input"
	}
	return item
}

// enumerations maps the types with a fixed set of values to their schemas.
func enumerations() map[reflect.Type]enumeration {
	return map[reflect.Type]enumeration{
		reflect.TypeFor[catalog.Code]():        enumerated("ProblemCode", api.ProblemCodes()...),
		reflect.TypeFor[catalog.FailureCode](): enumerated("ExtractionFailureCode", catalog.FailureCodes()...),
		reflect.TypeFor[catalog.WarningCode](): enumerated("WarningCode", catalog.WarningCodes()...),
		reflect.TypeFor[catalog.ProcessingStatus](): enumerated("ProcessingStatus", catalog.Pending, catalog.Processing,
			catalog.Completed, catalog.Failed),
		reflect.TypeFor[catalog.ImportStatus](): enumerated("ImportStatus", catalog.ImportPending,
			catalog.ImportProcessing, catalog.ImportCompleted, catalog.ImportFailed, catalog.ImportCancelled),
		reflect.TypeFor[catalog.Kind]():           enumerated("RecordKind", catalog.Resources()...),
		reflect.TypeFor[catalog.Verdict]():        enumerated("ReviewVerdict", catalog.Accepted, catalog.Rejected),
		reflect.TypeFor[catalog.DocumentStatus](): enumerated("DocumentStatus", catalog.AwaitingUpload, catalog.Ready),
		reflect.TypeFor[labor.RegionType]():       enumerated("RegionType", labor.National, labor.State, labor.MSA),
		reflect.TypeFor[catalog.Equivalence](): enumerated("Equivalence", catalog.FullEquivalent,
			catalog.PartialEquivalent, catalog.NoEquivalent),
		reflect.TypeFor[alignment.Reason](): enumerated("EquivalenceReason", alignment.NoSectionHasSkills,
			alignment.NothingInCommon, alignment.BelowPartial),
		reflect.TypeFor[ctdl.Level]():        enumerated("PropertyLevel", ctdl.Required, ctdl.Recommended),
		reflect.TypeFor[catalog.MatchType](): enumerated("MatchType", catalog.ExactMatch, catalog.RelatedMatch),
		reflect.TypeFor[catalog.Decision](): enumerated("ArticulationDecision", catalog.Equivalent,
			catalog.PartialOnly, catalog.Elective, catalog.Requirement, catalog.NoCredit),
		reflect.TypeFor[upsert.Outcome](): enumerated("BatchOutcome", upsert.Created, upsert.Updated,
			upsert.Unchanged, upsert.Failed),
		reflect.TypeFor[catalog.Source](): enumerated("ExtractionSource", catalog.Sources()...),
		reflect.TypeFor[catalog.SectionStatus](): enumerated("SectionStatus", catalog.PlannedSection,
			catalog.ActiveSection, catalog.CancelledSection),
		reflect.TypeFor[catalog.LevelSource](): enumerated("LevelSource", catalog.LevelSources()...),
		reflect.TypeFor[catalog.SkillsSource](): enumerated("SkillsSource", catalog.GivenSkills,
			catalog.ExtractedSkills),
		reflect.TypeFor[catalog.ArticulationStatus](): enumerated("ArticulationStatus", catalog.ArticulationDraft,
			catalog.ArticulationInReview, catalog.ArticulationApproved, catalog.ArticulationRejected),
	}
}

// listedIn names the schemas of fields with a tag enum, by field.
var listedIn = map[string]string{
	"codeType":        "InstitutionCodeType",
	"decision":        "ArticulationDecision",
	"disabledReason":  "WebhookDisabledReason",
	"issue":           "ArticulationIssueKind",
	"level":           "CourseLevel",
	"lib":             "JobLibrary",
	"lifecycleStatus": "LifecycleStatus",
	"modality":        "Modality",
	"outcome":         "WebhookDeliveryOutcome",
	"reason":          "ConsideredAlternativeReason",
	"unit":            "CreditUnit",
}

type enumeration struct {
	name   string
	schema *huma.Schema
}

func enumerated[T ~string](name string, values ...T) enumeration {
	schema := &huma.Schema{Type: "string"}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}
	return enumeration{name, schema}
}

// addedFields are fields, by schema, that are extensions only in this schema. Fields that are extensions everywhere
// have the tag extension.
var addedFields = map[string][]string{
	"Section":       {"processingStatus"},
	"SectionDetail": {"processingStatus"},
}

// alwaysThere are fields with omitempty that are never empty in these schemas.
var alwaysThere = map[string][]string{
	"TransferCourse":       {"processingStatus"},
	"TransferCourseDetail": {"processingStatus"},
}

// oneOf lists fields of requests of which exactly one is required, each with the name of the schema that has it.
var oneOf = map[string][]struct{ field, name string }{
	"CreateSyllabusExtractionRequest": {{"text", "TextExtractionRequest"}, {"syllabusHref", "AddressExtractionRequest"},
		{"documentId", "DocumentExtractionRequest"}},
}

// reportItems are the types of the items in each view's data.
var reportItems = map[string]reflect.Type{
	alignment.AlignmentView: reflect.TypeFor[alignment.AlignmentItem](),
	alignment.CoverageView:  reflect.TypeFor[alignment.CoverageItem](),
	alignment.GapView:       reflect.TypeFor[alignment.GapItem](),
	alignment.MarketView:    reflect.TypeFor[labor.Occupation](),
}

func newDocument(events fs.FS) document {
	responses := schema.NewRegistry(schemaName)
	requests := schema.NewRegistry(func(t reflect.Type, hint string) string {
		name := schemaName(t, hint)
		if responses.Map()[name] != nil {
			name += "Input"
		}
		return name
	})
	return document{requests, responses, map[string]*huma.Schema{}, events}
}

// schemas returns all schemas, completed with what Go types cannot express.
func (d document) schemas() huma.Registry {
	for _, item := range reportItems {
		d.responses.Schema(item, true, "")
	}
	for name, schema := range d.responses.Map() {
		schema.AdditionalProperties = nil
		d.complete(name, schema, d.responses)
		for _, field := range alwaysThere[name] {
			if !slices.Contains(schema.Required, field) {
				schema.Required = append(schema.Required, field)
			}
		}
	}
	for name, schema := range d.requests.Map() {
		d.complete(name, schema, d.requests)
		for _, property := range schema.Properties {
			if property.Default != nil { // generators treat properties with a default as always present
				property.Description = fmt.Sprintf("%s; %v when absent", property.Description,
					reflect.Indirect(reflect.ValueOf(property.Default)))
				property.Default = nil
			}
		}
	}
	all := d.responses.Map()
	maps.Copy(all, d.requests.Map())
	for _, schema := range all {
		schema.Nullable = false // properties state it where they refer to the schema
	}
	maps.Copy(all, d.words)
	for _, e := range enumerations() {
		all[e.name] = e.schema
	}
	splitReports(all)
	splitRequests(all)
	typeItems(all)
	return d.responses
}

// complete adds to each property of a schema its description and what Go types cannot express: times, enumerations,
// null and extensions.
func (d document) complete(name string, schema *huma.Schema, r huma.Registry) {
	t := r.TypeFromRef(schemaPrefix + name)
	fields := fieldsOf(t)
	for _, f := range reflect.VisibleFields(t) {
		field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		property := schema.Properties[field]
		if property == nil {
			continue
		}
		if instant := reflect.TypeFor[catalog.Time](); f.Type == instant || f.Type == reflect.PointerTo(instant) {
			property.Format = "date-time"
		}
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if e, ok := enumerations()[of]; ok {
			property = &huma.Schema{Ref: schemaPrefix + e.name}
		}
		if name := listedIn[field]; name != "" && property.Enum != nil {
			property = d.listed(name, property)
		}
		if property.Ref != "" {
			// Pointers and nullable types may be null.
			if r.SchemaFromRef(property.Ref) != nil && r.SchemaFromRef(property.Ref).Nullable ||
				f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
				property = &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
			} else {
				property = &huma.Schema{Ref: property.Ref}
			}
		}
		property.Description = fields[field].means
		if property.Nullable && property.Enum != nil {
			property.Enum = append(property.Enum, nil)
		}
		if fields[field].extension || slices.Contains(addedFields[name], field) {
			property.Extensions = map[string]any{"x-extension": true}
		}
		schema.Properties[field] = property
	}
}

// listed makes the enumeration of a field a schema of its own.
func (d document) listed(name string, property *huma.Schema) *huma.Schema {
	words := &huma.Schema{Type: "string", Enum: property.Enum}
	if known := d.words[name]; known != nil && !slices.Equal(known.Enum, words.Enum) {
		panic(fmt.Sprintf("openapi: two lists of words are both named %s: %v and %v", name, known.Enum, words.Enum))
	}
	d.words[name] = words
	reference := &huma.Schema{Ref: schemaPrefix + name}
	if property.Nullable {
		return &huma.Schema{AnyOf: []*huma.Schema{reference, {Type: "null"}}}
	}
	return reference
}

// splitReports makes a schema for the result of each view, with view as the discriminator.
func splitReports(all map[string]*huma.Schema) {
	whole := all[schemaName(reflect.TypeFor[alignment.Result](), "")]
	// Occupations without figures have only code and name.
	market := *all["Occupation"]
	market.Required = []string{"socCode", "name"}
	all["MarketItem"] = &market
	result := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "view", Mapping: map[string]string{}}}
	for _, view := range slices.Sorted(maps.Keys(reportItems)) {
		item := schemaName(reportItems[view], "")
		if view == alignment.MarketView {
			item = "MarketItem"
		}
		of := *whole
		of.Properties = maps.Clone(whole.Properties)
		of.Properties["view"] = &huma.Schema{Type: "string", Enum: []any{view},
			Description: whole.Properties["view"].Description, Extensions: whole.Properties["view"].Extensions}
		of.Properties["data"] = &huma.Schema{Type: "array", Items: &huma.Schema{Ref: schemaPrefix + item},
			Description: whole.Properties["data"].Description}
		name := strings.ToUpper(view[:1]) + view[1:] + "Report"
		all[name] = &of
		result.OneOf = append(result.OneOf, &huma.Schema{Ref: schemaPrefix + name})
		result.Discriminator.Mapping[view] = schemaPrefix + name
	}
	*whole = *result
}

// splitRequests makes a schema for each of the alternatives in oneOf.
func splitRequests(all map[string]*huma.Schema) {
	for name, ways := range oneOf {
		whole := all[name]
		either := &huma.Schema{}
		for _, way := range ways {
			of := *whole
			of.Properties = maps.Clone(whole.Properties)
			of.Required = append(slices.Clone(whole.Required), way.field)
			for _, other := range ways {
				if other != way {
					delete(of.Properties, other.field)
				}
			}
			given := *of.Properties[way.field]
			given.Nullable = false
			of.Properties[way.field] = &given
			all[way.name] = &of
			either.OneOf = append(either.OneOf, &huma.Schema{Ref: schemaPrefix + way.name})
		}
		*whole = *either
	}
}

// typeItems makes a schema for the items of each resource in a batch: the body of its POST with externalId, and the
// fields that name other records by theirs. Only a new record needs what its POST requires, which no schema can tell.
func typeItems(all map[string]*huma.Schema) {
	batch := all[rest.RequestName("upsertRecords")]
	either := &huma.Schema{}
	for _, resource := range batch.Properties["resource"].Enum {
		name := strings.ToUpper(resource.(string)[:1]) + resource.(string)[1:]
		item := *all["Create"+name+"Request"]
		item.Properties = maps.Clone(item.Properties)
		required, members := rest.BatchNames(resource.(string))
		for _, field := range required {
			item.Properties[field] = &huma.Schema{
				Type: "string", MinLength: new(1), MaxLength: new(catalog.MaxExternalID),
				Description: "externalId of the " + strings.TrimSuffix(field, "ExternalId"),
			}
		}
		item.Properties["externalId"].Description = "Id of the record in another system, which finds it"
		item.Description = "A new record also needs " + strings.Join(item.Required, " and ") + "."
		item.Required = required
		if members != "" {
			item.Properties[members] = &huma.Schema{
				Type: "array", Items: &huma.Schema{Type: "string"}, Description: "externalIds of all members, in this order",
			}
		}
		all[name+"ItemInput"] = &item
		either.AnyOf = append(either.AnyOf, &huma.Schema{Ref: schemaPrefix + name + "ItemInput"})
	}
	all["BatchItemInput"] = either
	batch.Properties["items"].Items = &huma.Schema{Ref: schemaPrefix + "BatchItemInput"}
}
