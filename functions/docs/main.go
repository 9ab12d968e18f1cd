// Command docs is the Lambda function for the operations of group docs (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/site"
)

func main() { group.Start(api.Docs, site.Beside) }
