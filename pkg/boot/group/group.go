// Package group starts the functions that serve a group of operations behind API Gateway.
package group

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/trace"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/rest"
)

// Part adds an adapter that only some groups need. Each part has its own package, so that the functions of the other
// groups do not link it.
type Part func(boot.Config, *rest.Server)

// Start runs the function of a group of operations.
func Start(group api.Group, parts ...Part) {
	config, log := boot.Start(string(group))
	server := New(config, config.Store(), log, group)
	for _, part := range parts {
		part(config, server)
	}
	lambda.Start(Function(server))
}

// New returns the HTTP server of some groups, or of all groups if none are given, without parts.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger, groups ...api.Group) *rest.Server {
	counter := &dynamo.Counter{Store: store, Timeout: c.CountTimeout}
	return rest.New(&rest.Server{
		Store: store, Callers: &rest.Callers{Keys: store, Now: boot.Now}, Meter: &quota.Meter{Counter: counter},
		Usage: counter, Limit: c.Limit, Market: &dynamo.Market{Store: store}, Now: boot.Now, IDs: boot.IDs, Log: log,
		Groups: groups, Trace: trace.Send, Taxonomy: c.Skills(),
		CheckHref: func(href string) error { return address.Check(href, c.AllowedHosts) },
	})
}

// plain escapes what the proxy would take for a query or a fragment.
var plain = strings.NewReplacer("?", "%3F", "#", "%23")

// fullPath returns the path as the client sent it, without the query. At its own address API Gateway removes the stage
// from the event's path; behind a custom domain the base path mapping, which has the same name, remains.
func fullPath(event events.APIGatewayProxyRequest) string {
	sent := event.RequestContext.Path
	if under(event.Path, api.BasePath) && under(sent, api.BasePath) && !under(sent, api.BasePath+event.Path) {
		return event.Path
	}
	return api.BasePath + event.Path
}

// under reports whether a path is the prefix or below it.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// responseTime is the part of the function's time that a request leaves for its response, so that a stalled store is a
// 503 rather than a failed function.
const responseTime = 3 * time.Second

// Gateway serves the events of API Gateway through a handler. A path that the proxy cannot decode is passed on in the
// context.
func Gateway(
	handler http.Handler,
) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(handler)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		path := plain.Replace(fullPath(event))
		ctx = rest.WithRequestID(ctx, event.RequestContext.RequestID)
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-responseTime))
			defer cancel()
		}
		if _, err := url.ParseRequestURI(path); err != nil {
			ctx = rest.WithPath(ctx, path)
			path = api.BasePath + "/"
		}
		event.Path = path
		return adapter.ProxyWithContext(ctx, event)
	}
}
