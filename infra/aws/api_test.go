package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// route is one method of the REST API.
type route struct {
	Path, Method, Function string
	Key                    bool
}

func routes(t *testing.T, stage string, tpl template) map[string]route {
	t.Helper()
	resources := tpl.of("AWS::ApiGateway::Resource")
	var path func(id string) string
	path = func(id string) string {
		r, ok := resources[id]
		if !ok {
			return ""
		}
		parent := refersTo(r.get("ParentId"))
		return path(parent[0]) + "/" + r.get("PathPart").(string)
	}
	found := map[string]route{}
	for id, m := range tpl.of("AWS::ApiGateway::Method") {
		at := path(refersTo(m.get("ResourceId"))[0])
		if at == "" {
			at = "/"
		}
		targets := refersTo(m.get("Integration", "Uri"))
		if len(targets) != 1 {
			t.Fatalf("%s leads to %v", id, targets)
		}
		name, _ := tpl.Resources[targets[0]].get("FunctionName").(string)
		same(t, id+" integration", m.get("Integration", "Type"), "AWS_PROXY")
		if !strings.Contains(compact(m.get("Integration", "Uri")), `":live/invocations"`) {
			t.Errorf("%s does not lead to the alias: %s", id, compact(m.get("Integration", "Uri")))
		}
		r := route{at, m.get("HttpMethod").(string), strings.TrimPrefix(name, service+"-"+stage+"-"), m.get("ApiKeyRequired") == true}
		found[r.Method+" "+r.Path] = r
	}
	return found
}

// reached returns the route that API Gateway takes: the most specific one, where a segment that is written out beats a
// parameter and a parameter beats the rest of a path, from left to right.
func reached(routes map[string]route, method, path string) (best route) {
	rank := func(pattern string) string {
		segments, ranks := strings.Split(path, "/"), ""
		parts := strings.Split(pattern, "/")
		for i, part := range parts {
			switch {
			case part == "{proxy+}" && i < len(segments) && segments[i] != "":
				return ranks + "1"
			case i >= len(segments):
				return ""
			case part == segments[i]:
				ranks += "3"
			case strings.HasPrefix(part, "{"):
				ranks += "2"
			default:
				return ""
			}
		}
		if len(parts) != len(segments) {
			return ""
		}
		return ranks
	}
	top := ""
	for _, r := range routes {
		at := rank(r.Path)
		if r.Method == method {
			at += "+"
		}
		if (r.Method == method || r.Method == "ANY") && at > top && at != "+" {
			top, best = at, r
		}
	}
	return best
}

func TestRoutesFollowTheContract(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		all := routes(t, stage, tpl)
		check := func(method, path, function string, key bool) {
			t.Helper()
			if r := reached(all, method, path); r.Function != function || r.Key != key {
				t.Errorf("%s %s reaches %+v", method, path, r)
			}
		}
		for _, o := range api.Operations() {
			path := strings.NewReplacer("{", "", "}", "").Replace(o.Path)
			check(o.Method, path, string(o.Group), o.Access != api.Public)
			check("TRACE", path, string(o.Group), true)
		}
		check("GET", "/nothing/here", "customers", true)
		check("GET", "/courses/one/nothing", "courses", true)
	})
}

// API Gateway sends a path to one function, whatever the method.
func TestEveryPathHasOneGroup(t *testing.T) {
	groups := map[string]api.Group{}
	for _, o := range api.Operations() {
		if g, ok := groups[o.Path]; ok && g != o.Group {
			t.Errorf("%s belongs to %s and %s", o.Path, g, o.Group)
		}
		groups[o.Path] = o.Group
	}
}

