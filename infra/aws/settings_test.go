package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
)

// Settings that are off by default create no resources.
func TestDefaultsAreBare(t *testing.T) {
	dev, _ := synth(t)
	for id, r := range dev.Resources {
		for _, kind := range []string{"AWS::KMS::", "AWS::Backup::", "AWS::ApiGateway::DomainName", "AWS::ApiGateway::BasePathMapping"} {
			if strings.HasPrefix(r.Type, kind) {
				t.Errorf("%s of type %s is not asked for", id, r.Type)
			}
		}
	}
}

func TestEverythingIsTagged(t *testing.T) {
	want := map[string]map[string]string{
		"dev":     {"application": service, "stage": "dev", "owner": "unassigned", "cost-centre": "unassigned"},
		"staging": {"application": service, "stage": "staging", "owner": "team-a", "cost-centre": "cc-1"},
	}
	dev, _ := synth(t)
	for stage, tpl := range map[string]template{"dev": dev, "staging": full(t)} {
		for _, kind := range []string{
			"AWS::DynamoDB::Table", "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::IAM::Role", "AWS::Logs::LogGroup",
			"AWS::ApiGateway::RestApi", "AWS::ApiGateway::Stage", "AWS::ApiGateway::UsagePlan", "AWS::CloudWatch::Alarm", "AWS::CodeDeploy::Application",
			"AWS::KMS::Key", "AWS::ApiGateway::DomainName",
		} {
			for id, r := range tpl.of(kind) {
				got := map[string]string{}
				tags, _ := r.get("Tags").([]any)
				for _, tag := range tags {
					got[at(tag, "Key").(string)], _ = at(tag, "Value").(string)
				}
				if diff := cmp.Diff(want[stage], got); diff != "" {
					t.Errorf("%s %s: %s", stage, id, diff)
				}
			}
		}
	}
}

func TestDomain(t *testing.T) {
	tpl := full(t)
	id, domain := tpl.only(t, "AWS::ApiGateway::DomainName")
	same(t, "name", domain.get("DomainName"), "api.example.org")
	same(t, "certificate", domain.get("RegionalCertificateArn"), everything["staging:certificateArn"])
	same(t, "security policy", domain.get("SecurityPolicy"), "TLS_1_2")
	_, mapping := tpl.only(t, "AWS::ApiGateway::BasePathMapping")
	deployed, _ := tpl.only(t, "AWS::ApiGateway::Stage")
	same(t, "mapped path", mapping.get("BasePath"), "v1")
	same(t, "mapped stage", refersTo(mapping.get("Stage")), "["+deployed+"]")
	same(t, "domain of the mapping", refersTo(mapping.get("DomainName")), "["+id+"]")
	same(t, "BaseUrl", tpl.Outputs["BaseUrl"]["Value"], "https://api.example.org/v1")
	same(t, "target", refersTo(tpl.Outputs["DomainTarget"]["Value"]), "["+id+"]")
}

// Every function has a version, an alias that everything invokes, and a release
// that its own alarm ends, unless traffic moves at once.
func TestReleases(t *testing.T) {
	dev, prod := synth(t)
	for stage, c := range map[string]struct {
		tpl    template
		config string
		alarms bool
	}{
		"dev":     {dev, "CodeDeployDefault.LambdaAllAtOnce", false},
		"prod":    {prod, "CodeDeployDefault.LambdaCanary10Percent5Minutes", true},
		"staging": {full(t), "CodeDeployDefault.LambdaLinear10PercentEvery1Minute", true},
	} {
		for _, name := range api.Functions() {
			function, _ := c.tpl.named(t, "AWS::Lambda::Function", name)
			_, alias := c.tpl.named(t, "AWS::Lambda::Alias", name+"-"+live)
			same(t, name+" alias", alias.get("Name"), live)
			version := refersTo(alias.get("FunctionVersion"))[0]
			same(t, name+" version", refersTo(c.tpl.Resources[version].get("FunctionName")), "["+function+"]")
			group, release := c.tpl.named(t, "AWS::CodeDeploy::DeploymentGroup", name+"-release")
			same(t, stage+" "+name+" moves traffic", release.get("DeploymentConfigName"), c.config)
			same(t, name+" is moved by", refersTo(alias.UpdatePolicy["CodeDeployLambdaAliasUpdate"]), refersTo(map[string]any{
				"a": map[string]any{"Ref": refersTo(release.get("ApplicationName"))[0]}, "d": map[string]any{"Ref": group},
			}))
			alarm, _ := c.tpl.named(t, "AWS::CloudWatch::Alarm", name+"-release-alarm")
			if !c.alarms {
				same(t, stage+" "+name+" is ended by", release.get("AlarmConfiguration"), "map[Enabled:false]")
				continue
			}
			same(t, stage+" "+name+" is ended by", refersTo(release.get("AlarmConfiguration", "Alarms")), "["+alarm+"]")
			same(t, stage+" "+name+" alarms count", release.get("AlarmConfiguration", "Enabled"), true)
			if events := list(release.get("AutoRollbackConfiguration", "Events")); !slices.Contains(events, "DEPLOYMENT_STOP_ON_ALARM") {
				t.Errorf("%s %s goes back on %v", stage, name, events)
			}
		}
	}
}

