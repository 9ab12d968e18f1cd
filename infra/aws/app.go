// Command aws is the deployment: it turns the contract (pkg/api) into the
// CloudFormation template of one stage. It reads no code of the service and
// calls AWS only to say early what a deployment lacks. The template names no
// account and no region, so that it is the same on every machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// service begins the name of everything that is created.
const service = "skills-curriculum"

// The stages. Production keeps its data whatever happens to its stack.
const (
	dev  = "dev"
	prod = "prod"
)

// stage is what one deployment may choose (cdk.json or -c key=value). The
// settings that outlive one command carry the stage in their key, so that the
// two stages never mix: prod:table, dev:alarmEmail.
type stage struct {
	name       string // context stage: dev (default) or prod
	bundles    string // context functions: directory with a bundle for each function
	table      string // NAME:table: a restored table to serve from, empty for the stack's own
	alarmEmail string // NAME:alarmEmail: who is told about alarms, empty for nobody
	rateUnits  string // NAME:rateLimitUnits: units a customer has in a window
	rateWindow string // NAME:rateLimitWindowSeconds
}

func (s stage) production() bool  { return s.name == prod }
func (s stage) stackName() string { return service + "-" + s.name }

// data is what happens to tables and logs when they leave the stack.
func (s stage) data() awscdk.RemovalPolicy {
	if s.production() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	defer jsii.Close()
	app := newApp("")
	setting := func(key, fallback string) string {
		if value := app.Node().TryGetContext(&key); value != nil && value != "" {
			return fmt.Sprint(value)
		}
		return fallback
	}
	if setting("deploy", "") != "" {
		if err := deployable(context.Background(), os.Getenv("CDK_DEFAULT_ACCOUNT")); err != nil {
			return err
		}
	}
	s, err := readStage(setting)
	if err != nil {
		return err
	}
	newStack(app, s)
	app.Synth(nil)
	return nil
}

// newApp makes an app that writes to outdir; empty leaves that to the CDK command.
func newApp(outdir string) awscdk.App {
	props := &awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false),
		TreeMetadata:       jsii.Bool(false),
		// SAM finds functions and their code by these two.
		PostCliContext: &map[string]any{"aws:cdk:enable-path-metadata": true, "aws:cdk:enable-asset-metadata": true},
	}
	if outdir != "" {
		props.Outdir = &outdir
	}
	app := awscdk.NewApp(props)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(nil), nil)
	return app
}

// readStage reads the settings and reports all that is wrong with them at once.
func readStage(setting func(key, fallback string) string) (stage, error) {
	name := setting("stage", dev)
	if name != dev && name != prod {
		return stage{}, fmt.Errorf("stage %q is unknown: use -c stage=%s or -c stage=%s", name, dev, prod)
	}
	s := stage{
		name:       name,
		bundles:    setting("functions", filepath.Join("build", "functions")),
		table:      setting(name+":table", ""),
		alarmEmail: setting(name+":alarmEmail", ""),
		rateUnits:  setting(name+":rateLimitUnits", "1000"),
		rateWindow: setting(name+":rateLimitWindowSeconds", "60"),
	}
	var faults []error
	for _, number := range []struct{ key, value string }{{"rateLimitUnits", s.rateUnits}, {"rateLimitWindowSeconds", s.rateWindow}} {
		if n, err := strconv.Atoi(number.value); err != nil || n < 1 {
			faults = append(faults, fmt.Errorf("%s:%s is %q: give a whole number above 0", name, number.key, number.value))
		}
	}
	for _, f := range functionNames() {
		if _, err := os.Stat(filepath.Join(s.bundles, f, "bootstrap")); err != nil {
			faults = append(faults, fmt.Errorf("%s is missing: run make build first", filepath.Join(s.bundles, f, "bootstrap")))
		}
	}
	return s, errors.Join(faults...)
}

// deployable says in one sentence what a deployment lacks. The CDK command would
// quietly take us-east-1 where no region is set.
func deployable(ctx context.Context, account string) error {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("the AWS configuration cannot be read: %w; check AWS_PROFILE and run make deploy again", err)
	}
	if account == "" {
		return errors.New("no AWS account: sign in (aws sso login, or set AWS_PROFILE or AWS_ACCESS_KEY_ID) and run make deploy again")
	}
	if settings.Region == "" {
		return errors.New("no AWS region: set AWS_REGION, for example AWS_REGION=us-east-1, and run make deploy again")
	}
	return nil
}

// newStack puts a whole stage into one stack: its parts are useless without each
// other, and one stack is one deployment, one roll back and no exports between.
func newStack(app awscdk.App, s stage) awscdk.Stack {
	stack := awscdk.NewStack(app, jsii.String(s.stackName()), &awscdk.StackProps{
		Description:           jsii.String("Skills Curriculum Service, stage " + s.name),
		TerminationProtection: jsii.Bool(s.production()),
		Tags:                  &map[string]*string{"service": jsii.String(service), "stage": jsii.String(s.name)},
	})
	table := newTable(stack, s)
	queues := newQueues(stack, s)
	functions := newFunctions(stack, s, table, queues)
	newEventSources(functions, queues)
	newSchedule(stack, s, functions)
	rest := newAPI(stack, s, functions)
	alarms := newAlarms(stack, s, rest, functions, table, queues)
	newDashboard(stack, s, rest, functions, table, queues, alarms)
	return stack
}

// output publishes a value that the operator's command line needs.
func output(stack awscdk.Stack, key, description string, value *string) {
	awscdk.NewCfnOutput(stack, &key, &awscdk.CfnOutputProps{Value: value, Description: &description})
}

// accept marks a finding of the AwsSolutions rules as meant to be so, where it
// arises; of is what exactly it may be about, empty for the whole rule.
func accept(where constructs.IConstruct, finding, of, reason string) {
	suppression := &cdknag.NagPackSuppression{Id: &finding, Reason: &reason}
	if of != "" {
		suppression.AppliesTo = &[]any{of}
	}
	cdknag.NagSuppressions_AddResourceSuppressions(where, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}