func TestFunctionsMayBeInvokedByThisAPIOnly(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		rest, _ := tpl.only(t, "AWS::ApiGateway::RestApi")
		invocable := map[string]bool{}
		for id, p := range tpl.of("AWS::Lambda::Permission") {
			if p.get("Principal") != "apigateway.amazonaws.com" {
				continue
			}
			if ids := refersTo(p.get("SourceArn")); len(ids) != 1 || ids[0] != rest {
				t.Errorf("%s lets %v invoke", id, ids)
			}
			invocable[strings.TrimSuffix(construct(tpl, refersTo(p.get("FunctionName"))[0]), "-"+live)] = true
		}
		want := map[string]bool{}
		for _, g := range api.Groups() {
			want[string(g)] = true
		}
		if diff := cmp.Diff(want, invocable); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStageLogsThrottlesAndTraces(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		_, rest := tpl.only(t, "AWS::ApiGateway::RestApi")
		same(t, "name", rest.get("Name"), "skills-curriculum-"+stage)
		same(t, "endpoint", rest.get("EndpointConfiguration", "Types"), "[REGIONAL]")
		same(t, "key source", rest.get("ApiKeySourceType"), "HEADER")
		same(t, "binary media types", rest.get("BinaryMediaTypes"), nil)

		id, s := tpl.only(t, "AWS::ApiGateway::Stage")
		same(t, "stage", s.get("StageName"), "v1")
		same(t, "tracing", s.get("TracingEnabled"), true)
		settings := func(path, method string, rate, burst float64) any {
			return map[string]any{
				"HttpMethod": method, "ResourcePath": path, "LoggingLevel": "ERROR", "DataTraceEnabled": false, "MetricsEnabled": false,
				"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst,
			}
		}
		public := api.Operations()
		slices.SortFunc(public, func(a, b api.Operation) int { return strings.Compare(routeOf(a)+" "+a.Method, routeOf(b)+" "+b.Method) })
		public = slices.CompactFunc(public, func(a, b api.Operation) bool { return routeOf(a)+" "+a.Method == routeOf(b)+" "+b.Method })
		want := []any{settings("/*", "*", 2000, 1000)}
		for _, o := range public {
			if o.Access == api.Public { // throttled for all strangers together
				path := "/"
				if o.Path != "/" {
					path += strings.ReplaceAll(routeOf(o), "/", "~1")
				}
				want = append(want, settings(path, o.Method, 200, 400))
			}
		}
		if diff := cmp.Diff(want, s.get("MethodSettings")); diff != "" {
			t.Error(diff)
		}
		same(t, "compression from", rest.get("MinimumCompressionSize"), api.CompressFrom)
		log, access := tpl.named(t, "AWS::Logs::LogGroup", "access-log")
		same(t, "access log", refersTo(s.get("AccessLogSetting", "DestinationArn")), "["+log+"]")
		same(t, "access log retention", access.get("RetentionInDays"), retentionDays[stage])
		fields := map[string]string{}
		if err := json.Unmarshal([]byte(s.get("AccessLogSetting", "Format").(string)), &fields); err != nil {
			t.Fatal(err)
		}
		same(t, "request id", fields["requestId"], "$context.requestId")
		for name, value := range fields {
			if !strings.HasPrefix(value, "$context.") || strings.Contains(strings.ToLower(value), "apikey") && value != "$context.identity.apiKeyId" {
				t.Errorf("the access log has %s: %s", name, value)
			}
		}

		execution, group := tpl.named(t, "AWS::Logs::LogGroup", "execution-log")
		same(t, "execution log retention", group.get("RetentionInDays"), retentionDays[stage])
		if !strings.Contains(compact(s.DependsOn), execution) {
			t.Errorf("%s can log before %s has its retention", id, execution)
		}
		_, account := tpl.only(t, "AWS::ApiGateway::Account")
		same(t, "the account's logging role", account.DeletionPolicy, "Retain")
	})
}

var retentionDays = map[string]int{"dev": 7, "prod": 90}

func TestUsagePlanCarriesTheStage(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		rest, _ := tpl.only(t, "AWS::ApiGateway::RestApi")
		deployed, _ := tpl.only(t, "AWS::ApiGateway::Stage")
		id, plan := tpl.only(t, "AWS::ApiGateway::UsagePlan")
		same(t, "API", refersTo(plan.get("ApiStages", 0, "ApiId")), "["+rest+"]")
		same(t, "stage", refersTo(plan.get("ApiStages", 0, "Stage")), "["+deployed+"]")
		same(t, "throttle", plan.get("Throttle"), "map[BurstLimit:1000 RateLimit:500]")
		same(t, "quota", plan.get("Quota"), nil)
		same(t, "output UsagePlanId", refersTo(tpl.Outputs["UsagePlanId"]["Value"]), "["+id+"]")
		same(t, "output RestApiId", refersTo(tpl.Outputs["RestApiId"]["Value"]), "["+rest+"]")
		base := compact(tpl.Outputs["BaseUrl"]["Value"])
		if !strings.Contains(base, rest) || !strings.Contains(base, deployed) || strings.HasSuffix(base, `/"]]}`) {
			t.Errorf("output BaseUrl is %s", base)
		}
	})
}

