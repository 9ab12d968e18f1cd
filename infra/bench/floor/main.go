// Command floor is the least that a function of this service can be: a handler
// for API Gateway's events and a DynamoDB client. Start times and latencies are
// told as ratios to it.
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
	return events.APIGatewayProxyResponse{
		StatusCode: 200, Headers: map[string]string{"Content-Type": "application/json", "X-Region": f.client.Options().Region}, Body: "{}",
	}, nil
}

func main() {
	client := dynamodb.New(dynamodb.Options{
		Region: os.Getenv("AWS_REGION"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}, nil
		}),
	})
	lambda.Start(function{client}.handle)
}
