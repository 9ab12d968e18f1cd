package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
)

func TestTable(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		_, table := tpl.only(t, "AWS::DynamoDB::Table")
		if diff := cmp.Diff(map[string]any{
			"AttributeDefinitions": []any{
				map[string]any{"AttributeName": "pk", "AttributeType": "S"},
				map[string]any{"AttributeName": "sk", "AttributeType": "S"},
				map[string]any{"AttributeName": "openShard", "AttributeType": "S"},
				map[string]any{"AttributeName": "openSince", "AttributeType": "N"},
			},
			"KeySchema": []any{
				map[string]any{"AttributeName": "pk", "KeyType": "HASH"},
				map[string]any{"AttributeName": "sk", "KeyType": "RANGE"},
			},
			"GlobalSecondaryIndexes": []any{map[string]any{
				"IndexName": "open",
				"KeySchema": []any{
					map[string]any{"AttributeName": "openShard", "KeyType": "HASH"},
					map[string]any{"AttributeName": "openSince", "KeyType": "RANGE"},
				},
				"Projection": map[string]any{"ProjectionType": "KEYS_ONLY"},
			}},
			"BillingMode":                      "PAY_PER_REQUEST",
			"StreamSpecification":              map[string]any{"StreamViewType": "KEYS_ONLY"},
			"TimeToLiveSpecification":          map[string]any{"AttributeName": "expiresAt", "Enabled": true},
			"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
			"DeletionProtectionEnabled":        stage == "prod",
		}, without(table.Properties, "Tags")); diff != "" {
			t.Error(diff)
		}
	})
}

func without(properties map[string]any, name string) map[string]any {
	rest := map[string]any{}
	for key, value := range properties {
		if key != name {
			rest[key] = value
		}
	}
	return rest
}

func TestProductionNeverDropsData(t *testing.T) {
	dev, prod := synth(t)
	for _, kind := range []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Logs::LogGroup"} {
		for id, r := range prod.of(kind) {
			if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("prod %s: deleted %s, replaced %s", id, r.DeletionPolicy, r.UpdateReplacePolicy)
			}
		}
		for id, r := range dev.of(kind) {
			if r.DeletionPolicy != "Delete" {
				t.Errorf("dev %s stays behind: %s", id, r.DeletionPolicy)
			}
		}
	}
	manifest := struct {
		Artifacts map[string]struct {
			Properties struct{ TerminationProtection bool }
		}
	}{}
	for id, alarm := range full(t).of("AWS::Backup::BackupVault") {
		same(t, "staging's "+id, alarm.DeletionPolicy, "Delete")
	}
	text, err := os.ReadFile(filepath.Join(synthesized.out, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	same(t, "prod termination protection", manifest.Artifacts["skills-curriculum-prod"].Properties.TerminationProtection, true)
	same(t, "dev termination protection", manifest.Artifacts["skills-curriculum-dev"].Properties.TerminationProtection, false)
}

func TestFunctions(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		if got := len(tpl.of("AWS::Lambda::Function")); got != len(api.Functions()) {
			t.Errorf("%d functions, want %d", got, len(api.Functions()))
		}
		for _, name := range api.Functions() {
			_, f := tpl.named(t, "AWS::Lambda::Function", name)
			if diff := cmp.Diff(map[string]any{
				"FunctionName": service + "-" + stage + "-" + name, "Runtime": "provided.al2023", "Handler": "bootstrap",
				"Architectures": []any{"arm64"}, "TracingConfig": map[string]any{"Mode": "Active"},
				"MemorySize": sizes[name].memory, "Timeout": sizes[name].timeout,
			}, pick(f.Properties, "FunctionName", "Runtime", "Handler", "Architectures", "TracingConfig", "MemorySize", "Timeout")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			logID, log := tpl.named(t, "AWS::Logs::LogGroup", name+"-log")
			same(t, name+" logs to", refersTo(f.get("LoggingConfig", "LogGroup")), "["+logID+"]")
			same(t, name+" log retention", log.get("RetentionInDays"), retentionDays[stage])
			roleID, _ := tpl.named(t, "AWS::IAM::Role", name+"-role")
			same(t, name+" role", refersTo(f.get("Role")), "["+roleID+"]")
			same(t, name+" reserved concurrency", f.get("ReservedConcurrentExecutions"), nil)
		}
	})
}

