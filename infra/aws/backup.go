package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
)

// Retention of backups in days. Point-in-time recovery covers the last 35 days to the
// second; backups are for errors noticed later and for the loss of the account.
const (
	dailyKept   = 35
	monthlyKept = 365
)

// newBackup creates daily and monthly backups, and copies each to another vault (of another
// account or region) if one is set.
func newBackup(stack awscdk.Stack, s stage, key awskms.IKey, t table) {
	if !s.backup {
		return
	}
	props := &awsbackup.BackupVaultProps{BackupVaultName: jsii.String(s.stackName()), RemovalPolicy: s.data()}
	if key != nil {
		props.EncryptionKey = key
	}
	plan := awsbackup.NewBackupPlan(stack, jsii.String("Backup"), &awsbackup.BackupPlanProps{
		BackupPlanName: jsii.String(s.stackName()), BackupVault: awsbackup.NewBackupVault(stack, jsii.String("Vault"), props),
	})
	rule := func(name, day string, kept float64) {
		r := &awsbackup.BackupPlanRuleProps{
			RuleName: &name, DeleteAfter: awscdk.Duration_Days(&kept),
			ScheduleExpression: awsevents.Schedule_Cron(&awsevents.CronOptions{
				Day: &day, Hour: jsii.String("5"), Minute: jsii.String("0"),
			}),
		}
		if s.backupCopy != "" {
			r.CopyActions = &[]*awsbackup.BackupPlanCopyActionProps{{
				DestinationBackupVault: awsbackup.BackupVault_FromBackupVaultArn(stack, jsii.String("copies-"+name), &s.backupCopy),
				DeleteAfter:            awscdk.Duration_Days(&kept),
			}}
		}
		plan.AddRule(awsbackup.NewBackupPlanRule(r))
	}
	rule("daily", "*", dailyKept)
	rule("monthly", "1", monthlyKept)
	role := awsiam.NewRole(stack, jsii.String("backup-role"), &awsiam.RoleProps{
		Description: jsii.String("AWS Backup: reads the table, restores it"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForRestores")),
		},
	})
	for _, policy := range []string{"AWSBackupServiceRolePolicyForBackup", "AWSBackupServiceRolePolicyForRestores"} {
		accept(role, "AwsSolutions-IAM4", "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/"+policy,
			"The policy that AWS prescribes for AWS Backup.")
	}
	plan.AddSelection(jsii.String("Table"), &awsbackup.BackupSelectionOptions{
		Resources: &[]awsbackup.BackupResource{awsbackup.BackupResource_FromArn(t.arn)}, Role: role,
		DisableDefaultBackupPolicy: jsii.Bool(true),
	})
}
