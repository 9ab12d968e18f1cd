// Command extractor is the Lambda function that runs syllabus extractions, one
// SQS message each.
package main

import "skillscurriculum/pkg/boot/extractor"

func main() { extractor.Start() }