func pick(properties map[string]any, names ...string) map[string]any {
	picked := map[string]any{}
	for _, name := range names {
		picked[name] = properties[name]
	}
	return picked
}

func TestSizesHaveReasonsAndFitTheGateway(t *testing.T) {
	for _, name := range api.Functions() {
		s, ok := sizes[name]
		if !ok || len(s.why) < 20 || s.memory < 128 || s.memory > 10240 {
			t.Errorf("%s: %+v", name, s)
		}
		if slices.Contains(api.Groups(), api.Group(name)) && s.timeout >= 29 {
			t.Errorf("%s may run for %g s, longer than API Gateway waits", name, s.timeout)
		}
	}
	if len(sizes) != len(api.Functions()) {
		t.Errorf("%d sizes for %d functions", len(sizes), len(api.Functions()))
	}
}

func TestEnvironmentIsOne(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		jobs, _ := tpl.named(t, "AWS::SQS::Queue", "Jobs")
		messages, _ := tpl.named(t, "AWS::SQS::Queue", "Messages")
		imports, _ := tpl.named(t, "AWS::SQS::Queue", "Imports")
		secret, _ := tpl.only(t, "AWS::SecretsManager::Secret")
		table, _ := tpl.only(t, "AWS::DynamoDB::Table")
		bucket, _ := tpl.only(t, "AWS::S3::Bucket")
		want := map[string]any{
			"TABLE_NAME": map[string]any{"Ref": table}, "QUEUE_URL": map[string]any{"Ref": jobs}, "IMPORT_QUEUE_URL": map[string]any{"Ref": imports},
			"RATE_LIMIT_UNITS": "1000", "RATE_LIMIT_WINDOW_SECONDS": "60",
			"EXTRACTION_RETRY_SECONDS": "30", "QUOTA_TIMEOUT_MILLISECONDS": "250",
			"DYNAMODB_ENDPOINT": "", "SQS_ENDPOINT": "", "S3_ENDPOINT": "", "BUCKET_NAME": map[string]any{"Ref": bucket}, "SYLLABUS_ALLOWED_HOSTS": "",
			"WEBHOOK_QUEUE_URL": map[string]any{"Ref": messages}, "WEBHOOK_ALLOWED_HOSTS": "", "WEBHOOK_RETRY_SECONDS": "",
		}
		if stage == "prod" {
			want["TABLE_NAME"], want["RATE_LIMIT_UNITS"] = restoredTable, "5000"
		}
		for _, name := range api.Functions() {
			_, f := tpl.named(t, "AWS::Lambda::Function", name)
			got := f.get("Environment", "Variables").(map[string]any)
			taxonomy := got["TAXONOMY"]
			if stage == "prod" && name == "extractor" {
				same(t, name+" taxonomy", taxonomy, "/var/task/taxonomy.bin")
			} else if taxonomy != nil {
				t.Errorf("%s has a taxonomy that its bundle lacks", name)
			}
			key := compact(got["WEBHOOK_KEY"])
			if of := name == string(api.Webhooks) || name == api.Deliverer; of != strings.Contains(key, secret) || of && !strings.Contains(key, "{{resolve:secretsmanager:") {
				t.Errorf("%s has the key of the webhooks: %s", name, key)
			}
			if diff := cmp.Diff(want, without(without(got, "TAXONOMY"), "WEBHOOK_KEY")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func TestBucket(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		id, bucket := tpl.only(t, "AWS::S3::Bucket")
		if diff := cmp.Diff(map[string]any{
			"BucketEncryption": map[string]any{"ServerSideEncryptionConfiguration": []any{
				map[string]any{"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "AES256"}},
			}},
			"LifecycleConfiguration": map[string]any{"Rules": []any{
				map[string]any{"AbortIncompleteMultipartUpload": map[string]any{"DaysAfterInitiation": 1.0}, "Status": "Enabled"},
			}},
			"OwnershipControls":              map[string]any{"Rules": []any{map[string]any{"ObjectOwnership": "BucketOwnerEnforced"}}},
			"PublicAccessBlockConfiguration": map[string]any{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true},
		}, without(without(bucket.Properties, "Tags"), "CorsConfiguration")); diff != "" {
			t.Error(diff)
		}
		rules := bucket.get("CorsConfiguration", "CorsRules")
		same(t, "methods of other origins", at(rules, 0, "AllowedMethods"), []any{"PUT"})
		apiID, _ := tpl.only(t, "AWS::ApiGateway::RestApi")
		same(t, "origin", at(rules, 0, "AllowedOrigins", 0, "Fn::Join", 1), []any{
			"https://", map[string]any{"Ref": apiID}, ".execute-api.", map[string]any{"Ref": "AWS::Region"}, ".", map[string]any{"Ref": "AWS::URLSuffix"},
		})
		_, policy := tpl.only(t, "AWS::S3::BucketPolicy")
		same(t, "policy of", refersTo(policy.get("Bucket")), "["+id+"]")
		refuses := map[string]bool{}
		for _, s := range policy.get("PolicyDocument", "Statement").([]any) {
			same(t, "effect", at(s, "Effect"), "Deny")
			refuses["plain HTTP"] = refuses["plain HTTP"] || at(s, "Condition", "Bool", "aws:SecureTransport") == "false"
			refuses["old TLS"] = refuses["old TLS"] || at(s, "Condition", "NumericLessThan", "s3:TlsVersion") == 1.2
		}
		if !refuses["plain HTTP"] || !refuses["old TLS"] {
			t.Errorf("the bucket takes %v", refuses)
		}
	})
	_, own := full(t).only(t, "AWS::S3::Bucket")
	same(t, "origin of a domain", at(own.get("CorsConfiguration", "CorsRules"), 0, "AllowedOrigins", 0), "https://api.example.org")
	same(t, "with a key of the account", at(own.get("BucketEncryption", "ServerSideEncryptionConfiguration"), 0, "ServerSideEncryptionByDefault", "SSEAlgorithm"), "aws:kms")
}

func TestQueues(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		jobsID, jobs := tpl.named(t, "AWS::SQS::Queue", "Jobs")
		deadID, dead := tpl.named(t, "AWS::SQS::Queue", "DeadLetters")
		same(t, "dead letters of jobs", refersTo(jobs.get("RedrivePolicy", "deadLetterTargetArn")), "["+deadID+"]")
		same(t, "tries", jobs.get("RedrivePolicy", "maxReceiveCount"), 6)
		same(t, "dead letters are kept", dead.get("MessageRetentionPeriod"), 14.0*24*3600)
		messagesID, messages := tpl.named(t, "AWS::SQS::Queue", "Messages")
		deadMessagesID, deadMessages := tpl.named(t, "AWS::SQS::Queue", "DeadMessages")
		same(t, "dead messages", refersTo(messages.get("RedrivePolicy", "deadLetterTargetArn")), "["+deadMessagesID+"]")
		same(t, "dead messages are kept", deadMessages.get("MessageRetentionPeriod"), 14.0*24*3600)
		importsID, imports := tpl.named(t, "AWS::SQS::Queue", "Imports")
		deadImportsID, deadImports := tpl.named(t, "AWS::SQS::Queue", "DeadImports")
		same(t, "dead imports", refersTo(imports.get("RedrivePolicy", "deadLetterTargetArn")), "["+deadImportsID+"]")
		for _, q := range []resource{imports, deadImports} {
			same(t, "order of imports", q.get("FifoQueue"), true)
		}
		for queue, consumer := range map[string]string{"Jobs": api.Extractor, "DeadLetters": api.Sweeper, "Messages": api.Deliverer} {
			_, q := tpl.named(t, "AWS::SQS::Queue", queue)
			_, f := tpl.named(t, "AWS::Lambda::Function", consumer)
			if v, timeout := q.get("VisibilityTimeout").(float64), f.get("Timeout").(float64); v < 6*timeout {
				t.Errorf("%s: visibility %g s for a function of %g s", queue, v, timeout)
			}
			same(t, queue+" encryption", q.get("SqsManagedSseEnabled"), true)
		}
		secured := map[string]bool{}
		for _, p := range tpl.of("AWS::SQS::QueuePolicy") {
			s := at(p.get("PolicyDocument", "Statement"), 0)
			if at(s, "Effect") == "Deny" && at(s, "Condition", "Bool", "aws:SecureTransport") == "false" && at(s, "Action") == "sqs:*" {
				secured[refersTo(p.get("Queues"))[0]] = true
			}
		}
		same(t, "queues that refuse plain HTTP", secured, map[string]bool{jobsID: true, deadID: true, messagesID: true, deadMessagesID: true, importsID: true, deadImportsID: true})
	})
}

