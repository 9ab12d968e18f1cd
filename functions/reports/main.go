// Command reports is the Lambda function for the operations of group reports (pkg/api).
package main

import (
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/rest"
)

func main() {
	group.Start(api.Reports, func(_ boot.Config, s *rest.Server) { s.Pages = page.Pages{} })
}
