package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/storage"
)

// files maps organization/document to the checksum of the stored file.
type files map[string]string

// of returns the checksum of a document's file, or "" if there is none.
func (f files) of(document *record) string {
	return f[string(document.Base().OrganizationID)+"/"+document.id()]
}

// readFiles reads the whole storage at an endpoint.
func readFiles(ctx context.Context, endpoint string) (files, error) {
	bucket := &storage.Bucket{Name: objects.Bucket, Client: s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(objects.Operator, objects.Secret, ""),
	})}
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
			all[name] = checksum(file)
		}
	}
	return all, nil
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
