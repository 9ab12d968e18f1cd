// Package storage keeps the files of documents in an S3 bucket. Clients upload them directly, with presigned requests
// for one exact size and checksum; no function writes or serves a file.
//
// Invariant: a document's object has exactly the document's bytes, and its key begins with the organization.
package storage

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"skillscurriculum/pkg/catalog"
)

// Bucket is the bucket of the files. It is safe for concurrent use.
type Bucket struct {
	Client *s3.Client
	Name   string
}

// key returns the object key of a document's file.
func key(org catalog.OrgID, documentID string) string { return string(org) + "/" + documentID }

// Sign returns the presigned request that uploads the document's file, valid for that many seconds. S3 refuses any
// other content, and any content once the file exists, because size, checksum and condition are signed.
func (b *Bucket) Sign(ctx context.Context, d *catalog.Document, now catalog.Time,
	seconds int) (*catalog.Upload, error) {
	sum, err := hex.DecodeString(d.SHA256)
	if err != nil {
		return nil, fmt.Errorf("sha256 of %s: %w", d.ID, err)
	}
	signed, err := s3.NewPresignClient(b.Client).PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.Name, Key: aws.String(key(d.OrganizationID, d.ID)),
		ContentLength: aws.Int64(int64(d.SizeBytes)), ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum)),
		IfNoneMatch: aws.String("*"), // a second upload would move the file's time
	}, func(o *s3.PresignOptions) {
		o.Expires = time.Duration(seconds) * time.Second
		o.Presigner = presigner{now.Std()}
	})
	if err != nil {
		return nil, fmt.Errorf("sign the upload of %s: %w", d.ID, err)
	}
	upload := &catalog.Upload{
		Method: signed.Method, URL: signed.URL, Headers: map[string]string{},
		ExpiresAt: now/1000*1000 + catalog.Time(seconds)*1000,
	}
	for name := range signed.SignedHeader {
		if name != "Host" { // clients set it themselves
			upload.Headers[name] = signed.SignedHeader.Get(name)
		}
	}
	return upload, nil
}

// presigner signs as of an instant and does not hoist headers into the query: S3 checks the
// body only against a checksum in a header.
type presigner struct{ at time.Time }

func (p presigner) PresignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, payload, service, region string,
	_ time.Time, options ...func(*v4.SignerOptions)) (string, http.Header, error) {
	return v4.NewSigner().PresignHTTP(ctx, c, r, payload, service, region, p.at,
		append(options, func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true })...)
}

// Uploaded returns when the document's file was uploaded; false if it was not. It lists
// objects, because a HEAD needs permission to read them.
func (b *Bucket) Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (catalog.Time, bool, error) {
	name := key(org, documentID)
	out, err := b.Client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &name, MaxKeys: aws.Int32(1)})
	if err != nil {
		return 0, false, unavailable(err)
	}
	for _, object := range out.Contents {
		if aws.ToString(object.Key) == name {
			return catalog.TimeOf(aws.ToTime(object.LastModified)), true, nil
		}
	}
	return 0, false, nil
}

// Read returns the document's file, or catalog.Absent if there is none.
func (b *Bucket) Read(ctx context.Context, org catalog.OrgID, documentID string) ([]byte, error) {
	out, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: aws.String(key(org, documentID))})
	var none *types.NoSuchKey
	if errors.As(err, &none) {
		return nil, catalog.Absent()
	}
	if err != nil {
		return nil, unavailable(err)
	}
	defer out.Body.Close()
	file, err := io.ReadAll(out.Body)
	return file, unavailable(err)
}

// Remove deletes the document's file, if there is one.
func (b *Bucket) Remove(ctx context.Context, org catalog.OrgID, documentID string) error {
	_, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: aws.String(key(org, documentID))})
	return unavailable(err)
}

// unavailable converts an error of S3 to the service's error.
func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return catalog.Errorf(catalog.Unavailable, "Document storage is temporarily unavailable.").Because(err)
}
