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

// service begins the name of everything that is created.
const service = "skills-curriculum"

// The stages. Production keeps its data whatever happens to its stack.
const (
	dev     = "dev"
	staging = "staging"
	prod    = "prod"
)

var stages = []string{dev, staging, prod}

// stage is what one deployment may choose, in cdk.json or with -c key=value.
// Settings that outlive one command carry the stage in their key, so that stages
// never mix: prod:table, dev:alarmEmail. docs/aws.md says what each does and costs.
type stage struct {
	name    string // context stage: dev (default), staging or prod
	bundles string // context functions: directory with a bundle for each function

	owner, costCentre     string // tags
	table                 string // a restored table to serve from, empty for the stack's own
	alarmEmail            string // who gets the alarms, empty for nobody
	rateUnits, rateWindow string // of every customer
	domain, certificate   string // of the API's own name, empty for API Gateway's
	release               string // how traffic moves to new code: a key of shifts
	encryption            bool   // with a key of the account
	waf                   int    // requests of one address in 5 minutes that a web ACL lets pass; 0 for none
	vpc                   bool   // the extractor leaves through a network of its own
	backup                bool
	backupCopy            string         // vault that each backup is copied to, empty for none
	reserved              map[string]int // concurrency that is kept for a function, by its name
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

// tags are on everything that can carry tags.
func (s stage) tags() map[string]string {
	return map[string]string{"application": service, "stage": s.name, "owner": s.owner, "cost-centre": s.costCentre}
}

// settingNames are the settings of a stage, as they follow its name and a colon.
var settingNames = []string{
	"owner", "costCentre", "table", "alarmEmail", "rateLimitUnits", "rateLimitWindowSeconds", "domain", "certificateArn", "release",
	"encryption", "waf", "vpc", "backup", "backupCopyTo", "reservedConcurrency",
}

// readStage reads the settings of one stage from the context and reports all that
// is wrong with them at once.
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
		encryption: r.on("encryption"), vpc: r.on("vpc"), backup: r.on("backup"), backupCopy: r.of("backupCopyTo", ""),
		reserved: r.reservedConcurrency(),
	}
	r.number("rateLimitUnits", s.rateUnits, 1)
	r.number("rateLimitWindowSeconds", s.rateWindow, 1)
	if text := r.of("waf", "off"); text != "off" {
		s.waf = r.number("waf", text, 10) // the least that AWS takes
	}
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
			r.invalid = append(r.invalid, fmt.Errorf("%s is missing: run make build first", filepath.Join(s.bundles, f, "bootstrap")))
		}
	}
	return s, errors.Join(r.invalid...)
}

// settingReader reads one stage's settings of a CDK context and collects what is
// wrong with them.
type settingReader struct {
	context map[string]any
	stage   string
	invalid []error
}

// value returns the context's value of a key as text, or fallback without one.
func (r *settingReader) value(key, fallback string) string {
	if v := r.context[key]; v != nil && v != "" {
		return fmt.Sprint(v)
	}
	return fallback
}

// of returns the stage's setting of a name as text, or fallback without one.
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

// refuseUnknown rejects settings of any stage that do not exist.
func (r *settingReader) refuseUnknown() {
	for _, key := range slices.Sorted(maps.Keys(r.context)) {
		if of, setting, ok := strings.Cut(key, ":"); ok && slices.Contains(stages, of) && !slices.Contains(settingNames, setting) {
			r.invalid = append(r.invalid, fmt.Errorf("%s is no setting: there are %s", key, strings.Join(settingNames, ", ")))
		}
	}
}

// reservedConcurrency returns the concurrency that is reserved by function.
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
			least = extractorsAtOnce // fewer would make SQS count receives of jobs that never started
		}
		reserved[function] = r.number(setting, count, least)
	}
	return reserved
}
