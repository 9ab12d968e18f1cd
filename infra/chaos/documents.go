package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/storage"
)

// createDocument announces a document and uploads its file, mostly the right one. What
// has no file after that gets one later, or never.
func (c *client) createDocument() {
	got := c.announced()
	switch c.random.IntN(8) {
	case 0, 1:
	case 2:
		c.uploadWrongly(got)
	case 3:
		c.uploadWrongly(got)
		c.upload(got)
	default:
		c.upload(got)
	}
}

// announced makes a document that waits for its file, for all clients of the
// organization.
func (c *client) announced() reply {
	got := c.announce()
	if document := documentOf(got); document != nil {
		c.know(catalog.DocumentKind, "/documents/"+document.ID, "")
	}
	return got
}

// announce makes a document that waits for its file, and that only this client knows.
func (c *client) announce() reply {
	marker, name := c.marker(), c.library.names[c.random.IntN(len(c.library.names))]
	if c.random.IntN(30) == 0 {
		name = hostile[c.random.IntN(len(hostile))].name
	}
	file := c.library.file(name)
	return c.create(request{operation: "createDocument", path: "/documents", body: map[string]any{
		"fileName": marker + "#" + name, "sizeBytes": len(file), "sha256": sumOf(file),
	}}, marker, 1)
}

// teachFromDocument makes a document with its file and a section that names it.
func (c *client) teachFromDocument() {
	got, course := c.announced(), c.pick(catalog.CourseKind)
	c.upload(got)
	c.acts++ // each request has a marker of its own
	if document := documentOf(got); document != nil && course != "" {
		c.createSectionOf(course, map[string]any{"documentId": document.ID}, document.ID)
	}
}

// nameAndRelease makes a document and a section that names it, both of which only this
// client knows: the document stays while it is named, and goes once it is not.
func (c *client) nameAndRelease() {
	got, course := c.announce(), c.pick(catalog.CourseKind)
	c.upload(got)
	c.acts++ // each request has a marker of its own
	document := documentOf(got)
	if document == nil || course == "" {
		return
	}
	c.history.created("record "+document.ID, "live")
	marker := c.marker()
	made := c.create(request{operation: "createSection", path: course + "/sections", body: map[string]any{
		"name": "Name by " + marker, "description": marker, "documentId": document.ID,
	}, items: 1}, marker, 1)
	if made.outcome() != acknowledged {
		return
	}
	section := text(made.parsed(), "id")
	c.history.created("record "+section, "live")
	c.history.created("syllabus "+section, document.ID)
	remove := request{operation: "deleteDocument", path: "/documents/" + document.ID, effects: map[string]string{"record " + document.ID: "deleted"}}
	if _, o := c.change(remove); o == acknowledged && c.sure(course) {
		c.breach("%s was deleted, but is the syllabus of %s", document.ID, section)
	}
	_, released := c.change(request{
		operation: "updateSection", path: course + "/sections/" + section, body: map[string]any{"documentId": nil},
		effects: map[string]string{"syllabus " + section: ""},
	})
	if got, o := c.change(remove); released == acknowledged && o == refused && got.status != 404 && got.status != 429 {
		c.breach("%s is nobody's syllabus, and its deletion is %d: %s", document.ID, got.status, got.body)
	}
}

// nameManyDocuments gives a package courses of more documents than fit into their
// transaction.
func (c *client) nameManyDocuments() {
	const few, most = 46, 50
	pack := c.pick(catalog.TransferPackageKind)
	var courses []map[string]any
	marker, named := c.marker(), map[string]bool{}
	for range 4 * most {
		document := idOf(c.pick(catalog.DocumentKind))
		if len(courses) < most && !named[document] && c.history.is("file "+document, "there") {
			named[document] = true
			courses = append(courses, map[string]any{"name": "Course", "description": fmt.Sprintf("%s#%d", marker, len(courses)), "documentId": document})
		}
	}
	if n := len(courses); n >= few && pack != "" {
		c.knowCourses(pack, c.create(request{operation: "createTransferCourses", path: pack + "/courses", body: map[string]any{"courses": courses}, items: n}, marker, n))
	}
}

// documentReply is a document as a response shows it.
type documentReply struct {
	ID, FileName string
	Status       catalog.DocumentStatus
	Upload       *catalog.Upload
}

// documentOf reads a document out of a response; nil for none.
func documentOf(got reply) *documentReply {
	var document documentReply
	if got.outcome() != acknowledged || json.Unmarshal(got.body, &document) != nil {
		return nil
	}
	return &document
}

// fileNamed returns the library's name of what a document holds.
func fileNamed(document string) string {
	_, name, _ := strings.Cut(document, "#")
	return name
}

