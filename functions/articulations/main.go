// Command articulations is the Lambda function for the operations of group articulations (pkg/api).
package main

import (
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/rest"
)

func main() {
	group.Start(api.Articulations, func(_ boot.Config, s *rest.Server) { s.Pages = page.Pages{} })
}