func TestEventSources(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		got := map[string]any{}
		for _, m := range tpl.of("AWS::Lambda::EventSourceMapping") {
			from := construct(tpl, refersTo(m.get("EventSourceArn"))[0])
			to := construct(tpl, refersTo(m.get("FunctionName"))[0])
			got[from+" to "+to] = without(without(without(m.Properties, "EventSourceArn"), "FunctionName"), "Tags")
		}
		want := map[string]any{
			"Jobs to extractor-live": map[string]any{
				"BatchSize": 1.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "ScalingConfig": map[string]any{"MaximumConcurrency": 10.0},
			},
			"DeadLetters to sweeper-live": map[string]any{
				"BatchSize": 10.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "ScalingConfig": map[string]any{"MaximumConcurrency": 2.0},
			},
			"Imports to importer-live": map[string]any{
				"BatchSize": 1.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "ScalingConfig": map[string]any{"MaximumConcurrency": 10.0},
			},
			"Messages to deliverer-live": map[string]any{
				"BatchSize": 8.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "ScalingConfig": map[string]any{"MaximumConcurrency": 20.0},
			},
			"Table to deliverer-live": map[string]any{
				"BatchSize": 100.0, "StartingPosition": "LATEST", "MaximumRetryAttempts": 2.0, "MaximumRecordAgeInSeconds": 60.0,
				"FilterCriteria": map[string]any{"Filters": []any{map[string]any{"Pattern": `{"dynamodb":{"Keys":{"pk":{"S":[{"suffix":"#journal"}]}}}}`}}},
			},
		}
		if stage == "prod" { // it serves from a restored table
			delete(want, "Table to deliverer-live")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// construct returns a resource's name in the code.
func construct(tpl template, id string) string {
	path, _ := tpl.Resources[id].Metadata["aws:cdk:path"].(string)
	if parts := strings.Split(path, "/"); len(parts) > 1 {
		return parts[1]
	}
	return id
}

func TestWorkersRunEveryMinute(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		ruleID, rule := tpl.only(t, "AWS::Events::Rule")
		targets := []string{}
		for _, name := range []string{api.Sweeper, api.Deliverer} {
			alias, _ := tpl.named(t, "AWS::Lambda::Alias", name+"-"+live)
			targets = append(targets, alias)
		}
		same(t, "schedule", rule.get("ScheduleExpression"), "rate(1 minute)")
		same(t, "state", rule.get("State"), "ENABLED")
		same(t, "targets", refersTo(rule.get("Targets")), fmt.Sprint(targets))
		for _, name := range []string{"Sweeper", "Deliverer"} {
			_, permission := tpl.named(t, "AWS::Lambda::Permission", "EveryMinuteMayWake"+name)
			same(t, "who may wake "+name, permission.get("Principal"), "events.amazonaws.com")
			same(t, "and from where", refersTo(permission.get("SourceArn")), "["+ruleID+"]")
		}
		repeats := tpl.of("AWS::Lambda::EventInvokeConfig")
		same(t, "functions that are not repeated", len(repeats), 2)
		for _, invoke := range repeats {
			same(t, "repeats", invoke.get("MaximumRetryAttempts"), 0)
		}
	})
}

