// Command documents is the Lambda function for the operations of group documents (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/rest"
)

func main() {
	group.Start(api.Documents, func(c boot.Config, s *rest.Server) { s.Files = files.New(c) })
}
