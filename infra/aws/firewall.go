package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"
)

// managed is an AWS managed rule group. Rules that would reject legitimate calls only count:
// bodies of up to 1 MiB may contain course texts about programming, and clients may lack a
// User-Agent.
type managed struct {
	name    string
	counted []string
}

var managedRules = []managed{
	{"AWSManagedRulesAmazonIpReputationList", nil},
	{"AWSManagedRulesKnownBadInputsRuleSet", nil},
	{"AWSManagedRulesCommonRuleSet", []string{
		"SizeRestrictions_BODY", "CrossSiteScripting_BODY", "GenericLFI_BODY", "GenericRFI_BODY", "EC2MetaDataSSRF_BODY",
		"NoUserAgent_HEADER",
	}},
}

// newFirewall adds a web ACL if the stage has one: AWS's rules and a limit on the requests of
// one address. A rejected request is a 403 in the contract's format.
func newFirewall(stack awscdk.Stack, s stage, rest awsapigateway.RestApi) {
	if s.waf == 0 {
		accept(rest, "AwsSolutions-APIG3", "", "The web ACL is an optional setting with a price; keys, throttles and the "+
			"functions' own validation work without it.")
		return
	}
	visible := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{
			MetricName: &name, CloudWatchMetricsEnabled: jsii.Bool(true),
			SampledRequestsEnabled: jsii.Bool(false), // samples would include headers and so API keys
		}
	}
	rules := []any{&awswafv2.CfnWebACL_RuleProperty{
		Name: jsii.String("RequestsOfOneAddress"), Priority: jsii.Number(0),
		VisibilityConfig: visible("RequestsOfOneAddress"),
		Action:           &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{}},
		Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
			Limit: jsii.Number(float64(s.waf)), AggregateKeyType: jsii.String("IP"), EvaluationWindowSec: jsii.Number(300),
		}},
	}}
	for i, group := range managedRules {
		var counted []any
		for _, rule := range group.counted {
			counted = append(counted, &awswafv2.CfnWebACL_RuleActionOverrideProperty{
				Name:        jsii.String(rule),
				ActionToUse: &awswafv2.CfnWebACL_RuleActionProperty{Count: &awswafv2.CfnWebACL_CountActionProperty{}},
			})
		}
		statement := &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
			VendorName: jsii.String("AWS"), Name: jsii.String(group.name),
		}
		if counted != nil {
			statement.RuleActionOverrides = &counted
		}
		rules = append(rules, &awswafv2.CfnWebACL_RuleProperty{
			Name: jsii.String(group.name), Priority: jsii.Number(float64(i + 1)), VisibilityConfig: visible(group.name),
			OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: &map[string]any{}},
			Statement:      &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: statement},
		})
	}
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Name: jsii.String(s.stackName()), Description: jsii.String("In front of the API of " + s.stackName()),
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
		VisibilityConfig: visible(s.stackName()), Rules: &rules,
	})
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String("FirewallOfStage"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: rest.DeploymentStage().StageArn(), WebAclArn: acl.AttrArn(),
	})
}
