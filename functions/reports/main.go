// Command reports is the Lambda function of the operations in group reports (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
)

func main() { group.Start(api.Reports) }
