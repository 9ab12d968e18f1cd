// Command customers is the Lambda function for the operations of group customers (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/printing"
)

func main() { group.Start(api.Customers, printing.Document) }
