package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// newSchedule invokes the sweeper and the deliverer every minute, which is the minimum age of
// a PENDING extraction that the sweeper treats as stuck. A failed run is not retried: the
// next run is the retry.
func newSchedule(stack awscdk.Stack, s stage, aliases aliases) {
	woken := []string{api.Sweeper, api.Deliverer}
	var targets []*awsevents.CfnRule_TargetProperty
	for _, name := range woken {
		targets = append(targets, &awsevents.CfnRule_TargetProperty{
			Id:  jsii.String(name),
			Arn: aliases[name].FunctionArn(),
			RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{
				MaximumRetryAttempts: jsii.Number(0), MaximumEventAgeInSeconds: jsii.Number(60),
			},
		})
	}
	rule := awsevents.NewCfnRule(stack, jsii.String("EveryMinute"), &awsevents.CfnRuleProps{
		Description:        jsii.String("Wakes the sweeper and the deliverer of " + s.stackName()),
		ScheduleExpression: jsii.String("rate(1 minute)"),
		State:              jsii.String("ENABLED"),
		Targets:            &targets,
	})
	for _, name := range woken {
		awslambda.NewCfnPermission(stack, jsii.String("EveryMinuteMayWake"+strings.ToUpper(name[:1])+name[1:]),
			&awslambda.CfnPermissionProps{
				Action:       jsii.String("lambda:InvokeFunction"),
				FunctionName: aliases[name].FunctionArn(),
				Principal:    jsii.String("events.amazonaws.com"),
				SourceArn:    rule.AttrArn(),
			})
	}
}
