// Command credentials is the Lambda function of the operations in group credentials (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() { boot.StartAPI(api.Credentials) }
