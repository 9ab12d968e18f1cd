// Command labor is the Lambda function of the operations in group labor (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() { boot.StartAPI(api.Labor) }
