// Command customers is the Lambda function of the operations in group customers (pkg/api).
package main

import (
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() { boot.StartAPI(api.Customers) }