func TestAlarms(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		topicID, _ := tpl.only(t, "AWS::SNS::Topic")
		type figures struct {
			threshold, due, within float64
			metrics                []string
		}
		want := map[string]figures{
			"dead letters":            {1, 1, 1, []string{"AWS/SQS ApproximateNumberOfMessagesVisible", "AWS/SQS NumberOfMessagesReceived"}},
			"function throttles":      {1, 2, 5, slices.Repeat([]string{"AWS/Lambda Throttles"}, 10)},
			"more function throttles": {1, 2, 5, slices.Repeat([]string{"AWS/Lambda Throttles"}, len(api.Groups())-10)},
			"worker throttles":        {1, 5, 15, slices.Repeat([]string{"AWS/Lambda Throttles"}, 4)},
			"table throttles":         {10, 2, 5, []string{"AWS/DynamoDB ReadThrottleEvents", "AWS/DynamoDB WriteThrottleEvents"}},
			"quiet customers wait":    {10, 10, 15, []string{"AWS/SQS ApproximateNumberOfMessagesVisibleInQuietGroups"}},
			"oldest job":              {21600, 3, 5, []string{"AWS/SQS ApproximateAgeOfOldestMessage"}},
			"sweeper silent":          {1, 5, 5, []string{"AWS/Lambda Errors", "AWS/Lambda Invocations"}},
			"unfinished records":      {1, 3, 15, []string{"SkillsCurriculum Unfinished"}},
			"dead messages":           {1, 1, 1, []string{"AWS/SQS ApproximateNumberOfMessagesVisible"}},
			"dead imports":            {1, 1, 1, []string{"AWS/SQS ApproximateNumberOfMessagesVisible"}},
			"quiet receivers wait":    {20, 10, 15, []string{"AWS/SQS ApproximateNumberOfMessagesVisibleInQuietGroups"}},
			"deliverer silent":        {1, 5, 5, []string{"AWS/Lambda Errors", "AWS/Lambda Invocations"}},
		}
		for _, name := range api.Functions() {
			want["release of "+name] = figures{2, 1, 2, []string{"AWS/Lambda Errors", "AWS/Lambda Invocations", service + "-" + stage + " " + name + " failures"}}
		}
		for objective, share := range objectiveShares {
			for _, b := range []struct {
				name  string
				times float64
			}{{"14.4 times over 60 min", 14.4}, {"14.4 times over 5 min", 14.4}, {"6 times over 360 min", 6}, {"6 times over 30 min", 6}} {
				want[objective+": "+b.name] = figures{b.times * (100 - share.percent), 0, 1, share.metrics}
			}
		}
		got := map[string]bool{}
		for id, a := range tpl.of("AWS::CloudWatch::Alarm") {
			name := strings.TrimPrefix(a.get("AlarmName").(string), service+"-"+stage+" ")
			w, ok := want[name]
			if !ok {
				t.Errorf("%s is not wanted", name)
				continue
			}
			got[name] = true
			same(t, name+" threshold", a.get("Threshold"), w.threshold)
			if w.due > 0 {
				same(t, name+" due", a.get("DatapointsToAlarm"), w.due)
			}
			same(t, name+" within", a.get("EvaluationPeriods"), w.within)
			same(t, name+" comparison", a.get("ComparisonOperator"), "GreaterThanOrEqualToThreshold")
			if strings.Contains(name, ":") || strings.HasPrefix(name, "release of ") { // parts of an alarm, and ends of releases
				same(t, name+" goes to", a.get("AlarmActions"), nil)
			} else {
				same(t, name+" goes to", refersTo(a.get("AlarmActions")), "["+topicID+"]")
				same(t, name+" clears to", refersTo(a.get("OKActions")), "["+topicID+"]")
			}
			missing := "notBreaching"
			if strings.HasSuffix(name, " silent") {
				missing = "breaching"
			}
			same(t, name+" without data", a.get("TreatMissingData"), missing)
			if !strings.Contains(name, ":") && !strings.Contains(a.get("AlarmDescription").(string), "docs/aws.md") {
				t.Errorf("%s does not refer to a runbook", name)
			}
			var metrics, ids []string
			expression := ""
			for _, m := range a.get("Metrics").([]any) {
				if e, ok := at(m, "Expression").(string); ok {
					expression = e
					continue
				}
				ids = append(ids, at(m, "Id").(string))
				metrics = append(metrics, at(m, "MetricStat", "Metric", "Namespace").(string)+" "+at(m, "MetricStat", "Metric", "MetricName").(string))
				of, _ := at(m, "MetricStat", "Metric", "Dimensions").([]any)
				for _, d := range of {
					for _, ref := range refersTo(d) {
						if _, ok := tpl.Resources[ref]; !ok {
							t.Errorf("%s watches %s, which is not there", name, ref)
						}
					}
				}
			}
			slices.Sort(metrics)
			if diff := cmp.Diff(w.metrics, metrics); diff != "" {
				t.Errorf("%s (%s) metrics: %s", name, id, diff)
			}
			for _, id := range ids {
				if !regexp.MustCompile(`\b` + id + `\b`).MatchString(expression) {
					t.Errorf("%s: %s is not in %q", name, id, expression)
				}
			}
			if strings.Contains(strings.ReplaceAll(expression, "FILL(failed, 0) + FILL(crashed, 0)", ""), "+") {
				t.Errorf("%s: %q has no value when one of its metrics has none", name, expression)
			}
			if len(ids) > 10 {
				t.Errorf("%s has %d metrics, an alarm takes 10", name, len(ids))
			}
		}
		for name := range want {
			if !got[name] {
				t.Errorf("no alarm %q", name)
			}
		}
	})
}