// responses maps every type of response that API Gateway sends by itself (API Gateway
// developer guide, gateway response types) to the code in the contract.
var responses = map[string]struct {
	code  catalog.Code
	retry string
}{
	"ACCESS_DENIED":                  {catalog.Unauthorized, ""},
	"API_CONFIGURATION_ERROR":        {catalog.Internal, ""},
	"AUTHORIZER_CONFIGURATION_ERROR": {catalog.Internal, ""},
	"AUTHORIZER_FAILURE":             {catalog.Internal, ""},
	"BAD_REQUEST_BODY":               {catalog.MalformedJSON, ""},
	"BAD_REQUEST_PARAMETERS":         {catalog.InvalidParameter, ""},
	"DEFAULT_4XX":                    {catalog.InvalidParameter, ""},
	"DEFAULT_5XX":                    {catalog.Internal, ""},
	"EXPIRED_TOKEN":                  {catalog.Unauthorized, ""},
	"INTEGRATION_FAILURE":            {catalog.Unavailable, "'1'"},
	"INTEGRATION_TIMEOUT":            {catalog.Unavailable, "'1'"},
	"INVALID_API_KEY":                {catalog.Unauthorized, ""},
	"INVALID_SIGNATURE":              {catalog.Unauthorized, ""},
	"MISSING_AUTHENTICATION_TOKEN":   {catalog.Unauthorized, ""},
	"QUOTA_EXCEEDED":                 {catalog.RateLimitExceeded, "'1'"},
	"REQUEST_TOO_LARGE":              {catalog.PayloadTooLarge, ""},
	"RESOURCE_NOT_FOUND":             {catalog.NotFound, ""},
	"THROTTLED":                      {catalog.RateLimitExceeded, "'1'"},
	"UNAUTHORIZED":                   {catalog.Unauthorized, ""},
	"UNSUPPORTED_MEDIA_TYPE":         {catalog.UnsupportedMediaType, ""},
	"WAF_FILTERED":                   {catalog.Forbidden, ""},
}

func TestGatewayResponsesHaveTheContractsShape(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		seen := map[string]bool{}
		for id, r := range tpl.of("AWS::ApiGateway::GatewayResponse") {
			kind := r.get("ResponseType").(string)
			want, ok := responses[kind]
			if !ok || seen[kind] {
				t.Errorf("%s: %s is unknown or stands twice", id, kind)
				continue
			}
			seen[kind] = true
			same(t, kind+" status", r.get("StatusCode"), strconv.Itoa(api.Status(want.code)))

			headers := map[string]any{
				"gatewayresponse.header.Content-Type":          "'application/problem+json'",
				"gatewayresponse.header.X-Request-Id":          "context.requestId",
				"gatewayresponse.header.X-RateLimit-Limit":     "'0'",
				"gatewayresponse.header.X-RateLimit-Remaining": "'0'",
				"gatewayresponse.header.X-RateLimit-Reset":     "'0'",
				"gatewayresponse.header.X-RateLimit-Cost":      "'0'",
			}
			if want.retry != "" {
				headers["gatewayresponse.header.Retry-After"] = want.retry
			}
			if diff := cmp.Diff(headers, r.get("ResponseParameters")); diff != "" {
				t.Errorf("%s headers: %s", kind, diff)
			}

			body := r.get("ResponseTemplates", "application/json").(string)
			body = strings.NewReplacer("$context.domainName", "api.example.org", "$context.path", "/v1/courses/a%22b", "$context.requestId", "11111111-2222").Replace(body)
			var problem api.Problem
			decoder := json.NewDecoder(strings.NewReader(body))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&problem); err != nil {
				t.Fatalf("%s: %v in %s", kind, err, body)
			}
			if diff := cmp.Diff(api.NewProblem("https://api.example.org", want.code, problem.Detail, "/v1/courses/a%22b", "11111111-2222"), problem); diff != "" {
				t.Errorf("%s body: %s", kind, diff)
			}
			if problem.Detail == "" || problem.Title == "" || strings.Contains(body, "$") {
				t.Errorf("%s says %s", kind, body)
			}
		}
		if len(seen) != len(responses) {
			t.Errorf("%d kinds stand, want %d", len(seen), len(responses))
		}
	})
}

// A deployment that is not replaced when the contract changes would leave new
// paths without a route.
func TestDeploymentWaitsForAllMethodsAndResponses(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		_, deployment := tpl.only(t, "AWS::ApiGateway::Deployment")
		depends := compact(deployment.DependsOn)
		for _, kind := range []string{"AWS::ApiGateway::Method", "AWS::ApiGateway::Resource", "AWS::ApiGateway::GatewayResponse"} {
			for id := range tpl.of(kind) {
				if !strings.Contains(depends, `"`+id+`"`) {
					t.Errorf("the deployment does not wait for %s", id)
				}
			}
		}
	})
}
