// Command webhooks is the Lambda function for the operations of group webhooks (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/notifying"
)

func main() { group.Start(api.Webhooks, notifying.Webhooks) }
