package main

import (
	"io/fs"
	"os"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// files maps organization/document to the checksum of the stored file.
type files map[string]string

// of returns the checksum of a document's file, or "" if there is none.
func (f files) of(document *record) string {
	return f[string(document.Base().OrganizationID)+"/"+document.id()]
}

// readFiles reads the whole storage from its directory.
func readFiles(dir string) (files, error) {
	all, storage := files{}, os.DirFS(dir)
	err := fs.WalkDir(storage, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(storage, name)
		all[name] = checksum(file)
		return err
	})
	return all, err
}

// storage: every file is its document's or import's, a document used as a syllabus has its file, and a file does not
// outlive its document for longer than an upload is valid.
func (a *audit) storage() {
	for id, r := range a.live {
		if d := a.live[catalog.HeldDocument(r.Record)]; d != nil && a.files.of(d) == "" {
			a.breach("%s uses %s, whose file is missing", id, d.id())
		}
	}
	for name, sum := range a.files {
		org, id, _ := strings.Cut(name, "/")
		row := a.deleted[id]
		if d := a.live[id]; d != nil {
			row = d.row
		}
		if row == nil || text(row, "organizationId") != org || row["deletedAt"] != nil && !awaitsFile(row) {
			a.breach("%s belongs to nothing", name)
		} else if !strings.HasPrefix(id, "imp_") && sum != text(row, "sha256") { // an import has its rejected rows
			a.breach("%s is not the announced file", name)
		}
	}
}

// awaitsFile reports whether the file of a deleted document may still be uploaded; it is removed afterwards.
func awaitsFile(deleted object) bool {
	return strings.HasPrefix(text(deleted, "id"), "doc_") && deleted[api.PendingIndexPartitionKey] != nil
}
