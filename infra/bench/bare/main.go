// Command bare is a minimal function: a handler for API Gateway events and a DynamoDB client. The bench compares the
// start times of the service's functions with it.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

type function struct{ client *dynamodb.Client }

func (f function) handle(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	headers := map[string]string{"Content-Type": "application/json", "X-Region": f.client.Options().Region}
	return events.APIGatewayProxyResponse{StatusCode: 200, Headers: headers, Body: "{}"}, nil
}

func main() {
	client := dynamodb.New(dynamodb.Options{
		Region: os.Getenv("AWS_REGION"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
			return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}, nil
		}),
	})
	lambda.Start(function{client}.handle)
}
