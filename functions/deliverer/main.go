// Command deliverer is the Lambda function that makes messages of changes, which the
// table's stream hints at, and delivers them to webhooks, from a queue. On a schedule it
// finds what those have lost.
package main

import "skillscurriculum/pkg/boot/deliverer"

func main() { deliverer.Start() }
