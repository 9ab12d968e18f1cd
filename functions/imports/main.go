// Command imports is the Lambda function for the operations of group imports (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
	"skillscurriculum/pkg/boot/group/sending"
)

func main() { group.Start(api.Imports, sending.Queue, sending.Imports, filing.Files) }