// upload sends the file of a document that a response shows with its upload.
func (c *client) upload(got reply) {
	document := documentOf(got)
	if document == nil || document.Upload == nil {
		return
	}
	end := c.history.begin("file "+document.ID, "there")
	status := c.put(document.Upload, c.library.file(fileNamed(document.FileName)), "")
	o := reply{status: status}.outcome()
	end(o)
	if o == refused {
		c.breach("the file of %s is refused: %d", document.ID, status)
	}
}

// uploadWrongly sends what the storage must refuse: other bytes, fewer, and the right
// ones after the upload has expired.
func (c *client) uploadWrongly(got reply) {
	document := documentOf(got)
	if document == nil || document.Upload == nil {
		return
	}
	file := c.library.file(fileNamed(document.FileName))
	other := slices.Clone(file)
	other[c.random.IntN(len(other))] ^= 1
	for what, status := range map[string]int{
		"other bytes": c.put(document.Upload, other, ""), "fewer bytes": c.put(document.Upload, file[1:], ""), "late bytes": c.put(document.Upload, file, c.late),
	} {
		if (reply{status: status}).outcome() == acknowledged {
			c.breach("%s for %s are taken: %d", what, document.ID, status)
		}
	}
}

// put sends a file as an upload says, to another host than that says if there is one,
// and returns the status; 0 where no response came.
func (c *client) put(upload *catalog.Upload, file []byte, host string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, upload.Method, upload.URL, bytes.NewReader(file))
	if err != nil {
		panic(err) // the address is one that the service gave
	}
	for name, value := range upload.Headers {
		r.Header.Set(name, value)
	}
	if host != "" {
		r.Host, r.URL.Host = r.URL.Host, host
	}
	response, err := c.client.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

// readDocument reads a document, which is READY if its file came.
func (c *client) readDocument() (got reply) {
	path := c.pick(catalog.DocumentKind)
	if path == "" {
		return reply{}
	}
	came := c.history.is("file "+idOf(path), "there")
	got = c.read("getDocument", path)
	if document := documentOf(got); document != nil && came && document.Status != catalog.Ready {
		c.breach("the file of %s is there, but the response is %s", idOf(path), got.body)
	}
	return got
}

// uploadLater uploads a file that did not come yet; sometimes only after its document
// was deleted.
func (c *client) uploadLater() {
	got := c.readDocument()
	document := documentOf(got)
	if document == nil || document.Upload == nil {
		return
	}
	if c.random.IntN(4) > 0 {
		c.upload(got)
		return
	}
	c.change(request{operation: "deleteDocument", path: "/documents/" + document.ID, effects: map[string]string{"record " + document.ID: "deleted"}})
	end := c.history.begin("file "+document.ID, "there")
	end(reply{status: c.put(document.Upload, c.library.file(fileNamed(document.FileName)), "")}.outcome())
}

// deleteDocument deletes a document, which must not succeed while a section is sure to
// name it.
func (c *client) deleteDocument() {
	path, section := c.pick(catalog.DocumentKind), c.pick(catalog.SectionKind)
	if path == "" || section == "" {
		return
	}
	if named := c.history.allowed("syllabus " + idOf(section)); c.random.IntN(2) == 0 && strings.HasPrefix(named[0], "doc_") {
		path = "/documents/" + named[0]
	}
	held := func() bool { return c.sure(section) && c.history.is("syllabus "+idOf(section), idOf(path)) }
	before := held()
	_, o := c.change(request{operation: "deleteDocument", path: path, effects: map[string]string{"record " + idOf(path): "deleted"}})
	if o == acknowledged && before && held() {
		c.breach("%s was deleted, but is the syllabus of %s", idOf(path), idOf(section))
	}
}

// syllabus puts a syllabus into a body, a document or an address, and returns which.
func (c *client) syllabus(body map[string]any) string {
	if c.random.IntN(3) == 0 {
		for range 6 {
			if path := c.pick(catalog.DocumentKind); path != "" && c.history.is("file "+idOf(path), "there") {
				body["documentId"] = idOf(path)
				return idOf(path)
			}
		}
	}
	href := c.address()
	body["syllabusHref"] = href
	return href
}

func sumOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// lateBy is how far the clock of the storage is ahead to which uploads go that have
// expired: the clock of the function that signs may be ahead as well.
const lateBy = catalog.UploadTTL*time.Millisecond + mostSkew + time.Minute

// startFiles serves the files of documents, and a storage that takes every upload for
// expired. The files outlive what happens to the proxy before them.
func startFiles(dir string) (endpoint, late string, stop func(), err error) {
	endpoint, stopFiles, err := objects.Server{Dir: dir}.Start()
	if err != nil {
		return "", "", nil, err
	}
	expired, stopLate, err := objects.Server{Now: func() time.Time { return time.Now().Add(lateBy) }}.Start()
	if err != nil {
		stopFiles()
		return "", "", nil, err
	}
	address, err := url.Parse(expired)
	return endpoint, address.Host, func() { stopLate(); stopFiles() }, err
}

