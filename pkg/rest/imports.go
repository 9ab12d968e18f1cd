package rest

import (
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

// ImportQueue receives organizations with imports to run. The sweeper finds those that it loses.
type ImportQueue interface {
	SendImports(ctx context.Context, org catalog.OrgID) error
}

// ImportWithDetails is an import with its columns, problems and rejected rows.
type ImportWithDetails struct {
	*catalog.Import
	Columns  []catalog.ImportColumn  `json:"columns" doc:"Columns of the file with the fields that they became"`
	Problems []catalog.ImportProblem `json:"problems" doc:"First 100 problems of rows"`
	Rejects  *catalog.ImportRejects  `json:"rejects" doc:"File of the rows with errors; null if there are none, and until the import has completed"`
}

func (s *Server) bindImport() {
	pages[*catalog.Import](s, "listImports")
	write(s, "createImport", createImport)
	read(s, "getImport", func(ctx context.Context, c *call, _ *none) (*ImportWithDetails, error) {
		i, err := service.Get[*catalog.Import](ctx, c.Store, c.org, c.recordID(), true)
		if err != nil {
			return nil, err
		}
		details, err := c.Store.ImportDetails(ctx, c.org, i.ID)
		if err != nil {
			return nil, err
		}
		out := withDetails(i, details)
		if i.Rejects {
			if out.Rejects, err = c.Files.SignRejects(ctx, c.org, i.ID, c.now, catalog.UploadTTL/1000); err != nil {
				return nil, err
			}
		}
		if !i.Ended() {
			c.retryAfter = "2"
		}
		return out, nil
	})
	remove(s, "deleteImport", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		i, err := service.Get[*catalog.Import](ctx, c.Store, c.org, c.recordID(), true)
		if err != nil {
			return nil, err
		}
		var change catalog.Change
		if !i.Ended() {
			change.EndImport(i, catalog.ImportCancelled, nil, c.now)
			return &change, nil
		}
		deletion, err := service.Delete[*catalog.Import](c.actor(), ctx, i.ID)
		if err == nil {
			deletion.SetImportDetails(i, nil)
		}
		return deletion, err
	})
}

func withDetails(i *catalog.Import, d *catalog.ImportDetails) *ImportWithDetails {
	return &ImportWithDetails{
		Import: i, Columns: append([]catalog.ImportColumn{}, d.Columns...),
		Problems: append([]catalog.ImportProblem{}, d.Problems...),
	}
}

func createImport(
	ctx context.Context, c *call, in *body[catalog.ImportInput],
) (*ImportWithDetails, *catalog.Change, error) {
	given := in.Body
	actor := c.actor()
	var err error
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		actor.Lookups.Documents, err = service.ReadyDocuments(ctx, c.Store, c.Files, c.org, []string{given.DocumentID.Value})
		return err
	}, func(ctx context.Context) (err error) {
		switch owner := given.OwnerID.Or(nil); {
		case owner == nil:
		case catalog.OutcomeOwner(*owner) == catalog.CourseKind:
			actor.Lookups.Courses, err = service.GetByID[*catalog.Course](ctx, c.Store, c.org, []string{*owner}, false)
		case catalog.OutcomeOwner(*owner) == catalog.ProgramKind:
			actor.Lookups.Programs, err = service.GetByID[*catalog.Program](ctx, c.Store, c.org, []string{*owner}, false)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	i := &catalog.Import{}
	wrong := given.Apply(i, actor.Lookups)
	details := &catalog.ImportDetails{Layout: i.Layout, Overrides: given.Columns.Value}
	kinds := entry.Tabular
	if i.Resource != nil {
		details.Resource = *i.Resource
		kinds = []catalog.Kind{entry.KindNamed(*i.Resource)}
	}
	for _, header := range slices.Sorted(maps.Keys(details.Overrides)) {
		field := details.Overrides[header]
		if field != nil && !slices.ContainsFunc(kinds, func(kind catalog.Kind) bool {
			return slices.Contains(entry.Fields(kind), *field)
		}) {
			wrong = append(wrong, catalog.FieldError{
				Location: "body.columns." + header, Message: "must be a field that columns can have", Value: *field,
			})
		}
	}
	if wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.ImportKind)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Add(i, c.IDs, dir, c.Now)
	change.SetImportDetails(i, details)
	return withDetails(i, &catalog.ImportDetails{}), &change, nil
}
