// Command documents is the Lambda function for the operations of group documents (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
)

func main() { group.Start(api.Documents, filing.Files) }
