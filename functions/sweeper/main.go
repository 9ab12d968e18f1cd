// Command sweeper is the Lambda function that resends stuck extractions on a schedule and
// marks extractions FAILED whose message is in the dead-letter queue.
package main

import "skillscurriculum/pkg/boot/sweeper"

func main() { sweeper.Start() }