// bucketAt returns the storage at an endpoint as operators see it.
func bucketAt(endpoint string) *storage.Bucket {
	return &storage.Bucket{Name: objects.Bucket, Client: s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(objects.Operator, objects.Secret, ""),
	})}
}

// files are the checksums of all files in the storage, by organization/document.
type files map[string]string

// stored reads the whole storage, past the proxy.
func (w *world) stored(ctx context.Context) (files, error) {
	bucket := bucketAt(w.files.upstream)
	all := files{}
	pages := s3.NewListObjectsV2Paginator(bucket.Client, &s3.ListObjectsV2Input{Bucket: &bucket.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
		for _, object := range page.Contents {
			name := aws.ToString(object.Key)
			org, id, _ := strings.Cut(name, "/")
			file, err := bucket.Read(ctx, catalog.OrgID(org), id)
			if err != nil {
				return nil, fmt.Errorf("file %s: %w", name, err)
			}
			all[name] = sumOf(file)
		}
	}
	return all, nil
}

// daysAfter does what the sweeper will have done by then, when no upload is valid any
// more and no document may wait for its file, and audits what that leaves.
func (w *world) daysAfter(ctx context.Context) (*audit, error) {
	store, bucket := w.store(w.table.upstream), bucketAt(w.files.upstream)
	uploaded := func(ctx context.Context, org catalog.OrgID, id string) (bool, error) {
		_, there, err := bucket.Uploaded(ctx, org, id)
		return there, err
	}
	for days := range 2 { // what is deleted on the first waits for uploads until the second
		store.Now = func() catalog.Time { return now() + catalog.Time(days+1)*2*catalog.DocumentTTL }
		if err := errors.Join(store.CompleteDeletions(ctx, bucket.Remove), store.ExpireDocuments(ctx, uploaded)); err != nil {
			return nil, fmt.Errorf("sweep %d days later: %w", days+1, err)
		}
	}
	rows, err := w.scan(ctx)
	if err != nil {
		return nil, err
	}
	a := newAudit(rows)
	a.files, err = w.stored(ctx)
	a.table()
	a.documents()
	a.settledDocuments()
	return a, err
}

// lateFiles counts the files whose documents are deleted.
func (a *audit) lateFiles() (n int) {
	for name := range a.files {
		if org, id, _ := strings.Cut(name, "/"); a.live[catalog.OrgID(org)][catalog.DocumentKind][id] == nil {
			n++
		}
	}
	return n
}

// documents: every file is that of its document, what names a document holds it and
// finds its file, and no file outlives its document for longer than an upload is valid.
func (a *audit) documents() {
	for org, kinds := range a.live {
		for _, kind := range []catalog.Kind{catalog.SectionKind, catalog.TransferCourseKind} {
			for _, r := range a.all(org, kind) {
				id := text(r, "documentId")
				document := kinds[catalog.DocumentKind][id]
				switch holder := strings.Join([]string{string(kind), parentOf(r), text(r, "id")}, "/"); {
				case id == "":
				case document == nil:
					a.breach("%s names %s, which is not live", holder, id)
				case !slices.Contains(texts(document, "heldBy"), holder):
					a.breach("%s names %s, which does not know", holder, id)
				case a.files[string(org)+"/"+id] == "":
					a.breach("%s names %s, whose file is not there", holder, id)
				}
			}
		}
	}
	for name, sum := range a.files {
		org, id, _ := strings.Cut(name, "/")
		document := a.live[catalog.OrgID(org)][catalog.DocumentKind][id]
		if document == nil {
			if document = a.deleted[id]; document == nil || !expecting(document) || text(document, "organizationId") != org {
				a.breach("file %s is nobody's", name)
				continue
			}
		}
		if sum != text(document, "sha256") {
			a.breach("file %s is not the one that was announced", name)
		}
	}
}

// settledDocuments: days later, documents that have no file and files that have no
// document are gone.
func (a *audit) settledDocuments() {
	for org := range a.live {
		for _, document := range a.all(org, catalog.DocumentKind) {
			if id := text(document, "id"); a.files[string(org)+"/"+id] == "" {
				a.breach("%s still waits for its file after days", id)
			}
		}
	}
	for id, r := range a.deleted {
		if expecting(r) {
			a.breach("%s was deleted, and its file is still expected days later", id)
		}
	}
}

func parentOf(r map[string]any) string { return text(r, "courseId") + text(r, "packageId") }

// expecting reports whether the file of a deleted document may still come, and is
// removed after that.
func expecting(deleted map[string]any) bool {
	return strings.HasPrefix(text(deleted, "id"), "doc_") && deleted[api.PendingIndexPartitionKey] != nil
}
