// Command extractions is the Lambda function for the operations of group extractions (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
	"skillscurriculum/pkg/boot/group/sending"
)

func main() { group.Start(api.Extractions, sending.Queue, filing.Files) }
