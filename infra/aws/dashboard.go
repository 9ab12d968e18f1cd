package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// newDashboard creates the dashboard of a stage. Its rows show objectives, traffic, refusals,
// extraction, webhooks and costs.
func newDashboard(stack awscdk.Stack, s stage, m measured, alarms []interfacesawscloudwatch.IAlarmRef) {
	gateway := func(name, statistic, label string) awscloudwatch.IMetric {
		return labelled(m.gateway(name, statistic), label)
	}
	queue := func(q awssqs.Queue, metricName, statistic, label string) awscloudwatch.IMetric {
		return labelled(m.queue(q, metricName, statistic), label)
	}
	onTable := func(name, label string) awscloudwatch.IMetric { return labelled(m.onTable(name), label) }
	each := func(metricName, statistic string) []awscloudwatch.IMetric {
		var all []awscloudwatch.IMetric
		for _, name := range api.Functions() {
			all = append(all, labelled(m.function(name, metricName, statistic), name))
		}
		return all
	}
	good := map[string][]awscloudwatch.IMetric{}
	for _, o := range objectives(m) {
		of := o.name[strings.LastIndex(o.name, " ")+1:]
		metrics := over(o.metrics, awscdk.Duration_Hours(jsii.Number(1)))
		good[of] = append(good[of], awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("100 - " + o.bad), UsingMetrics: &metrics,
			Label:  jsii.String(fmt.Sprintf("%s, at least %g", strings.TrimSuffix(o.name, " "+of), o.percent)),
			Period: awscdk.Duration_Hours(jsii.Number(1)),
		}))
	}
	var gigabyteSeconds []awscloudwatch.IMetric
	for _, name := range api.Functions() {
		gigabyteSeconds = append(gigabyteSeconds, awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression:   jsii.String(fmt.Sprintf("%s * %g / 1024 / 1000", name, sizes[name].memory)),
			UsingMetrics: &map[string]awscloudwatch.IMetric{name: labelled(m.function(name, "Duration", "Sum"), name)},
			Label:        jsii.String(name),
			Period:       awscdk.Duration_Minutes(jsii.Number(5)),
		}))
	}
	jobs, dead := m.queues.jobs, m.queues.dead

	board := awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName:   jsii.String(s.stackName()),
		DefaultInterval: awscdk.Duration_Hours(jsii.Number(12)),
	})
	row(board,
		awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Objectives: alarms"), Alarms: &alarms, Width: jsii.Number(8), Height: jsii.Number(6),
		}),
		percentages("Objectives: calls without a failure, % of an hour", good["availability"]),
		percentages("Objectives: calls in time, % of an hour", good["latency"]),
	)
	row(board,
		graph("Traffic: requests and failures",
			gateway("Count", "SampleCount", "requests"), gateway("5XXError", "Sum", "5xx")),
		graph("Traffic: requests by operation", own("Latency", "Operation", "SampleCount")),
		graph("Traffic: latency, ms",
			gateway("Latency", "p50", "p50"), gateway("Latency", "p99", "p99"),
			gateway("IntegrationLatency", "p99", "p99 in the function")),
		graph("Traffic: p99 by operation, ms", own("Latency", "Operation", "p99")),
	)
	row(board,
		graph("Refusals: all 4xx", gateway("4XXError", "Sum", "4xx")),
		graph("Refusals: over the rate limit, by operation", own("Refused", "Operation", "Sum")),
		graph("Refusals: functions throttled", each("Throttles", "Sum")...),
		graph("Refusals: table throttled", onTable("ReadThrottleEvents", "reads"), onTable("WriteThrottleEvents", "writes")),
	)
	row(board,
		graph("Extraction: runs, by failure code", own("Extractions", "FailureCode", "Sum")),
		graph("Extraction: p99 of a run, by failure code, ms", own("Latency", "FailureCode", "p99")),
		graph("Extraction: jobs",
			queue(jobs, "ApproximateNumberOfMessagesVisible", "Maximum", "waiting"),
			queue(jobs, "ApproximateNumberOfMessagesVisibleInQuietGroups", "Maximum", "waiting, of quiet customers"),
			queue(jobs, "ApproximateNumberOfMessagesNotVisible", "Maximum", "at work"),
			queue(dead, "NumberOfMessagesReceived", "Sum", "dead letters")),
		graph("Extraction: age of the oldest job, s", queue(jobs, "ApproximateAgeOfOldestMessage", "Maximum", "age")),
	)
	row(board,
		graph("Webhooks: attempts, by outcome", own("Deliveries", "Outcome", "Sum")),
		graph("Webhooks: from the change to the first attempt, ms", own("Wait", "Outcome", "p99")),
		graph("Webhooks: messages",
			queue(m.queues.messages, "ApproximateNumberOfMessagesVisible", "Maximum", "waiting"),
			queue(m.queues.messages, "ApproximateNumberOfMessagesVisibleInQuietGroups", "Maximum", "waiting, of quiet webhooks"),
			queue(m.queues.messages, "ApproximateNumberOfMessagesNotVisible", "Maximum", "at work"),
			queue(m.queues.deadMessages, "ApproximateNumberOfMessagesVisible", "Maximum", "dead")),
	)
	row(board,
		graph("Imports: runs, by failure code", own("Imports", "FailureCode", "Sum")),
		graph("Imports: organizations",
			queue(m.queues.imports, "ApproximateNumberOfMessagesVisible", "Maximum", "waiting"),
			queue(m.queues.imports, "ApproximateNumberOfMessagesNotVisible", "Maximum", "at work"),
			queue(m.queues.deadImports, "ApproximateNumberOfMessagesVisible", "Maximum", "dead")),
	)
	row(board,
		graph("Cost: units charged to customers, by operation", own("Units", "Operation", "Sum")),
		graph("Cost: table units used", onTable("ConsumedReadCapacityUnits", "reads"),
			onTable("ConsumedWriteCapacityUnits", "writes")),
		graph("Cost: Lambda GB-s", gigabyteSeconds...),
		graph("Cost: Lambda runs", each("Invocations", "Sum")...),
	)
}

