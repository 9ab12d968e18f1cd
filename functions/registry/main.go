// Command registry is the Lambda function for the operations of group registry (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
)

func main() { group.Start(api.Registry) }
