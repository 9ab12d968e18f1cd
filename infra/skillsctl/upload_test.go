package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

func TestUpload(t *testing.T) {
	c := newConsole(t)
	customer := value[catalog.Customer](c, "customers", "create", "-name", "College")
	org := customer.OrganizationID
	good, empty := c.file("syllabi/sql.txt", "Students write SQL queries."), c.file("empty.txt", "")
	if _, says := c.run(1, "upload", "-organization", string(org), good); !strings.Contains(says, api.EnvBucket) {
		t.Error(says)
	}
	bucket, err := objects.Server{}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	storage := httptest.NewServer(bucket)
	t.Cleanup(storage.Close)
	c.env[api.EnvBucket], c.env[api.EnvS3Endpoint] = objects.Bucket, storage.URL
	if _, says := c.run(1, "upload", "-organization", "org_none", good); !strings.Contains(says, "org_none") {
		t.Error(says)
	}
	if _, says := c.run(1, "upload", "-organization", string(org), empty); !strings.Contains(says, "empty.txt") {
		t.Error(says)
	}
	large, err := os.Create("large.pdf")
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(catalog.MaxDocumentBytes + 1); err != nil {
		t.Fatal(err)
	}
	_ = large.Close()
	out, says := c.run(3, "upload", "-organization", string(org), good, "large.pdf", "none.pdf")
	if !strings.Contains(says, "large.pdf") || !strings.Contains(says, "none.pdf") {
		t.Error(says)
	}
	if !strings.HasPrefix(out, "fileName,documentId\nsql.txt,doc_") || strings.Count(out, "\n") != 2 {
		t.Error(out)
	}
	// The table gives the course that the file is named after its syllabus.
	c.run(0, "import", "catalog", "-organization", string(org), c.file("courses.csv", "code,name\nSQL,Databases\n"))
	table := c.file("uploaded.csv", out)
	for _, want := range []string{"updated  1", "skipped  1"} {
		if says, _ := c.run(0, "import", "catalog", "-organization", string(org), table); !strings.Contains(says, want) {
			t.Errorf("%s: %s", want, says)
		}
	}
	list := value[[]uploaded](c, "upload", "-organization", string(org), good)
	document, err := usecase.Get[*catalog.Document](t.Context(), c.store, org, list[0].DocumentID, true)
	if err != nil || document.FileName != "sql.txt" || document.SizeBytes != 27 {
		t.Errorf("%+v: %v", document, err)
	}
	// It is READY: the bucket has these bytes.
	s, err := (&tool{getenv: func(name string) string { return c.env[name] }}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, there, err := s.files.Uploaded(t.Context(), org, document.ID); !there || err != nil {
		t.Errorf("uploaded: %t, %v", there, err)
	}
}
