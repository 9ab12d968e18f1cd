package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// document is a document in a response.
type document struct {
	ID, FileName string
	Upload       *catalog.Upload
}

// documentOf returns the document of a response, or nil if there is none.
func documentOf(got reply) *document {
	var d document
	if got.outcome() != acknowledged || json.Unmarshal(got.body, &d) != nil {
		return nil
	}
	return &d
}

// libraryName returns the library's name of a document's file.
func libraryName(fileName string) string {
	_, name, _ := strings.Cut(fileName, "#")
	return name
}

func checksum(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// announce creates a document that is waiting for its file.
func (c *client) announce() *document {
	name := one(c, c.library.names)
	file := c.library.file(name)
	body := object{"fileName": "#" + name, "sizeBytes": len(file), "sha256": checksum(file)}
	return documentOf(c.create(catalog.DocumentKind, "", body))
}

// createDocument announces a document and usually uploads its file.
func (c *client) createDocument() {
	if d := c.announce(); !c.chance(3) {
		c.upload(d)
	}
}

// upload uploads the file of a document whose response contains an upload.
func (c *client) upload(d *document) {
	if d == nil || d.Upload == nil {
		return
	}
	end := c.history.begin(map[string]string{d.ID + " " + file: present})
	got := c.put(d, c.fileOf(d))
	if end(got.outcome()); got.outcome() == refused {
		c.breach("the upload of %s was refused: %d", d.ID, got.status)
	}
}

// fileOf returns a document's file in the library.
func (c *client) fileOf(d *document) []byte { return c.library.file(libraryName(d.FileName)) }

// put uploads a document's file once.
func (c *client) put(d *document, content []byte) reply {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, d.Upload.Method, d.Upload.URL, bytes.NewReader(content))
	if err != nil {
		panic(err) // the service returned the URL
	}
	for name, value := range d.Upload.Headers {
		r.Header.Set(name, value)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return reply{}
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return reply{status: response.StatusCode}
}

// uploadLater uploads a missing file, sometimes only after its document was deleted.
func (c *client) uploadLater(path string) {
	d := documentOf(c.read(catalog.DocumentKind, path))
	if d == nil || d.Upload == nil {
		return
	}
	if !c.chance(4) {
		c.upload(d)
		return
	}
	c.change(deletion(catalog.DocumentKind, path))
	c.put(d, c.fileOf(d))
}

// useDocument creates a document with its file and a section that uses it as its syllabus. Sometimes it then tries to
// delete the document, which must be refused as long as it is used.
func (c *client) useDocument() {
	d, course := c.announce(), c.pick(catalog.CourseKind)
	c.upload(d)
	if d == nil || course == "" {
		return
	}
	c.create(catalog.SectionKind, course, object{"documentId": d.ID})
	if c.chance(3) {
		c.change(deletion(catalog.DocumentKind, "/documents/"+d.ID))
	}
}
