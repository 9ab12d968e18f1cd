// Command courses is the Lambda function of the operations in group courses (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() { boot.StartAPI(api.Courses) }
