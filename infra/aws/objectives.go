package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// objective is a service level objective over 28 days.
type objective struct {
	name    string
	means   string
	percent float64 // of calls that must be good
	bad     string  // expression: percentage of calls that were not
	metrics map[string]awscloudwatch.IMetric
}

// burn is a burn rate of the error budget, measured in a long window and in a short one,
// with which the alarm ends soon after the problem.
type burn struct {
	times       float64
	long, short float64 // minutes
}

// At 14.4 times the permitted rate, an hour uses 2 % of the budget; at 6 times, six hours
// use 5 %.
var burns = []burn{{14.4, 60, 5}, {6, 360, 30}}

// Fewer failures or calls in a window are not significant and count as good.
const (
	fewestFailures = 3
	fewestCalls    = 20
)

// onTime holds the latency objectives by kind: percentage of calls within ms in the function.
var onTime = map[api.OperationKind]struct{ percent, within float64 }{
	api.ReadKind:    {99, 500},
	api.WriteKind:   {99, 1000},
	api.ComputeKind: {95, 5000},
}

var available = map[api.OperationKind]float64{api.ReadKind: 99.9, api.WriteKind: 99.9, api.ComputeKind: 99.5}

// extractionBegins is the objective for the waiting time of a job, in ms.
const extractionBegins = 5 * 60 * 1000

// objectives lists the objectives. Ids of metrics are prefixed, because a graph shows several
// objectives.
func objectives(m measured) []objective {
	failed := func(of string) string {
		return fmt.Sprintf("IF(%[1]sFailed >= %[2]d, 100 * %[1]sFailed / %[1]sCalls, 0)", of, fewestFailures)
	}
	late := func(of string) string {
		return fmt.Sprintf("IF(%[1]sCalls >= %[2]d, 100 - %[1]sInTime, 0)", of, fewestCalls)
	}
	type metrics = map[string]awscloudwatch.IMetric
	all := []objective{{
		"calls availability", "Calls of all kinds end 5xx, as seen by clients: failures of functions, and in front of them.",
		99.9, failed("all"),
		metrics{"allFailed": m.gateway("5XXError", "Sum"), "allCalls": m.gateway("Count", "SampleCount")},
	}}
	for _, k := range api.OperationKinds() {
		kind, promise := string(k), onTime[k]
		all = append(all, objective{
			kind + " availability", fmt.Sprintf("Operations of kind %s end 5xx.", kind), available[k], failed(kind),
			metrics{kind + "Failed": counted("Errors", "Sum", kind), kind + "Calls": counted("Latency", "SampleCount", kind)},
		}, objective{
			kind + " latency", fmt.Sprintf("Operations of kind %s take longer than %g ms.", kind, promise.within),
			promise.percent, late(kind),
			metrics{kind + "InTime": counted("Latency", fmt.Sprintf("PR(:%g)", promise.within), kind),
				kind + "Calls": counted("Latency", "SampleCount", kind)},
		})
	}
	ours := "SUM([FILL(crashed, 0), FILL(internal, 0), FILL(timeout, 0)])"
	return append(all, objective{
		"extraction availability", "Extractions fail because of the service (crash, out of memory, timeout, internal), " +
			"not because of the document.", 99,
		fmt.Sprintf("IF(%[1]s >= %[2]d, 100 * %[1]s / runs, 0)", ours, fewestFailures),
		metrics{
			"crashed": m.function(api.Extractor, "Errors", "Sum"), "internal": failures(catalog.InternalFailure),
			"timeout": failures(catalog.TimedOut),
			"runs":    m.function(api.Extractor, "Invocations", "Sum"),
		},
	}, objective{
		"extraction latency", "Extractions begin more than 5 minutes after they were queued.", 95, late("extraction"),
		metrics{
			"extractionInTime": counted("Wait", fmt.Sprintf("PR(:%d)", extractionBegins), api.Extractor),
			"extractionCalls":  counted("Wait", "SampleCount", api.Extractor),
		},
	})
}

// newObjectives creates an alarm for each objective. It fires when calls fail at a rate that
// would miss the objective.
func newObjectives(stack awscdk.Stack, s stage, topic awssns.ITopic, m measured) []interfacesawscloudwatch.IAlarmRef {
	var made []interfacesawscloudwatch.IAlarmRef
	for _, o := range objectives(m) {
		var paces []awscloudwatch.IAlarmRule
		for _, b := range burns {
			window := func(minutes float64) awscloudwatch.IAlarmRule {
				name := fmt.Sprintf("%s: %g times over %g min", o.name, b.times, minutes)
				return awscloudwatch.AlarmRule_FromAlarm(alarm{
					name: name, means: "A part of the alarm " + s.stackName() + " " + o.name + ".", expression: o.bad,
					metrics: over(o.metrics, seconds(60*minutes)), minutes: minutes,
					threshold: b.times * (100 - o.percent), due: 1, within: 1,
				}.create(stack, s, name), awscloudwatch.AlarmState_ALARM)
			}
			paces = append(paces, awscloudwatch.AlarmRule_AllOf(window(b.long), window(b.short)))
		}
		alarm := awscloudwatch.NewCompositeAlarm(stack, jsii.String("objective "+o.name), &awscloudwatch.CompositeAlarmProps{
			CompositeAlarmName: jsii.String(s.stackName() + " " + o.name),
			AlarmDescription: jsii.String(runbook(fmt.Sprintf("%s The objective is %g %% of 28 days.", o.means, o.percent),
				o.name)),
			AlarmRule: awscloudwatch.AlarmRule_AnyOf(paces...),
		})
		notify(alarm, topic)
		made = append(made, alarm)
	}
	return made
}