func row(board awscloudwatch.Dashboard, widgets ...awscloudwatch.IWidget) {
	board.AddWidgets(widgets...)
}

func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Left: &metrics, Width: jsii.Number(6), Height: jsii.Number(6),
		LeftYAxis: &awscloudwatch.YAxisProps{Min: jsii.Number(0), ShowUnits: jsii.Bool(false)},
	})
}

// percentages graphs percentages of good calls, from 90 to 100.
func percentages(title string, metrics []awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Left: &metrics, Width: jsii.Number(8), Height: jsii.Number(6),
		Period:    awscdk.Duration_Hours(jsii.Number(1)),
		LeftYAxis: &awscloudwatch.YAxisProps{Min: jsii.Number(90), Max: jsii.Number(100), ShowUnits: jsii.Bool(false)},
	})
}

// labelled returns a metric for a graph, with a label and a period of five minutes.
func labelled(m awscloudwatch.IMetric, label string) awscloudwatch.IMetric {
	return m.(awscloudwatch.Metric).With(&awscloudwatch.MetricOptions{
		Label: &label, Period: awscdk.Duration_Minutes(jsii.Number(5)),
	})
}

// own searches a metric of the functions for all values of a dimension.
func own(name, dimension, statistic string) awscloudwatch.IMetric {
	search := fmt.Sprintf(`{%s,%s} MetricName="%s"`, api.MetricNamespace, dimension, name)
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(fmt.Sprintf("SEARCH('%s', '%s', 300)", search, statistic)),
		Label:      jsii.String(""),
		Period:     awscdk.Duration_Minutes(jsii.Number(5)),
	})
}
