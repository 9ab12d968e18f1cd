package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// live is the alias that everything invokes.
const live = "live"

// allAtOnce moves the alias regardless of alarms. It is also the way to deploy a fix while an
// alarm that the fix will end blocks CodeDeploy.
const allAtOnce = "allAtOnce"

// shifts holds the deployment configurations by setting.
var shifts = map[string]func() awscodedeploy.ILambdaDeploymentConfig{
	allAtOnce:                   awscodedeploy.LambdaDeploymentConfig_ALL_AT_ONCE,
	"canary10Percent5Minutes":   awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_5MINUTES,
	"canary10Percent15Minutes":  awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_15MINUTES,
	"canary10Percent30Minutes":  awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_30MINUTES,
	"linear10PercentEvery1Min":  awscodedeploy.LambdaDeploymentConfig_LINEAR_10PERCENT_EVERY_1MINUTE,
	"linear10PercentEvery3Min":  awscodedeploy.LambdaDeploymentConfig_LINEAR_10PERCENT_EVERY_3MINUTES,
	"linear10PercentEvery10Min": awscodedeploy.LambdaDeploymentConfig_LINEAR_10PERCENT_EVERY_10MINUTES,
}

// newAliases publishes a version of each function and has CodeDeploy move the function's
// alias to it, and back if the function's alarm fires.
func newAliases(stack awscdk.Stack, s stage, functions functions, logs logs) aliases {
	application := awscodedeploy.NewLambdaApplication(stack, jsii.String("Releases"),
		&awscodedeploy.LambdaApplicationProps{ApplicationName: jsii.String(s.stackName())})
	role := awsiam.NewRole(stack, jsii.String("releases-role"), &awsiam.RoleProps{
		Description: jsii.String("CodeDeploy: moves the functions' aliases, reads alarms"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("codedeploy.amazonaws.com"), nil),
	})
	made := aliases{}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name]
		alias := awslambda.NewAlias(stack, jsii.String(name+"-"+live),
			&awslambda.AliasProps{AliasName: jsii.String(live), Version: f.CurrentVersion()})
		made[name] = alias
		alarms := []interfacesawscloudwatch.IAlarmRef{releaseAlarm(stack, s, name, f, logs[name])}
		props := &awscodedeploy.LambdaDeploymentGroupProps{
			Application: application, Alias: alias, Role: role, DeploymentConfig: shifts[s.release](),
			DeploymentGroupName: jsii.String(name),
			AutoRollback: &awscodedeploy.AutoRollbackConfig{
				FailedDeployment: jsii.Bool(true), StoppedDeployment: jsii.Bool(true),
				DeploymentInAlarm: jsii.Bool(s.release != allAtOnce),
			},
		}
		if s.release != allAtOnce {
			props.Alarms = &alarms
		}
		awscodedeploy.NewLambdaDeploymentGroup(stack, jsii.String(name+"-release"), props)
	}
	accept(role, "AwsSolutions-IAM4",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited",
		"The policy that AWS prescribes for CodeDeploy with Lambda.")
	return made
}

// aliases holds the aliases by function name.
type aliases map[string]awslambda.Alias

// releaseAlarm fires within two minutes if a function fails at least twice and in 2 % of its
// calls, so that a tenth of the traffic is enough. It sends no notification; it rolls back a
// release. Failures are log lines of level ERROR, which every 5xx has, extractions that
// failed because of the service, and crashes.
func releaseAlarm(
	stack awscdk.Stack, s stage, name string, f awslambda.Function, log awslogs.LogGroup,
) awscloudwatch.Alarm {
	filter := log.AddMetricFilter(jsii.String("Failures"), &awslogs.MetricFilterOptions{
		FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ ($.level = "ERROR") || ($.FailureCode = "internal") || ($.FailureCode = "timeout") }`)),
		MetricNamespace: jsii.String(s.stackName()),
		MetricName:      jsii.String(name + " failures"),
		MetricValue:     jsii.String("1"),
	})
	of := dimensions{
		"FunctionName": f.FunctionName(), "Resource": awscdk.Fn_Join(jsii.String(":"),
			&[]*string{f.FunctionName(), jsii.String(live)}),
	}
	metrics := map[string]awscloudwatch.IMetric{
		"failed":  filter.Metric(&awscloudwatch.MetricOptions{Statistic: jsii.String("Sum"), Period: seconds(60)}),
		"crashed": metric("AWS/Lambda", "Errors", "Sum", of),
		"runs":    metric("AWS/Lambda", "Invocations", "Sum", of),
	}
	return alarm{
		name: "release of " + name,
		means: "Calls of " + name + " fail. A release in progress rolls back by itself; no action is needed. See " +
			"docs/aws.md, releases.",
		expression: "IF(FILL(failed, 0) + FILL(crashed, 0) >= 2, 100 * (FILL(failed, 0) + FILL(crashed, 0)) / " +
			"MAX([FILL(runs, 1), 1]), 0)",
		metrics: metrics, threshold: 2, due: 1, within: 2,
	}.create(stack, s, name+"-release-alarm")
}
