// Command jobs is the Lambda function of the operations in group jobs (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() { boot.StartAPI(api.Jobs) }
