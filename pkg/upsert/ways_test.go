package upsert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/importer"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

const byBatch, byImport = catalog.OrgID("org_batch"), catalog.OrgID("org_import")

// upload is the file of every document.
type upload struct{ text []byte }

func (u *upload) Uploaded(context.Context, catalog.OrgID, string) (catalog.Time, bool, error) {
	return 0, true, nil
}
func (u *upload) Read(context.Context, catalog.OrgID, string) ([]byte, error)         { return u.text, nil }
func (u *upload) WriteRejects(context.Context, catalog.OrgID, string, *os.File) error { return nil }
func (u *upload) SendImports(context.Context, catalog.OrgID) error                    { return nil }

// imported imports a file as POST /imports does, and returns the import.
func (p *pair) imported(file []byte) *catalog.Import {
	p.t.Helper()
	ctx, u := p.t.Context(), &upload{file}
	document := &catalog.Document{Meta: catalog.NewMeta(ids.Of(catalog.DocumentKind), byImport, p.store.Now()), FileName: "f.ndjson"}
	dir, err := p.store.Directory(ctx, byImport, catalog.ImportKind)
	if err != nil {
		p.t.Fatal(err)
	}
	i := &catalog.Import{Status: catalog.ImportPending, DocumentID: document.ID, Layout: "AUTO", Mode: catalog.ApplyRows}
	var change catalog.Change
	change.Create(document, nil)
	change.Add(i, ids, dir, p.store.Now)
	change.SetImportDetails(i, &catalog.ImportDetails{Layout: i.Layout})
	if err := p.store.Commit(ctx, byImport, &change); err != nil {
		p.t.Fatal(err)
	}
	w := &importer.Worker{
		Store: p.store, Files: u, Queue: u, Loader: *p.loader, Now: p.store.Now, IDs: ids, Log: slog.New(slog.DiscardHandler),
	}
	message := events.SQSMessage{MessageId: "1", Body: fmt.Sprintf(`{"organizationId":%q}`, byImport)}
	// On a slow machine a run may end before the file does, and another one goes on.
	for runs := 0; runs < 4 && !i.Ended(); runs++ {
		if _, err := w.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{message}}); err != nil {
			p.t.Fatal(err)
		}
		if i, err = service.Get[*catalog.Import](ctx, p.store, byImport, i.ID, true); err != nil {
			p.t.Fatal(err)
		}
	}
	if i.Status != catalog.ImportCompleted {
		p.t.Fatalf("%+v", i)
	}
	return i
}

// batch sends items as POST /batches and returns its counts.
func (p *pair) batch(resource string, items []any) (counts struct{ Created, Updated, Unchanged, Failed int }) {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"resource": resource, "items": items})
	if err != nil {
		p.t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(p.t.Context(), http.MethodPost, "/v1/batches", bytes.NewReader(body))
	request.Header.Set("X-API-Key", p.key)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	p.server.ServeHTTP(recorder, request)
	var out struct {
		Counts *struct{ Created, Updated, Unchanged, Failed int }
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &out); err != nil || out.Counts == nil {
		p.t.Fatalf("%d %s", recorder.Code, recorder.Body)
	}
	return *out.Counts
}

// For any rows, a batch, an import and the tool's import count the same and make the same records, which those of single
// requests equal by TestRequestsAndFilesAgree.
func TestBatchesAndImportsAgree(t *testing.T) {
	p := newPair(t, byBatch, byImport)
	p.key = p.admit(byBatch)
	const rows, rounds = 25, 3
	for _, k := range agreeing[:5] {
		t.Run(string(k.kind), func(t *testing.T) {
			p.t = t
			draw := rapid.Custom(func(t *rapid.T) map[string]any { return k.draw(t, "", true) })
			resource := k.kind.Resource()
			for round := range rounds { // of which the later ones change the records of the first
				var items []any
				var file bytes.Buffer
				for n := range rows {
					item := maps.Clone(draw.Example(1000*round + n))
					item["externalId"] = fmt.Sprintf("W-%s-%d", resource, n)
					if members, ok := item["members"]; ok {
						delete(item, "members")
						item[map[catalog.Kind]string{catalog.ProgramKind: "courseExternalIds", catalog.CredentialKind: "sectionExternalIds"}[k.kind]] = members
					}
					switch k.kind {
					case catalog.CourseKind:
						maps.DeleteFunc(item, func(field string, _ any) bool { return slices.Contains(ofSection, field) })
					case catalog.SectionKind:
						item["courseExternalId"] = "C-1"
					}
					items = append(items, item)
					line := maps.Clone(item)
					line["resource"] = resource
					text, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}
					file.Write(append(text, '\n'))
				}
				counts, i := p.batch(resource, items), p.imported(file.Bytes())
				read, err := intake.Read(bytes.NewReader(file.Bytes()), "f.ndjson", intake.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tool, err := p.loader.Load(t.Context(), byFile, read, upsert.Options{KeepGoing: true})
				if err != nil {
					t.Fatal(err)
				}
				want := []int{counts.Created, counts.Updated, counts.Unchanged, counts.Failed}
				for way, got := range map[string][]int{
					"import": {i.Counts.Created, i.Counts.Updated, i.Counts.Unchanged, i.Counts.Failed},
					"tool":   {tool.Created, tool.Updated, tool.Skipped, tool.Failed},
				} {
					if diff := cmp.Diff(want, got); diff != "" || counts.Created+counts.Updated+counts.Unchanged == 0 {
						t.Errorf("round %d: batch and %s count created, updated, unchanged, failed: %s", round, way, diff)
					}
				}
				for _, item := range items {
					name := item.(map[string]any)["externalId"].(string)
					all := map[catalog.OrgID]string{}
					for _, org := range []catalog.OrgID{byBatch, byImport, byFile} {
						if record := p.known(org, k.kind, name); record != nil {
							all[org] = p.shown(t, record)
						}
					}
					if all[byBatch] != all[byImport] || all[byBatch] != all[byFile] {
						t.Errorf("round %d: %s\nbatch  %s\nimport %s\ntool   %s", round, name, all[byBatch], all[byImport], all[byFile])
					}
				}
			}
		})
	}
}
