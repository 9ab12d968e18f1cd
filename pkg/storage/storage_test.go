package storage_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/storage"
)

const org = catalog.OrgID("org_test")

// place is a bucket and the clock that it goes by.
type place struct {
	url string
	now time.Time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{now: time.Now()}
	handler, err := objects.Server{Dir: t.TempDir(), Now: func() time.Time { return p.now }}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// as returns the bucket as a function sees it.
func (p *place) as(function string) *storage.Bucket {
	return &storage.Bucket{Name: objects.Bucket, Client: s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &p.url, UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(function, objects.Secret, ""),
	})}
}

func document(id string, file []byte) *catalog.Document {
	sum := sha256.Sum256(file)
	return &catalog.Document{
		Meta: catalog.Meta{ID: id, OrganizationID: org}, FileName: "f", SizeBytes: len(file),
		SHA256: hex.EncodeToString(sum[:]),
	}
}

func (p *place) sign(t *testing.T, d *catalog.Document) *catalog.Upload {
	t.Helper()
	upload, err := p.as(string(api.Documents)).Sign(t.Context(), d, catalog.TimeOf(p.now), 900)
	if err != nil {
		t.Fatal(err)
	}
	return upload
}

// put sends an upload with a body, and returns the status.
func put(t *testing.T, u *catalog.Upload, body io.Reader) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), u.Method, u.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range u.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func TestSizeAndChecksumAreSigned(t *testing.T) {
	upload := newPlace(t).sign(t, document("doc_1", []byte("a")))
	_, names, _ := strings.Cut(upload.URL, "X-Amz-SignedHeaders=")
	names, _, _ = strings.Cut(names, "&")
	signed := strings.Split(strings.ReplaceAll(names, "%3B", ";"), ";")
	for _, name := range []string{"host", "content-length", "if-none-match", "x-amz-checksum-sha256"} {
		if !slices.Contains(signed, name) {
			t.Errorf("%s is not signed: %s", name, upload.URL)
		}
	}
	if !strings.Contains(upload.URL, "X-Amz-Expires=900") || upload.Method != http.MethodPut ||
		!strings.Contains(upload.URL, "/org_test/doc_1") {
		t.Errorf("%s %s", upload.Method, upload.URL)
	}
	if upload.Headers["Content-Length"] != "1" || upload.Headers["X-Amz-Checksum-Sha256"] == "" {
		t.Errorf("headers %v", upload.Headers)
	}
}

// TestAFileComesAndGoes: one byte, and as many as there may be.
func TestAFileComesAndGoes(t *testing.T) {
	large := make([]byte, 25<<20)
	_, _ = rand.Read(large)
	for _, file := range [][]byte{[]byte("a"), large} {
		p := newPlace(t)
		d := document("doc_1", file)
		see, read := p.as(string(api.Courses)), p.as(api.Extractor)
		if _, there, err := see.Uploaded(t.Context(), org, d.ID); there || err != nil {
			t.Fatalf("there before it came: %t, %v", there, err)
		}
		if _, err := read.Read(t.Context(), org, d.ID); err == nil ||
			!strings.Contains(err.Error(), string(catalog.NotFound)) {
			t.Errorf("read before it came: %v", err)
		}
		if status := put(t, p.sign(t, d), bytes.NewReader(file)); status != 200 {
			t.Fatalf("%d bytes: status %d", len(file), status)
		}
		at, there, err := see.Uploaded(t.Context(), org, d.ID)
		if err != nil || !there || time.Since(at.Std()) > time.Hour {
			t.Errorf("uploaded: %v, %t, %v", at, there, err)
		}
		if _, there, err := see.Uploaded(t.Context(), org, "doc_"); there || err != nil {
			t.Errorf("a part of an id is there: %v", err)
		}
		if _, there, err := see.Uploaded(t.Context(), "org_other", d.ID); there || err != nil {
			t.Errorf("of another organization: %v", err)
		}
		got, err := read.Read(t.Context(), org, d.ID)
		if err != nil || !bytes.Equal(got, file) {
			t.Errorf("read %d bytes of %d: %v", len(got), len(file), err)
		}
		for range 2 {
			if err := p.as(api.Sweeper).Remove(t.Context(), org, d.ID); err != nil {
				t.Error(err)
			}
		}
		if _, there, err := see.Uploaded(t.Context(), org, d.ID); there || err != nil {
			t.Errorf("there after it was removed: %v", err)
		}
	}
}

