// Command extractions is the Lambda function for the operations of group extractions (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/rest"
)

func main() {
	group.Start(api.Extractions, func(c boot.Config, s *rest.Server) { s.Queue, s.Files = sender.Jobs(c), files.New(c) })
}