// objectiveShares maps the objectives to their percentages and metrics.
var objectiveShares = map[string]struct {
	percent float64
	metrics []string
}{
	"calls availability":      {99.9, []string{"AWS/ApiGateway 5XXError", "AWS/ApiGateway Count"}},
	"read availability":       {99.9, []string{"SkillsCurriculum Errors", "SkillsCurriculum Latency"}},
	"read latency":            {99, []string{"SkillsCurriculum Latency", "SkillsCurriculum Latency"}},
	"write availability":      {99.9, []string{"SkillsCurriculum Errors", "SkillsCurriculum Latency"}},
	"write latency":           {99, []string{"SkillsCurriculum Latency", "SkillsCurriculum Latency"}},
	"compute availability":    {99.5, []string{"SkillsCurriculum Errors", "SkillsCurriculum Latency"}},
	"compute latency":         {95, []string{"SkillsCurriculum Latency", "SkillsCurriculum Latency"}},
	"extraction availability": {99, []string{"AWS/Lambda Errors", "AWS/Lambda Invocations", "SkillsCurriculum ExtractionFailures", "SkillsCurriculum ExtractionFailures"}},
	"extraction latency":      {95, []string{"SkillsCurriculum Wait", "SkillsCurriculum Wait"}},
}

// An objective's alarm fires when both windows of a pace do.
func TestObjectives(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		topicID, _ := tpl.only(t, "AWS::SNS::Topic")
		for name := range objectiveShares {
			_, alarm := tpl.named(t, "AWS::CloudWatch::CompositeAlarm", "objective "+name)
			same(t, name+" is called", alarm.get("AlarmName"), service+"-"+stage+" "+name)
			same(t, name+" goes to", refersTo(alarm.get("AlarmActions")), "["+topicID+"]")
			same(t, name+" clears to", refersTo(alarm.get("OKActions")), "["+topicID+"]")
			var windows []string
			for _, id := range refersTo(alarm.get("AlarmRule")) {
				part, _ := tpl.Resources[id].get("AlarmName").(string)
				windows = append(windows, strings.TrimPrefix(part, service+"-"+stage+" "+name+": "))
			}
			if diff := cmp.Diff([]string{"14.4 times over 60 min", "14.4 times over 5 min", "6 times over 360 min", "6 times over 30 min"}, windows); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			rule := compact(alarm.get("AlarmRule"))
			if strings.Count(rule, " AND ") != 2 || strings.Count(rule, " OR ") != 1 {
				t.Errorf("%s: %s", name, rule)
			}
		}
		same(t, "objectives", len(tpl.of("AWS::CloudWatch::CompositeAlarm")), len(objectiveShares))
	})
}

