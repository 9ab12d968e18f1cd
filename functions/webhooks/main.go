// Command webhooks is the Lambda function of the operations in group webhooks (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/notifying"
)

func main() { group.Start(api.Webhooks, notifying.Webhooks) }
