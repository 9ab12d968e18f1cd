package group

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"
)

// Function returns the Lambda function that serves API Gateway's events through a handler. It decodes and encodes them
// itself, because encoding/json takes longer than the rest of a request.
func Function(handler http.Handler) lambda.Handler { return function{Gateway(handler)} }

type function struct {
	gateway func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
}

// Invoke implements lambda.Handler.
func (f function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("event of API Gateway: %w", err)
	}
	response, err := f.gateway(ctx, event)
	if err != nil {
		return nil, err
	}
	return encode(response)
}

// encode encodes the fields of a response that the proxy sets.
func encode(r events.APIGatewayProxyResponse) ([]byte, error) {
	return json.Marshal(struct {
		StatusCode        int                 `json:"statusCode"`
		MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
		Body              string              `json:"body"`
		IsBase64Encoded   bool                `json:"isBase64Encoded"`
	}{r.StatusCode, r.MultiValueHeaders, r.Body, r.IsBase64Encoded})
}
