package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// newSchedule wakes the sweeper every minute, the shortest time after which it
// calls a PENDING extraction stuck. A failed run is not repeated: the next minute
// is the repetition.
func newSchedule(stack awscdk.Stack, s stage, aliases aliases) {
	sweeper := aliases[api.Sweeper]
	rule := awsevents.NewCfnRule(stack, jsii.String("EveryMinute"), &awsevents.CfnRuleProps{
		Description:        jsii.String("Wakes the sweeper of " + s.stackName()),
		ScheduleExpression: jsii.String("rate(1 minute)"),
		State:              jsii.String("ENABLED"),
		Targets: &[]*awsevents.CfnRule_TargetProperty{{
			Id:          jsii.String(api.Sweeper),
			Arn:         sweeper.FunctionArn(),
			RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(0), MaximumEventAgeInSeconds: jsii.Number(60)},
		}},
	})
	awslambda.NewCfnPermission(stack, jsii.String("EveryMinuteMayWakeSweeper"), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: sweeper.FunctionArn(),
		Principal:    jsii.String("events.amazonaws.com"),
		SourceArn:    rule.AttrArn(),
	})
}
