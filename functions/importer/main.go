// Command importer is the Lambda function that runs imports, one at a time for each organization.
package main

import "skillscurriculum/pkg/boot/importer"

func main() { importer.Start() }
