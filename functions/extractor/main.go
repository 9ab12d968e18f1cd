// Command extractor is the Lambda function that runs syllabus extractions, one per SQS
// message.
package main

import "skillscurriculum/pkg/boot/extractor"

func main() { extractor.Start() }
