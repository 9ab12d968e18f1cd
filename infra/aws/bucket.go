package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// newBucket creates the bucket of documents with a generated name. Only the functions read
// it (see newRole), so it has no public access; the console uploads with signed requests (see
// acceptUploads). It has no versions: deleted files are gone.
func newBucket(stack awscdk.Stack, s stage, key awskms.IKey) awss3.Bucket {
	props := &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		RemovalPolicy:     s.data(),
		// The sweeper deletes the files of deleted documents. Multipart uploads are not used,
		// and incomplete ones would stay forever.
		LifecycleRules: &[]*awss3.LifecycleRule{{AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1))}},
	}
	if key != nil {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, key, jsii.Bool(true)
	}
	bucket := awss3.NewBucket(stack, jsii.String("Documents"), props)
	accept(bucket, "AwsSolutions-S1", "", "Only functions call it, and each request behind a call is in the API's "+
		"access log; CloudTrail's data events are a choice of the account.")
	output(stack, "BucketName", "The files of documents", bucket.BucketName())
	return bucket
}

// acceptUploads lets pages of the API's own origin upload files with the requests that the service signs.
func acceptUploads(stack awscdk.Stack, s stage, bucket awss3.Bucket, rest awsapigateway.RestApi) {
	origin := "https://" + s.domain
	if s.domain == "" {
		// The API's URL also refers to its deployment, which refers to the functions and thus to the bucket.
		origin = "https://" + *rest.RestApiId() + ".execute-api." + *stack.Region() + "." + *stack.UrlSuffix()
	}
	bucket.AddCorsRule(&awss3.CorsRule{
		AllowedOrigins: jsii.Strings(origin),
		AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
		AllowedHeaders: jsii.Strings("If-None-Match", "X-Amz-Checksum-Sha256"),
		MaxAge:         jsii.Number(3600),
	})
}
