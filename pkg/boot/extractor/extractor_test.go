package extractor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/catalog"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

const org = catalog.OrgID("org_test")

// TestUploadedLikeFetched: PDF, DOCX, HTML, Markdown and text have the same text and the
// same skills, whether they come from an address or were uploaded.
func TestUploadedLikeFetched(t *testing.T) {
	syllabi := demo.Syllabi()
	web := httptest.NewServer(http.FileServerFS(syllabi))
	t.Cleanup(web.Close)
	bucket, err := objects.Server{}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	storage := httptest.NewServer(bucket)
	t.Cleanup(storage.Close)
	env := dynamotest.Environment()
	env[api.EnvBucket], env[api.EnvS3Endpoint], env[api.EnvAllowedHosts] = objects.Bucket, storage.URL, strings.TrimPrefix(web.URL, "http://")
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	store := config.Store()
	if err := store.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	worker, err := New(config, store, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	uploads := files.New(config)
	ids := catalog.IDs{Random: rand.Reader}
	upload := func(name string, file []byte) *catalog.Document {
		t.Helper()
		sum := sha256.Sum256(file)
		document := &catalog.Document{
			Meta: catalog.NewMeta(ids.Of(catalog.DocumentKind), org, boot.Now()), FileName: name, SizeBytes: len(file), SHA256: hex.EncodeToString(sum[:]),
		}
		var change catalog.Change
		change.Create(document, nil)
		if err := store.Commit(t.Context(), org, &change); err != nil {
			t.Fatal(err)
		}
		if err := uploads.Put(t.Context(), document, boot.Now(), file); err != nil {
			t.Fatal(err)
		}
		return document
	}
	for _, name := range []string{
		"database-systems.pdf", "adult-health-nursing.pdf", "financial-accounting.docx", "programming-fundamentals.html", "linear-algebra.md", "gas-metal-arc-welding.txt",
	} {
		file, err := fs.ReadFile(syllabi, name)
		if err != nil {
			t.Fatal(err)
		}
		task := catalog.Task{Job: catalog.ExtractionJob{OrganizationID: org}, SyllabusHref: web.URL + "/" + name}
		fetched, err := worker.Documents.Fetch(t.Context(), &task)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		task.SyllabusHref, task.DocumentID = "", upload(name, file).ID
		uploaded, err := worker.Documents.Fetch(t.Context(), &task)
		if err != nil {
			t.Fatalf("%s, uploaded: %v", name, err)
		}
		if diff := cmp.Diff(fetched, uploaded); diff != "" {
			t.Errorf("%s is read otherwise when it is uploaded:\n%s", name, diff)
		}
		byAddress, err := worker.Extractor.Extract(t.Context(), fetched)
		if err != nil {
			t.Fatal(err)
		}
		byUpload, err := worker.Extractor.Extract(t.Context(), uploaded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byAddress.Skills, byUpload.Skills); diff != "" || len(byUpload.Skills) == 0 {
			t.Errorf("%s has %d skills when it is uploaded:\n%s", name, len(byUpload.Skills), diff)
		}
	}
	// A document may go under an extraction, which does not hold it; and be anything.
	gone := upload("a.txt", []byte("SQL"))
	if err := uploads.Remove(t.Context(), org, gone.ID); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		id   string
		want catalog.FailureCode
	}{
		"no file": {gone.ID, catalog.DocumentNotFound}, "no record": {ids.Of(catalog.DocumentKind), catalog.DocumentNotFound},
		"one byte": {upload("a.txt", []byte(" ")).ID, catalog.EmptyDocument}, "a program": {upload("a.pdf", []byte("\x7fELF\x02\x01\x01\x00")).ID, catalog.UnsupportedType},
	} {
		_, err := worker.Documents.Fetch(t.Context(), &catalog.Task{Job: catalog.ExtractionJob{OrganizationID: org}, DocumentID: c.id})
		if failure, ok := errors.AsType[*catalog.Failure](err); !ok || failure.Code != c.want {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
	storage.Close()
	_, err = worker.Documents.Fetch(t.Context(), &catalog.Task{Job: catalog.ExtractionJob{OrganizationID: org}, DocumentID: gone.ID})
	if failure, ok := errors.AsType[*catalog.Failure](err); !ok || failure.Code != catalog.Unreachable {
		t.Errorf("the storage is down: %v", err)
	}
}
