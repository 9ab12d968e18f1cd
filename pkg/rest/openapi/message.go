package openapi

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/webhook"
)

// message describes what webhooks are sent.
func (d document) message() *huma.Operation {
	var changes struct{ Body rest.ChangeList }
	d.read("listChanges.golden.json", &changes)
	change := changes.Body.Data[0]
	example := webhook.Content{Type: catalog.MessageType(change.Resource, change.Change), Timestamp: change.OccurredAt,
		Data: webhook.ContentData{
			ID: change.ID, Resource: string(change.Resource), Change: change.Change, Href: change.Href, Cursor: change.Cursor,
		}}
	o := &huma.Operation{
		OperationID: "receiveWebhookMessage", Summary: "Receive a message", Tags: []string{api.Webhooks.Tag().Name},
		Method: http.MethodPost,
		Description: "The request sent to a webhook's URL, as defined by Standard Webhooks 1.0.0. Verify the signature " +
			"with the webhook's secret and ignore a repeated webhook-id. 2xx within 15 seconds is success; 410 disables the " +
			"webhook; anything else is retried, ten times over three days. Messages can arrive out of order. Types: " +
			strings.Join(catalog.MessageTypes(), ", ") + ".",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			api.JSON: {Schema: d.responses.Schema(reflect.TypeFor[webhook.Content](), true, ""), Example: example},
		}},
		Responses: map[string]*huma.Response{
			"204": {Description: "Accepted"}, "410": {Description: "Gone: disables the webhook"},
		},
		Security:   []map[string][]string{{}},
		Extensions: map[string]any{"x-extension": true},
	}
	for _, h := range []struct{ name, means string }{
		{webhook.HeaderID, "Id of the message, the same for every attempt"},
		{webhook.HeaderSignature, "v1, and the base64 HMAC-SHA256 of id.timestamp.body; two signatures separated by a " +
			"space while two secrets are valid"},
		{webhook.HeaderTimestamp, "Unix time of the attempt in seconds"},
	} {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: h.name, In: "header", Description: h.means, Required: true, Schema: &huma.Schema{Type: "string"},
		})
	}
	return o
}
