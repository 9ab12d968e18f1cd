// Command articulations is the Lambda function of the operations in group articulations (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/paging"
)

func main() { group.Start(api.Articulations, paging.Pages) }