// Periods of an objective's metrics are the windows that its alarms are named after.
func TestBurnWindows(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		for id, a := range tpl.of("AWS::CloudWatch::Alarm") {
			_, window, ok := strings.Cut(a.get("AlarmName").(string), " times over ")
			if !ok {
				continue
			}
			minutes, err := strconv.Atoi(strings.TrimSuffix(window, " min"))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range a.get("Metrics").([]any) {
				if at(m, "MetricStat") != nil {
					same(t, id+" period", at(m, "MetricStat", "Period"), 60*minutes)
				}
			}
		}
	})
}

func TestAlarmTopicTakesAlarmsOfThisAccountOnly(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		_, policy := tpl.only(t, "AWS::SNS::TopicPolicy")
		allowed, plainRefused := 0, false
		for _, s := range policy.get("PolicyDocument", "Statement").([]any) {
			switch at(s, "Effect") {
			case "Allow":
				allowed++
				same(t, "publisher", at(s, "Principal"), "map[Service:cloudwatch.amazonaws.com]")
				same(t, "action", at(s, "Action"), "sns:Publish")
				same(t, "condition", at(s, "Condition", "StringEquals", "aws:SourceAccount"), "map[Ref:AWS::AccountId]")
			case "Deny":
				plainRefused = at(s, "Condition", "Bool", "aws:SecureTransport") == "false"
			}
		}
		if allowed != 1 || !plainRefused {
			t.Errorf("%d may publish, plain HTTP refused: %v", allowed, plainRefused)
		}
		subscriptions := tpl.of("AWS::SNS::Subscription")
		if stage == "dev" {
			same(t, "subscriptions", len(subscriptions), 0)
			return
		}
		_, s := tpl.only(t, "AWS::SNS::Subscription")
		same(t, "subscriber", s.get("Endpoint"), "operator@example.org")
		same(t, "protocol", s.get("Protocol"), "email")
	})
}

