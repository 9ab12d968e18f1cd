// Command deliverer is the Lambda function that turns changes, announced by the table's
// stream, into messages and delivers the messages in a queue to webhooks. On a schedule it
// finds what was missed.
package main

import "skillscurriculum/pkg/boot/deliverer"

func main() { deliverer.Start() }
