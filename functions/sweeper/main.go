// Command sweeper is the Lambda function that sends stuck extractions again, on a
// schedule, and sets those FAILED whose message became a dead letter.
package main

import "skillscurriculum/pkg/boot/sweeper"

func main() { sweeper.Start() }
