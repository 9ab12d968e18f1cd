// Command programs is the Lambda function for the operations of group programs (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/sending"
)

func main() { group.Start(api.Programs, sending.Queue) }
