package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// network is the extractor's VPC.
type network struct {
	vpc    awsec2.Vpc
	egress awsec2.SecurityGroup
}

// newNetwork creates the extractor's VPC, or returns nil if the stage has none. Fetches of
// syllabi then come from one address and are in the flow log, and only HTTP and HTTPS are
// allowed. Table and bucket have gateway endpoints.
func newNetwork(stack awscdk.Stack, s stage, key awskms.IKey) *network {
	if !s.vpc {
		return nil
	}
	vpc := awsec2.NewVpc(stack, jsii.String("Network"), &awsec2.VpcProps{
		MaxAzs:      jsii.Number(2),
		NatGateways: jsii.Number(1),
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{
			{Name: jsii.String("way-out"), SubnetType: awsec2.SubnetType_PUBLIC, MapPublicIpOnLaunch: jsii.Bool(false),
				CidrMask: jsii.Number(28)},
			{Name: jsii.String("extractor"), SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS, CidrMask: jsii.Number(24)},
		},
		// The default security group is not used, and restricting it would add a Lambda
		// function.
		RestrictDefaultSecurityGroup: jsii.Bool(false),
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"Table": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
			"Files": {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
		},
		FlowLogs: &map[string]*awsec2.FlowLogOptions{
			"Flows": {
				TrafficType: awsec2.FlowLogTrafficType_ALL,
				Destination: awsec2.FlowLogDestination_ToCloudWatchLogs(newLog(stack, s, key, "network-log",
					nil).(awslogs.ILogGroup), nil),
			},
		},
	})
	egress := awsec2.NewSecurityGroup(stack, jsii.String("ExtractorEgress"), &awsec2.SecurityGroupProps{
		Vpc: vpc, AllowAllOutbound: jsii.Bool(false),
		Description: jsii.String("The extractor: HTTP and HTTPS out, nothing in"),
	})
	for port, what := range map[float64]string{80: "syllabi over HTTP", 443: "syllabi, SQS and the table over HTTPS"} {
		egress.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(&port), &what, nil)
	}
	return &network{vpc, egress}
}
