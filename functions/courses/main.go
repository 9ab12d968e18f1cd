// Command courses is the Lambda function for the operations of group courses (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
	"skillscurriculum/pkg/boot/group/sending"
)

func main() { group.Start(api.Courses, sending.Queue, filing.Files) }
