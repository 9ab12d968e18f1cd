// Package files opens the storage of documents' files.
package files

import (
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/storage"
)

// New returns the bucket of the files.
func New(c boot.Config) *storage.Bucket {
	options := s3.Options{Region: c.Region, Credentials: c.Credentials}
	if c.S3Endpoint != "" {
		options.BaseEndpoint, options.UsePathStyle = &c.S3Endpoint, true
	}
	return &storage.Bucket{Client: s3.New(options), Name: c.Bucket}
}
