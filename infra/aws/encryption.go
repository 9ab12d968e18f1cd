package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"
)

// newKey makes the key of the account that table, queues, files, logs, topic and backups
// are encrypted with; nil where AWS's own keys are enough. Functions may use it
// through the table, the queues and the bucket only, by their roles.
func newKey(stack awscdk.Stack, s stage) awskms.IKey {
	if !s.encryption {
		return nil
	}
	key := awskms.NewKey(stack, jsii.String("Key"), &awskms.KeyProps{
		Alias:             jsii.String("alias/" + s.stackName()),
		Description:       jsii.String("Data of the Skills Curriculum Service, stage " + s.name),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN, // without it, neither table nor backups can be read again
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

// newSecretsKey makes the key that the secrets of webhooks are encrypted with in the
// table. It is not the table's key: who may read the table does not read them. Only the
// functions that need it are given it.
func newSecretsKey(stack awscdk.Stack, s stage) awssecretsmanager.Secret {
	secret := awssecretsmanager.NewSecret(stack, jsii.String("WebhookKey"), &awssecretsmanager.SecretProps{
		Description:          jsii.String("Encrypts the secrets of webhooks, stage " + s.name),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true)},
		RemovalPolicy:        s.data(), // without it, receivers need new secrets
	})
	accept(secret, "AwsSolutions-SMG4", "", "What it encrypts is in the table: another key takes its place beside it, by hand (docs/aws.md, rotate the key of the webhooks).")
	return secret
}

// keyUse is what AWS's documentation of DynamoDB and SQS asks of who reads and
// writes encrypted rows and messages.
var keyUse = []string{"Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"}
