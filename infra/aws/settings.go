package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"skillscurriculum/pkg/api"
)

// service is the prefix of all names.
const service = "skills-curriculum"

// The stages. Production keeps its data if its stack is deleted.
const (
	dev     = "dev"
	staging = "staging"
	prod    = "prod"
)

var stages = []string{dev, staging, prod}

// stage holds the settings of a deployment, from cdk.json or -c key=value. Keys of permanent
// settings start with the stage, so that stages cannot be confused: prod:table,
// dev:alarmEmail. docs/aws.md describes each setting and its cost.
type stage struct {
	name    string // context stage: dev (default), staging or prod
	bundles string // context functions: directory with the bundles

	owner, costCentre     string // tags
	table                 string // a restored table to use; empty means the stack's own
	alarmEmail            string // recipient of alarms; may be empty
	rateUnits, rateWindow string // default for all customers
	domain, certificate   string // custom domain of the API; empty for API Gateway's
	release               string // a key of shifts
	encryption            bool   // with a customer managed key
	backup                bool
	backupCopy            string         // vault to which backups are copied; may be empty
	reserved              map[string]int // reserved concurrency by function
}

func (s stage) production() bool  { return s.name == prod }
func (s stage) stackName() string { return service + "-" + s.name }

// data returns the removal policy of tables, files and logs.
func (s stage) data() awscdk.RemovalPolicy {
	if s.production() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// tags returns the tags of all resources.
func (s stage) tags() map[string]string {
	return map[string]string{"application": service, "stage": s.name, "owner": s.owner, "cost-centre": s.costCentre}
}

// settingNames are the settings of a stage, without its name and the colon.
var settingNames = []string{
	"owner", "costCentre", "table", "alarmEmail", "rateLimitUnits", "rateLimitWindowSeconds", "domain", "certificateArn",
	"release",
	"encryption", "backup", "backupCopyTo", "reservedConcurrency",
}

// readStage reads the settings of a stage from the context. The error lists all invalid
// settings.
func readStage(context map[string]any) (stage, error) {
	r := settingReader{context: context}
	r.stage = r.value("stage", dev)
	if !slices.Contains(stages, r.stage) {
		return stage{}, fmt.Errorf("stage %q is unknown: use -c stage=%s", r.stage, strings.Join(stages, ", -c stage="))
	}
	r.refuseUnknown()
	s := stage{
		name: r.stage, bundles: r.value("functions", filepath.Join("build", "functions")),
		owner: r.of("owner", "unassigned"), costCentre: r.of("costCentre", "unassigned"),
		table: r.of("table", ""), alarmEmail: r.of("alarmEmail", ""),
		rateUnits: r.of("rateLimitUnits", "1000"), rateWindow: r.of("rateLimitWindowSeconds", "60"),
		domain: r.of("domain", ""), certificate: r.of("certificateArn", ""), release: r.of("release", allAtOnce),
		encryption: r.on("encryption"), backup: r.on("backup"), backupCopy: r.of("backupCopyTo", ""),
		reserved: r.reservedConcurrency(),
	}
	r.number("rateLimitUnits", s.rateUnits, 1)
	r.number("rateLimitWindowSeconds", s.rateWindow, 1)
	if (s.domain == "") != (s.certificate == "") {
		r.invalid = append(r.invalid, fmt.Errorf("%s:domain and %[1]s:certificateArn need each other", r.stage))
	}
	if s.certificate != "" && !strings.HasPrefix(s.certificate, "arn:") {
		r.reject("certificateArn", s.certificate, "use the ARN of an ACM certificate of the deployment's region")
	}
	if _, ok := shifts[s.release]; !ok {
		r.reject("release", s.release, "use one of "+strings.Join(slices.Sorted(maps.Keys(shifts)), ", "))
	}
	if s.backupCopy != "" && (!s.backup || !strings.HasPrefix(s.backupCopy, "arn:")) {
		r.reject("backupCopyTo", s.backupCopy, "use the ARN of a backup vault, with "+r.stage+":backup=on")
	}
	for _, f := range api.Functions() {
		if _, err := os.Stat(filepath.Join(s.bundles, f, "bootstrap")); err != nil {
			r.invalid = append(r.invalid, fmt.Errorf("%s is missing: run make build first",
				filepath.Join(s.bundles, f, "bootstrap")))
		}
	}
	return s, errors.Join(r.invalid...)
}

// settingReader reads the settings of a stage from a CDK context and collects errors.
type settingReader struct {
	context map[string]any
	stage   string
	invalid []error
}

// value returns the context's value of a key, or fallback.
func (r *settingReader) value(key, fallback string) string {
	if v := r.context[key]; v != nil && v != "" {
		return fmt.Sprint(v)
	}
	return fallback
}

// of returns a setting of the stage, or fallback.
func (r *settingReader) of(setting, fallback string) string {
	return r.value(r.stage+":"+setting, fallback)
}

func (r *settingReader) reject(setting, value, want string) {
	r.invalid = append(r.invalid, fmt.Errorf("%s:%s is %q: %s", r.stage, setting, value, want))
}

func (r *settingReader) number(setting, text string, least int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		r.reject(setting, text, fmt.Sprintf("use a whole number, at least %d", least))
	}
	return n
}

func (r *settingReader) on(setting string) bool {
	text := r.of(setting, "off")
	if text != "on" && text != "off" {
		r.reject(setting, text, "use on or off")
	}
	return text == "on"
}

// refuseUnknown rejects unknown settings of any stage.
func (r *settingReader) refuseUnknown() {
	for _, key := range slices.Sorted(maps.Keys(r.context)) {
		if of, setting, ok := strings.Cut(key, ":"); ok && slices.Contains(stages, of) &&
			!slices.Contains(settingNames, setting) {
			r.invalid = append(r.invalid, fmt.Errorf("%s is not a setting; the settings are %s", key,
				strings.Join(settingNames, ", ")))
		}
	}
}

// reservedConcurrency returns the reserved concurrency by function.
func (r *settingReader) reservedConcurrency() map[string]int {
	const setting = "reservedConcurrency"
	reserved := map[string]int{}
	for part := range strings.SplitSeq(r.of(setting, ""), ",") {
		if part == "" {
			continue
		}
		function, count, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !slices.Contains(api.Functions(), function) {
			r.reject(setting, part, "use function=number, with commas between")
			continue
		}
		least := 1
		if function == api.Extractor {
			least = extractorsAtOnce // with less, SQS would count receives of jobs that never started
		}
		reserved[function] = r.number(setting, count, least)
	}
	return reserved
}
