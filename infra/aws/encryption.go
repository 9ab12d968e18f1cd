package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"
)

// newKey creates the customer managed key for table, queues, bucket, logs, topic and
// backups, or returns nil if the stage uses AWS's keys. Roles allow functions to use it only
// through the table, the queues and the bucket.
func newKey(stack awscdk.Stack, s stage) awskms.IKey {
	if !s.encryption {
		return nil
	}
	key := awskms.NewKey(stack, jsii.String("Key"), &awskms.KeyProps{
		Alias:             jsii.String("alias/" + s.stackName()),
		Description:       jsii.String("Data of the Skills Curriculum Service, stage " + s.name),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN, // without it, table and backups are unreadable
	})
	allow := func(service *string, actions []string, conditions map[string]any) {
		key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(service, nil)},
			Actions:    jsii.Strings(actions...), Resources: jsii.Strings("*"), Conditions: &conditions,
		}), nil)
	}
	logs := stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("logs"), Resource: jsii.String("*")})
	allow(awscdk.Fn_Join(jsii.String("."), &[]*string{jsii.String("logs"), stack.Region(), jsii.String("amazonaws.com")}),
		[]string{"kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"},
		map[string]any{"ArnLike": map[string]any{"kms:EncryptionContext:aws:logs:arn": logs}})
	allow(jsii.String("cloudwatch.amazonaws.com"), []string{"kms:Decrypt", "kms:GenerateDataKey*"},
		map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()}})
	return key
}

// newSecretsKey creates the key that encrypts webhook secrets in the table, so that access to
// the table does not give access to them. Only functions that need it get it.
func newSecretsKey(stack awscdk.Stack, s stage) awssecretsmanager.Secret {
	secret := awssecretsmanager.NewSecret(stack, jsii.String("WebhookKey"), &awssecretsmanager.SecretProps{
		Description: jsii.String("Encrypts the secrets of webhooks, stage " + s.name),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true),
		},
		RemovalPolicy: s.data(), // without it, receivers need new secrets
	})
	accept(secret, "AwsSolutions-SMG4", "", "The table contains data encrypted with it, so rotation is manual, with "+
		"two keys at a time (docs/aws.md, rotate the key of the webhooks).")
	return secret
}

// keyUse lists the KMS actions for reading and writing encrypted rows and messages, from the
// documentation of DynamoDB and SQS.
var keyUse = []string{"Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"}