func TestEncryption(t *testing.T) {
	tpl := full(t)
	key, k := tpl.only(t, "AWS::KMS::Key")
	same(t, "rotation", k.get("EnableKeyRotation"), true)
	same(t, "the key outlives the stack", k.DeletionPolicy, "Retain")
	for kind, path := range map[string][]any{
		"AWS::DynamoDB::Table": {"SSESpecification", "KMSMasterKeyId"}, "AWS::SQS::Queue": {"KmsMasterKeyId"}, "AWS::SNS::Topic": {"KmsMasterKeyId"},
		"AWS::Logs::LogGroup": {"KmsKeyId"}, "AWS::Backup::BackupVault": {"EncryptionKeyArn"},
	} {
		found := tpl.of(kind)
		if len(found) == 0 {
			t.Errorf("no %s", kind)
		}
		for id, r := range found {
			same(t, id+" key", refersTo(r.get(path...)), "["+key+"]")
		}
	}
	services := map[string]bool{}
	for _, s := range k.get("KeyPolicy", "Statement").([]any) {
		services[compact(at(s, "Principal", "Service"))] = true
	}
	if len(services) < 3 { // the account, logs and alarms
		t.Errorf("the key serves %v", services)
	}
	for _, name := range api.Functions() {
		_, role := tpl.named(t, "AWS::IAM::Role", name+"-role")
		used := false
		for _, s := range role.get("Policies", 0, "PolicyDocument", "Statement").([]any) {
			if slices.Contains(list(at(s, "Action")), "kms:Decrypt") {
				used = at(s, "Condition", "StringEquals", "kms:ViaService") != nil && refersTo(at(s, "Resource"))[0] == key
			}
		}
		if !used {
			t.Errorf("%s cannot use the key through its services only", name)
		}
	}
}

func TestReservedConcurrency(t *testing.T) {
	want := map[string]any{"extractor": 20.0, "reports": 5.0}
	for _, name := range api.Functions() {
		_, f := full(t).named(t, "AWS::Lambda::Function", name)
		same(t, name+" reserved", f.get("ReservedConcurrentExecutions"), want[name])
	}
}

func TestBackup(t *testing.T) {
	tpl := full(t)
	_, plan := tpl.only(t, "AWS::Backup::BackupPlan")
	got := map[string]any{}
	for _, r := range plan.get("BackupPlan", "BackupPlanRule").([]any) {
		got[at(r, "RuleName").(string)] = at(r, "Lifecycle", "DeleteAfterDays")
		same(t, "copy", at(r, "CopyActions", 0, "DestinationBackupVaultArn"), everything["staging:backupCopyTo"])
		same(t, "copies are kept", at(r, "CopyActions", 0, "Lifecycle", "DeleteAfterDays"), at(r, "Lifecycle", "DeleteAfterDays"))
	}
	if diff := cmp.Diff(map[string]any{"daily": 35.0, "monthly": 365.0}, got); diff != "" {
		t.Error(diff)
	}
	table, _ := tpl.only(t, "AWS::DynamoDB::Table")
	_, selection := tpl.only(t, "AWS::Backup::BackupSelection")
	same(t, "what is backed up", refersTo(selection.get("BackupSelection", "Resources")), "["+table+"]")
}

// CloudFormation accepts 500 resources and 1 MB per template.
func TestTemplatesFit(t *testing.T) {
	for _, tpl := range []template{full(t), synthesized.dev, synthesized.prod} {
		if n := len(tpl.Resources); n > 480 {
			t.Errorf("%s has %d resources", tpl.file, n)
		}
		if tpl.bytes > 900_000 {
			t.Errorf("%s has %d bytes", tpl.file, tpl.bytes)
		}
	}
}

// Saved queries read existing logs.
func TestQueries(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		found := tpl.of("AWS::Logs::QueryDefinition")
		same(t, "queries", len(found), len(queries))
		for id, q := range found {
			groups := refersTo(q.get("LogGroupNames"))
			if len(groups) == 0 {
				t.Errorf("%s reads no log", id)
			}
			for _, group := range groups {
				same(t, id+" reads", tpl.Resources[group].Type, "AWS::Logs::LogGroup")
			}
			if !strings.HasPrefix(q.get("Name").(string), service+"-"+stage+"/") {
				t.Errorf("%s is called %v", id, q.get("Name"))
			}
		}
	})
}
