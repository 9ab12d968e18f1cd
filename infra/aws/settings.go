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
	var invalid []error
	reject := func(key, value, want string) { invalid = append(invalid, fmt.Errorf("%s is %q: %s", key, value, want)) }
	value := func(key, fallback string) string {
		if v := context[key]; v != nil && v != "" {
			return fmt.Sprint(v)
		}
		return fallback
	}
	name := value("stage", dev)
	if !slices.Contains(stages, name) {
		return stage{}, fmt.Errorf("stage %q is unknown: use -c stage=%s", name, strings.Join(stages, ", -c stage="))
	}
	for _, key := range slices.Sorted(maps.Keys(context)) {
		if of, setting, ok := strings.Cut(key, ":"); ok && slices.Contains(stages, of) && !slices.Contains(settingNames, setting) {
			invalid = append(invalid, fmt.Errorf("%s is no setting: there are %s", key, strings.Join(settingNames, ", ")))
		}
	}
	of := func(key, fallback string) string { return value(name+":"+key, fallback) }
	number := func(key, text string, least int) int {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			reject(name+":"+key, text, fmt.Sprintf("use a whole number, at least %d", least))
		}
		return n
	}
	on := func(key string) bool {
		text := of(key, "off")
		if text != "on" && text != "off" {
			reject(name+":"+key, text, "use on or off")
		}
		return text == "on"
	}
	s := stage{
		name: name, bundles: value("functions", filepath.Join("build", "functions")),
		owner: of("owner", "unassigned"), costCentre: of("costCentre", "unassigned"),
		table: of("table", ""), alarmEmail: of("alarmEmail", ""),
		rateUnits: of("rateLimitUnits", "1000"), rateWindow: of("rateLimitWindowSeconds", "60"),
		domain: of("domain", ""), certificate: of("certificateArn", ""), release: of("release", allAtOnce),
		encryption: on("encryption"), vpc: on("vpc"), backup: on("backup"), backupCopy: of("backupCopyTo", ""),
		reserved: map[string]int{},
	}
	number("rateLimitUnits", s.rateUnits, 1)
	number("rateLimitWindowSeconds", s.rateWindow, 1)
	if text := of("waf", "off"); text != "off" {
		s.waf = number("waf", text, 10) // the least that AWS takes
	}
	if (s.domain == "") != (s.certificate == "") {
		invalid = append(invalid, fmt.Errorf("%s:domain and %s:certificateArn need each other", name, name))
	}
	if s.certificate != "" && !strings.HasPrefix(s.certificate, "arn:") {
		reject(name+":certificateArn", s.certificate, "use the ARN of an ACM certificate of the deployment's region")
	}
	if _, ok := shifts[s.release]; !ok {
		reject(name+":release", s.release, "use one of "+strings.Join(slices.Sorted(maps.Keys(shifts)), ", "))
	}
	if s.backupCopy != "" && (!s.backup || !strings.HasPrefix(s.backupCopy, "arn:")) {
		reject(name+":backupCopyTo", s.backupCopy, "use the ARN of a backup vault, with "+name+":backup=on")
	}
	for part := range strings.SplitSeq(of("reservedConcurrency", ""), ",") {
		if part == "" {
			continue
		}
		function, count, _ := strings.Cut(strings.TrimSpace(part), "=")
		least := 1
		if function == api.Extractor {
			least = extractorsAtOnce // fewer would make SQS count receives of jobs that never started
		}
		if !slices.Contains(api.Functions(), function) {
			reject(name+":reservedConcurrency", part, "use function=number, with commas between")
			continue
		}
		s.reserved[function] = number("reservedConcurrency", count, least)
	}
	for _, f := range api.Functions() {
		if _, err := os.Stat(filepath.Join(s.bundles, f, "bootstrap")); err != nil {
			invalid = append(invalid, fmt.Errorf("%s is missing: run make build first", filepath.Join(s.bundles, f, "bootstrap")))
		}
	}
	return s, errors.Join(invalid...)
}
