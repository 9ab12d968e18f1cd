// Command aws is the CDK app: it builds the CloudFormation template of one stage from the
// contract (pkg/api). It calls AWS only to check the prerequisites of a deployment. The
// template names no account or region, so that it is the same on every machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	defer jsii.Close()
	app := newApp("", nil)
	values, _ := app.Node().GetAllContext(nil).(map[string]any)
	if values["deploy"] != nil {
		if err := deployable(context.Background(), os.Getenv("CDK_DEFAULT_ACCOUNT")); err != nil {
			return err
		}
	}
	s, err := readStage(values)
	if err != nil {
		return err
	}
	newStack(app, s)
	app.Synth(nil)
	return nil
}

// newApp returns an app with the given output directory and context. If they are empty, the
// CDK command sets them.
func newApp(outdir string, context map[string]any) awscdk.App {
	props := &awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false),
		TreeMetadata:       jsii.Bool(false),
		// SAM needs these to find functions and their code.
		PostCliContext: &map[string]any{"aws:cdk:enable-path-metadata": true, "aws:cdk:enable-asset-metadata": true},
	}
	if outdir != "" {
		props.Outdir, props.Context = &outdir, &context
	}
	app := awscdk.NewApp(props)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(nil), nil)
	return app
}

// deployable checks the prerequisites of a deployment. Without a region, the CDK command
// would silently use us-east-1.
func deployable(ctx context.Context, account string) error {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the AWS configuration: %w; check AWS_PROFILE and run make deploy again", err)
	}
	if account == "" {
		return errors.New("no AWS account: sign in (aws sso login, or set AWS_PROFILE or AWS_ACCESS_KEY_ID) and run make " +
			"deploy again")
	}
	if settings.Region == "" {
		return errors.New("no AWS region: set AWS_REGION, for example AWS_REGION=us-east-1, and run make deploy again")
	}
	return nil
}

// newStack creates a stage as one stack: one deployment, one rollback and no exports.
func newStack(app awscdk.App, s stage) awscdk.Stack {
	tags := map[string]*string{}
	for key, value := range s.tags() {
		tags[key] = jsii.String(value)
	}
	stack := awscdk.NewStack(app, jsii.String(s.stackName()), &awscdk.StackProps{
		Description:           jsii.String("Skills Curriculum Service, stage " + s.name),
		TerminationProtection: jsii.Bool(s.production()),
		Tags:                  &tags, // stack tags, for resources that the template cannot tag
	})
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		// Dashboards do not support tags in a template.
		awscdk.Tags_Of(stack).Add(&key, tags[key],
			&awscdk.TagProps{ExcludeResourceTypes: jsii.Strings("AWS::CloudWatch::Dashboard")})
	}
	key := newKey(stack, s)
	table := newTable(stack, s, key)
	queues := newQueues(stack, s, key)
	bucket := newBucket(stack, s, key)
	secrets := newSecretsKey(stack, s)
	functions, logs := newFunctions(stack, s, key, table, queues, bucket, secrets)
	aliases := newAliases(stack, s, functions, logs)
	newEventSources(stack, aliases, table, queues)
	newSchedule(stack, s, aliases)
	rest, access := newAPI(stack, s, key, functions, aliases)
	acceptUploads(stack, s, bucket, rest)
	newBackup(stack, s, key, table)
	m := measured{rest, functions, table, queues}
	topic := newTopic(stack, s, key)
	alarms := append(newObjectives(stack, s, topic, m), newAlarms(stack, s, topic, m)...)
	newDashboard(stack, s, m, alarms)
	newQueries(stack, s, logs, access)
	return stack
}

// measured holds the resources with metrics.
type measured struct {
	rest      awsapigateway.RestApi
	functions functions
	table     table
	queues    queues
}

// output adds a stack output.
func output(stack awscdk.Stack, key, description string, value *string) {
	awscdk.NewCfnOutput(stack, &key, &awscdk.CfnOutputProps{Value: value, Description: &description})
}

// accept suppresses a finding of the AwsSolutions rules for a construct. of limits it to one
// value; "" means the whole rule.
func accept(where constructs.IConstruct, finding, of, reason string) {
	suppression := &cdknag.NagPackSuppression{Id: &finding, Reason: &reason}
	if of != "" {
		suppression.AppliesTo = &[]any{of}
	}
	cdknag.NagSuppressions_AddResourceSuppressions(where, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}
