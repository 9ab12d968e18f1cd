// Command jobs is the Lambda function of the operations in group jobs (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
)

func main() { group.Start(api.Jobs) }
