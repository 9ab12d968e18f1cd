// Command credentials is the Lambda function for the operations of group credentials (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
)

func main() { group.Start(api.Credentials) }
