package files

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/catalog"
)

// The console may upload to the origin of the URLs that are signed.
func TestStorageOrigin(t *testing.T) {
	for _, c := range []boot.Config{
		{Region: "us-west-2", Bucket: "documents-4f2a"},
		{Region: "us-east-1", Bucket: "documents-4f2a"},
		{Region: "us-east-1", Bucket: "documents", S3Endpoint: "http://127.0.0.1:9000"},
	} {
		c.Credentials = credentials.NewStaticCredentialsProvider("key", "secret", "")
		document := catalog.Document{SHA256: strings.Repeat("ab", 32), SizeBytes: 1}
		upload, err := New(c).Sign(t.Context(), &document, 0, 900)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(upload.URL, c.StorageOrigin()+"/") {
			t.Errorf("%s is signed, and the origin is %s", upload.URL, c.StorageOrigin())
		}
	}
	if origin := (boot.Config{Region: "us-west-2"}).StorageOrigin(); origin != "" {
		t.Errorf("without a bucket: %s", origin)
	}
}
