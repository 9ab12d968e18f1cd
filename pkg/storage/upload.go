package storage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/pkg/catalog"
)

// RemoveAll deletes all files of an organization.
func (b *Bucket) RemoveAll(ctx context.Context, org catalog.OrgID) error {
	for {
		out, err := b.Client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: aws.String(key(org, ""))})
		if err != nil {
			return unavailable(err)
		}
		if len(out.Contents) == 0 {
			return nil
		}
		for _, object := range out.Contents {
			if _, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: object.Key}); err != nil {
				return unavailable(err)
			}
		}
	}
}

// Put uploads a document's file as clients do, with a presigned request.
func (b *Bucket) Put(ctx context.Context, d *catalog.Document, now catalog.Time, file []byte) error {
	upload, err := b.Sign(ctx, d, now, catalog.UploadTTL/1000)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, upload.Method, upload.URL, bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("upload of %s: %w", d.ID, err)
	}
	for name, value := range upload.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return unavailable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusPreconditionFailed { // there already
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("upload of %s: %s: %s", d.ID, response.Status, said)
	}
	return nil
}
