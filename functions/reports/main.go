// Command reports is the Lambda function for the operations of group reports (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/paging"
)

func main() { group.Start(api.Reports, paging.Pages) }
