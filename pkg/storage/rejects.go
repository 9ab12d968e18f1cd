package storage

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/pkg/catalog"
)

// WriteRejects stores the file of the rows that an import has rejected.
func (b *Bucket) WriteRejects(ctx context.Context, org catalog.OrgID, importID string, file *os.File) error {
	sum := sha256.New()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	size, err := io.Copy(sum, file)
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = b.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.Name, Key: aws.String(key(org, importID)), Body: file, ContentLength: &size,
		ContentType:    aws.String("text/csv; charset=utf-8"),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum.Sum(nil))),
	})
	return unavailable(err)
}

// SignRejects returns a URL of the file of rejected rows, valid for that many seconds.
func (b *Bucket) SignRejects(
	ctx context.Context, org catalog.OrgID, importID string, now catalog.Time, seconds int,
) (*catalog.ImportRejects, error) {
	signed, err := s3.NewPresignClient(b.Client).PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.Name, Key: aws.String(key(org, importID)),
		ResponseContentDisposition: aws.String(`attachment; filename="rejects.csv"`),
	}, func(o *s3.PresignOptions) {
		o.Expires = time.Duration(seconds) * time.Second
		o.Presigner = presigner{now.Std()}
	})
	if err != nil {
		return nil, fmt.Errorf("sign the rejects of %s: %w", importID, err)
	}
	return &catalog.ImportRejects{URL: signed.URL, ExpiresAt: now/1000*1000 + catalog.Time(seconds)*1000}, nil
}