// TestOtherBytesAreRefused: others, fewer, more, none, too late, or elsewhere.
func TestOtherBytesAreRefused(t *testing.T) {
	p := newPlace(t)
	d := document("doc_1", []byte("right"))
	for what, body := range map[string]string{"other": "wrong", "fewer": "righ", "more": "right!", "none": ""} {
		if status := put(t, p.sign(t, d), strings.NewReader(body)); status < 400 || status >= 500 {
			t.Errorf("%s bytes: status %d", what, status)
		}
	}
	chunked := struct{ io.Reader }{strings.NewReader("right")} // of no known length
	if status := put(t, p.sign(t, d), chunked); status < 400 || status >= 500 {
		t.Errorf("without a length: status %d", status)
	}
	other := p.sign(t, document("doc_1", []byte("wrong")))
	for what, change := range map[string]func(*catalog.Upload){
		"no condition":     func(u *catalog.Upload) { delete(u.Headers, "If-None-Match") },
		"copy of another":  func(u *catalog.Upload) { u.Headers["X-Amz-Copy-Source"] = "/documents/org_test/doc_3" },
		"no checksum":      func(u *catalog.Upload) { delete(u.Headers, "X-Amz-Checksum-Sha256") },
		"another checksum": func(u *catalog.Upload) { u.Headers = other.Headers },
		"another document": func(u *catalog.Upload) { u.URL = strings.Replace(u.URL, "doc_1", "doc_2", 1) },
		"another end":      func(u *catalog.Upload) { u.URL = strings.Replace(u.URL, "Expires=900", "Expires=90000", 1) },
		"another signer": func(u *catalog.Upload) {
			u.URL = strings.Replace(u.URL, "Credential=documents", "Credential=local", 1)
		},
		"without signature": func(u *catalog.Upload) { u.URL, _, _ = strings.Cut(u.URL, "?") },
		"GET":               func(u *catalog.Upload) { u.Method = http.MethodGet },
		"DELETE":            func(u *catalog.Upload) { u.Method = http.MethodDelete },
	} {
		upload := p.sign(t, d)
		change(upload)
		if status := put(t, upload, strings.NewReader("right")); status < 400 || status >= 500 {
			t.Errorf("%s: status %d", what, status)
		}
	}
	if _, there, err := p.as(string(api.Documents)).Uploaded(t.Context(), org, d.ID); there || err != nil {
		t.Errorf("something of it is there: %v", err)
	}
	late := p.sign(t, d)
	p.now = late.ExpiresAt.Std().Add(time.Second)
	if status := put(t, late, strings.NewReader("right")); status != 403 {
		t.Errorf("late: status %d", status)
	}
	p.now = late.ExpiresAt.Std().Add(-time.Second)
	if status := put(t, late, strings.NewReader("right")); status != 200 {
		t.Errorf("in time: status %d", status)
	}
}

// TestReplayedUpload: the file that is there stays, with its time.
func TestReplayedUpload(t *testing.T) {
	p := newPlace(t)
	d := document("doc_1", []byte("a"))
	upload := p.sign(t, d)
	if status := put(t, upload, strings.NewReader("a")); status != 200 {
		t.Fatalf("status %d", status)
	}
	b := p.as(string(api.Documents))
	first, _, err := b.Uploaded(t.Context(), org, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	again := p.sign(t, d)
	for _, u := range []*catalog.Upload{upload, again} {
		if status := put(t, u, strings.NewReader("a")); status != http.StatusPreconditionFailed {
			t.Errorf("replayed: status %d", status)
		}
	}
	if err := b.Put(t.Context(), d, catalog.TimeOf(p.now), []byte("a")); err != nil {
		t.Errorf("a client that repeats itself: %v", err)
	}
	if last, there, err := b.Uploaded(t.Context(), org, d.ID); err != nil || !there || last != first {
		t.Errorf("uploaded at %v, then at %v: %v", first, last, err)
	}
}

// TestFunctionsDoWhatIsTheirs: who signs, who reads, who removes.
func TestFunctionsDoWhatIsTheirs(t *testing.T) {
	p := newPlace(t)
	d := document("doc_1", []byte("a"))
	put(t, p.sign(t, d), strings.NewReader("a"))
	for _, function := range api.Functions() {
		b, may := p.as(function), api.FilesOf(function)
		upload, err := b.Sign(t.Context(), d, catalog.TimeOf(p.now), 900)
		if err != nil {
			t.Fatal(err)
		}
		if status := put(t, upload, strings.NewReader("a")); (status == http.StatusPreconditionFailed) != may.Signs {
			t.Errorf("%s uploads: status %d", function, status)
		}
		if _, _, err := b.Uploaded(t.Context(), org, d.ID); (err == nil) != may.Lists {
			t.Errorf("%s lists: %v", function, err)
		}
		if _, err := b.Read(t.Context(), org, d.ID); (err == nil) != may.Reads {
			t.Errorf("%s reads: %v", function, err)
		}
		if err := b.Remove(t.Context(), org, "doc_2"); (err == nil) != may.Removes {
			t.Errorf("%s removes: %v", function, err)
		}
	}
}