func TestDashboard(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		_, board := tpl.only(t, "AWS::CloudWatch::Dashboard")
		same(t, "name", board.get("DashboardName"), service+"-"+stage)
		// References split the JSON string: replace each by a word.
		body := ""
		for _, part := range board.get("DashboardBody", "Fn::Join", 1).([]any) {
			if s, ok := part.(string); ok {
				body += s
			} else {
				body += "reference"
			}
		}
		var parsed struct {
			Widgets []struct {
				Type       string
				Properties struct {
					Title   string
					Metrics [][]any
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &parsed); err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for _, w := range parsed.Widgets {
			row, _, _ := strings.Cut(w.Properties.Title, ":")
			rows[row]++
			if w.Type == "metric" && len(w.Properties.Metrics) == 0 {
				t.Errorf("%s shows nothing", w.Properties.Title)
			}
		}
		if diff := cmp.Diff(map[string]int{"Objectives": 3, "Traffic": 4, "Refusals": 4, "Extraction": 4, "Imports": 2, "Webhooks": 3, "Cost": 4}, rows); diff != "" {
			t.Error(diff)
		}
		for _, metric := range []string{"Latency", "Refused", "Units"} {
			if !strings.Contains(body, `{SkillsCurriculum,Operation} MetricName=\"`+metric+`\"`) {
				t.Errorf("%s by operation is not shown", metric)
			}
		}
		if !strings.Contains(body, `{SkillsCurriculum,FailureCode} MetricName=\"Extractions\"`) {
			t.Error("extractions by failure code are not shown")
		}
	})
}

func TestOutputsForTheOperator(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		var names []string
		for name, o := range tpl.Outputs {
			names = append(names, name)
			if o["Description"] == nil {
				t.Errorf("%s says nothing", name)
			}
		}
		slices.Sort(names)
		want := []string{"AlarmTopicArn", "BaseUrl", "BucketName", "DeadImportsQueueArn", "DeadImportsQueueUrl", "DeadLetterQueueArn", "DeadLetterQueueUrl", "DeadMessagesQueueArn", "DeadMessagesQueueUrl", "ImportsQueueUrl", "MessagesQueueUrl", "QueueUrl", "RestApiId", "TableName", "UsagePlanId"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Error(diff)
		}
		if stage == "prod" {
			same(t, "table", tpl.Outputs["TableName"]["Value"], restoredTable)
		}
	})
}

// The template is the same on every machine: it names no account, region or local path.
func TestTemplateNamesNoAccountRegionOrMachine(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		text, err := os.ReadFile(tpl.file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`\b\d{12}\b|\b[a-z]{2}-(north|south|east|west|central)[a-z]*-\d\b`).FindAll(text, 1); found != nil {
			t.Errorf("the template names %s", found[0])
		}
		if strings.Contains(string(text), synthesized.root) {
			t.Error("the template names this machine's directories")
		}
	})
}
