package group

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	b := make([]byte, 0, len(r.Body)+len(r.Body)/8+1024)
	var err error
	quote := func(text string) {
		if err == nil {
			b, err = jsontext.AppendQuote(b, text)
		}
	}
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(r.StatusCode), 10)
	b = append(b, `,"multiValueHeaders":{`...)
	comma := ""
	for name, values := range r.MultiValueHeaders {
		b = append(b, comma...)
		quote(name)
		b = append(b, ":["...)
		for i, value := range values {
			if i > 0 {
				b = append(b, ',')
			}
			quote(value)
		}
		b = append(b, ']')
		comma = ","
	}
	b = append(b, `},"body":`...)
	quote(r.Body)
	b = append(b, `,"isBase64Encoded":`...)
	b = strconv.AppendBool(b, r.IsBase64Encoded)
	return append(b, '}'), err
}
