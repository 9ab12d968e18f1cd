// Package group starts the functions that serve a group of operations behind API
// Gateway.
package group

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
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
	"skillscurriculum/pkg/skills"
)

// Part adds to a server what only some groups need. Each is of a package of its own, so
// that the functions of the others do not load it.
type Part func(boot.Config, *rest.Server)

// Start runs the function of a group of operations, with the parts that it needs.
func Start(group api.Group, parts ...Part) {
	config, log := boot.Start(string(group))
	server := New(config, config.Store(), log, group)
	for _, part := range parts {
		part(config, server)
	}
	lambda.Start(Function(server))
}

// New makes the HTTP floor of some groups on a store, of all where none is named,
// without parts.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger, groups ...api.Group) *rest.Server {
	counter := &dynamo.Counter{Store: store, Timeout: c.CountTimeout}
	return rest.New(&rest.Server{
		Store: store, Callers: &rest.Callers{Keys: store, Now: boot.Now}, Meter: &quota.Meter{Counter: counter}, Usage: counter,
		Limit: c.Limit, Market: &dynamo.Market{Store: store}, Now: boot.Now, IDs: boot.IDs, Log: log, Groups: groups, Trace: trace.Send,
		CheckHref: func(href string) error { return address.Check(href, c.AllowedHosts) },
		Taxonomy: sync.OnceValue(func() *skills.Taxonomy {
			taxonomy, err := c.Taxonomy(skills.Starter)
			if err != nil {
				panic(err) // told as an internal error; the file was there at the start
			}
			return taxonomy
		}),
	})
}

// plain keeps the proxy from taking a part of the path for a query or a fragment.
var plain = strings.NewReplacer("?", "%3F", "#", "%23")

// fullPath is the path as the client sent it, without its query. At its own address
// API Gateway takes the stage off the event's path; behind a custom domain the base
// path mapping stays on, and has the same name.
func fullPath(event events.APIGatewayProxyRequest) string {
	mapped := under(event.Path, api.BasePath) && under(event.RequestContext.Path, api.BasePath) && !under(event.RequestContext.Path, api.BasePath+event.Path)
	if mapped {
		return event.Path
	}
	return api.BasePath + event.Path
}

// under reports whether the path is the prefix or lies below it.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// responseTime is what a request leaves of its function's time to say that it could not
// be served: a store that stalls is 503 then, and not a function that failed.
const responseTime = 3 * time.Second

// Gateway serves the events of API Gateway through a handler. What the proxy
// cannot turn into a request (a path that cannot be decoded) goes the same way,
// together with the path.
func Gateway(handler http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
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
