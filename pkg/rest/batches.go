package rest

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/upsert"
)

// BatchNames returns the fields of a resource's items that hold externalIds: those that are required, and the one that
// lists the members; "" for none.
func BatchNames(resource string) (required []string, members string) {
	of := batches[resource]
	required = []string{"externalId"}
	if of.parent != "" {
		required = append(required, of.parent)
	}
	return required, of.byNames
}

// BatchItem is the body of the POST of a record, with the externalId that identifies it.
type BatchItem = map[string]any

type batchInput struct {
	Body struct {
		Resource string      `json:"resource" enum:"course,section,program,credential,job" doc:"Kind of the items"`
		Items    []BatchItem `json:"items" minItems:"1" maxItems:"100" doc:"Records to create or change, each the body of the resource's POST with externalId. A section also has courseExternalId; a program may have courseExternalIds, and a credential sectionExternalIds: all members in this order"`
	}
}

// Batch has the outcome of each item of a batch.
type Batch struct {
	Results []BatchResult `json:"results" doc:"One result per item, in the order of the request"`
	Counts  BatchCounts   `json:"counts" doc:"How many items have each outcome"`
}

// BatchResult is the outcome of one item.
type BatchResult struct {
	Index      int            `json:"index" doc:"Place of the item in the request, from 0"`
	ExternalID *string        `json:"externalId" doc:"externalId of the item; null if it has none"`
	ID         *string        `json:"id" doc:"Id of the record; null if the item failed"`
	Outcome    upsert.Outcome `json:"outcome" enum:"CREATED,UPDATED,UNCHANGED,FAILED" doc:"What became of the item"`
	Problem    *api.Problem   `json:"problem" doc:"Why the item failed, as its own request would report it; null otherwise"`
}

// BatchCounts counts items by outcome.
type BatchCounts struct {
	Created   int `json:"created" doc:"Number of records that were created"`
	Updated   int `json:"updated" doc:"Number of records that were changed"`
	Unchanged int `json:"unchanged" doc:"Number of items that equal their record"`
	Failed    int `json:"failed" doc:"Number of items that changed nothing because of an error"`
}

// batched describes the items of a resource: in addition to the body of its POST, they have externalId, the externalId
// of their parent in the field parent, and those of their members, instead of ids, in the field names.
type batched struct {
	kind             catalog.Kind
	parent           string // "" for none
	members, byNames string // "" for none
}

var batches = map[string]batched{
	"course":     {kind: catalog.CourseKind},
	"section":    {kind: catalog.SectionKind, parent: "courseExternalId"},
	"program":    {kind: catalog.ProgramKind, members: "courseOrder", byNames: "courseExternalIds"},
	"credential": {kind: catalog.CredentialKind, members: "courseSectionIds", byNames: "sectionExternalIds"},
	"job":        {kind: catalog.JobKind},
}

func (s *Server) bindImports() {
	s.bindImport()
	bind[batchInput, *Batch](s, "upsertRecords", func(ctx context.Context, c *call, in *batchInput) (response, error) {
		return c.saveApart(ctx, func(ctx context.Context) (any, error) { return upsertRecords(ctx, c, in) })
	})
}

func upsertRecords(ctx context.Context, c *call, in *batchInput) (*Batch, error) {
	of := batches[in.Body.Resource]
	rows := make([]entry.Row, len(in.Body.Items))
	for i, item := range in.Body.Items {
		rows[i] = of.row(i, item)
	}
	importer := upsert.Loader{
		Store: admitted{c.Store, c.admission}, Queue: c.Queue, Files: c.Files, Market: c.Market,
		SkillName: c.lookups().SkillName, CheckHref: c.CheckHref, Now: c.Now, IDs: c.IDs,
		CTIDs: &c.Server.ctids,
	}
	summary, err := importer.Load(ctx, c.org, rows, upsert.Options{KeepGoing: true, Bodies: true})
	if err != nil {
		return nil, err
	}
	out := &Batch{
		Results: make([]BatchResult, len(rows)),
		Counts:  BatchCounts{summary.Created, summary.Updated, summary.Skipped, summary.Failed},
	}
	for _, result := range summary.Results {
		i, err := strconv.Atoi(strings.TrimPrefix(result.Row.Place, itemPlace))
		if err != nil {
			return nil, fmt.Errorf("row at %s: %w", result.Row.Place, err)
		}
		shown := BatchResult{Index: i, Outcome: result.Outcome}
		if name, ok := in.Body.Items[i]["externalId"].(string); ok {
			shown.ExternalID = &name
		}
		if result.ID != "" {
			shown.ID = &result.ID
		}
		if result.Problem != nil {
			shown.Problem = of.problem(c, i, in.Body.Items[i], result.Problem)
		}
		out.Results[i] = shown
	}
	return out, nil
}

// itemPlace precedes the index of an item in the place of its row.
const itemPlace = "item "

// itemErrors is the maximum number of errors listed for an item, so that a response with those of all items is small.
const itemErrors = 20

// row returns an item as the row of an import.
func (b batched) row(i int, item BatchItem) entry.Row {
	row := entry.Row{Place: itemPlace + strconv.Itoa(i), Kind: b.kind, Fields: maps.Clone(item)}
	row.Name, _ = item["externalId"].(string)
	if b.parent != "" {
		parent, given := item[b.parent]
		if row.Parent, _ = parent.(string); !given {
			row.Problems = append(row.Problems, unreadable(b.parent, "is required"))
		} else if row.Parent == "" {
			row.Problems = append(row.Problems, unreadable(b.parent, "must be an external id"))
		}
		delete(row.Fields, b.parent)
	}
	if _, given := item[b.byNames]; given && b.byNames != "" {
		var ok bool
		if row.Members, ok = entry.TakeTexts(row.Fields, b.byNames); !ok {
			row.Problems = append(row.Problems, unreadable(b.byNames, "must be a list of external ids"))
		}
	}
	return row
}

func unreadable(field, message string) catalog.ImportProblem {
	return catalog.ImportProblem{Column: field, Code: entry.InvalidValue, Message: message}
}

// problem returns the problem of an item as its own request would report it.
func (b batched) problem(c *call, i int, item BatchItem, err *catalog.Error) *api.Problem {
	fields := make([]catalog.FieldError, min(len(err.Fields), itemErrors))
	for j, f := range err.Fields[:len(fields)] {
		if item[b.byNames] != nil {
			f.Location = strings.Replace(f.Location, b.members, b.byNames, 1)
		}
		f.Location = strings.TrimSuffix(fmt.Sprintf("body.items[%d].%s", i, f.Location), ".")
		fields[j] = f
	}
	p := api.NewProblem(origin(c.request), err.Code, err.Detail, c.path, c.id, fields...)
	return &p
}

// admitted is a store that saves only what the quota admits.
type admitted struct {
	Store
	admission *admission
}

// ClaimNames saves claims once the call is admitted.
func (s admitted) ClaimNames(ctx context.Context, org catalog.OrgID, changes ...*catalog.Change) error {
	if err := s.admission.wait(); err != nil {
		return err
	}
	return s.Store.ClaimNames(ctx, org, changes...)
}

// Commit saves a change once the call is admitted.
func (s admitted) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	if err := s.admission.wait(); err != nil {
		return err
	}
	return s.Store.Commit(ctx, org, change)
}
