package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The throttles protect the stage; customers reach their own limit (units per window) long
// before. Rates are requests per second, bursts are requests.
const (
	keyRate, keyBurst = 500, 1000 // of each API key; the default limit is 17 reads per second
	// Below every region's default account quota (2,500 and 1,250).
	stageRate, stageBurst = 2000, 1000
	// Of each public operation, for all callers together. The service's own limit for the
	// reads of one link is far lower.
	publicRate, publicBurst = 200, 400
)

// newAPI creates the REST API of the contract and its access log. All responses are text,
// so there are no binary media types.
func newAPI(
	stack awscdk.Stack, s stage, key awskms.IKey, functions functions, aliases aliases,
) (awsapigateway.RestApi, awslogs.LogGroup) {
	access := newLog(stack, s, key, "access-log", nil)
	rest := awsapigateway.NewRestApi(stack, jsii.String("Api"), &awsapigateway.RestApiProps{
		RestApiName:                 jsii.String(s.stackName()),
		Description:                 jsii.String("Skills Curriculum Service, stage " + s.name),
		EndpointTypes:               &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		MinCompressionSize:          awscdk.Size_Bytes(jsii.Number(api.CompressFrom)),
		ApiKeySourceType:            awsapigateway.ApiKeySourceType_HEADER,
		CloudWatchRole:              jsii.Bool(true), // one setting per account and region, shared by the stages
		CloudWatchRoleRemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(strings.TrimPrefix(api.BasePath, "/")),
			TracingEnabled:       jsii.Bool(true),
			MetricsEnabled:       jsii.Bool(false), // metrics by method cost extra; the service has its own by operation
			LoggingLevel:         awsapigateway.MethodLoggingLevel_ERROR,
			DataTraceEnabled:     jsii.Bool(false), // it would log bodies
			ThrottlingRateLimit:  jsii.Number(stageRate),
			ThrottlingBurstLimit: jsii.Number(stageBurst),
			MethodOptions:        publicThrottles(),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(access),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLogFormat())),
		},
	})
	// Otherwise API Gateway creates this log group with its first error, without retention.
	execution := newLog(stack, s, key, "execution-log",
		jsii.String("API-Gateway-Execution-Logs_"+*rest.RestApiId()+api.BasePath))
	rest.DeploymentStage().Node().AddDependency(execution)

	addRoutes(stack, rest, functions, aliases)
	for _, r := range refusals {
		r.add(rest)
	}
	plan := rest.AddUsagePlan(jsii.String("UsagePlan"), &awsapigateway.UsagePlanProps{
		Name:        jsii.String(s.stackName()),
		Description: jsii.String("Carries the API keys of all customers"),
		ApiStages:   &[]*awsapigateway.UsagePlanPerApiStage{{Api: rest, Stage: rest.DeploymentStage()}},
		Throttle:    &awsapigateway.ThrottleSettings{RateLimit: jsii.Number(keyRate), BurstLimit: jsii.Number(keyBurst)},
	})

	accept(rest, "AwsSolutions-APIG2", "", "Requests are validated in the functions, which respond with the contract's "+
		"errors; validation here would respond in another shape.")
	accept(rest, "AwsSolutions-APIG3", "", "A web ACL has a price and works before the functions, so that an account "+
		"attaches its own; keys, throttles and the functions' own validation work without it.")
	accept(rest, "AwsSolutions-APIG4", "", "The contract's authorization is the API key: required on every method but "+
		"the public document, and looked up by every function.")
	accept(rest, "AwsSolutions-COG4", "", "Callers are systems with API keys, not users who sign in.")
	accept(rest, "AwsSolutions-IAM4",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs",
		"The policy that AWS prescribes for API Gateway's own logging in an account.")

	rest.Node().TryRemoveChild(jsii.String("Endpoint")) // same as the output BaseUrl
	output(stack, "BaseUrl", "Base URL for clients", baseURL(stack, s, rest))
	output(stack, "RestApiId", "For skillsctl keys", rest.RestApiId())
	output(stack, "UsagePlanId", "For skillsctl keys", plan.UsagePlanId())
	return rest, access
}

// baseURL returns the base URL for clients. If the stage has a domain, baseURL creates it.
// The base path mapping is the stage's name, so that paths are the same with both.
func baseURL(stack awscdk.Stack, s stage, rest awsapigateway.RestApi) *string {
	if s.domain == "" {
		return jsii.String(strings.TrimSuffix(*rest.Url(), "/"))
	}
	domain := awsapigateway.NewDomainName(stack, jsii.String("Domain"), &awsapigateway.DomainNameProps{
		DomainName: &s.domain,
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(stack, jsii.String("Certificate"),
			&s.certificate),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	domain.AddBasePathMapping(rest, &awsapigateway.BasePathMappingOptions{
		BasePath: jsii.String(strings.TrimPrefix(api.BasePath, "/")), Stage: rest.DeploymentStage(),
	})
	output(stack, "DomainTarget", "Target of the domain's DNS record", domain.DomainNameAliasDomainName())
	output(stack, "DomainTargetZone", "The hosted zone of the target, for an alias record",
		domain.DomainNameAliasHostedZoneId())
	return jsii.String("https://" + s.domain + api.BasePath)
}

// publicThrottles limits the calls without a key, so that they leave capacity for others.
func publicThrottles() *map[string]*awsapigateway.MethodDeploymentOptions {
	throttles := map[string]*awsapigateway.MethodDeploymentOptions{}
	for _, o := range api.Operations() {
		if o.Access == api.Public {
			throttles[routeOf(o)+"/"+o.Method] = &awsapigateway.MethodDeploymentOptions{
				ThrottlingRateLimit: jsii.Number(publicRate), ThrottlingBurstLimit: jsii.Number(publicBurst),
				LoggingLevel: awsapigateway.MethodLoggingLevel_ERROR, DataTraceEnabled: jsii.Bool(false),
				MetricsEnabled: jsii.Bool(false),
			}
		}
	}
	return &throttles
}

// addRoutes routes every path of the contract, with any method, to its group's function and any other path to the
// function of its prefix, or to the customers function, so that 404 and 405 are the service's own and come after the
// key check.
func addRoutes(stack awscdk.Stack, rest awsapigateway.RestApi, functions functions, aliases aliases) {
	integrations := map[api.Group]awsapigateway.Integration{}
	for _, g := range api.Groups() {
		// The function's ARN followed by the alias, in the form that sam local understands.
		uri := awscdk.Fn_Join(jsii.String(""), &[]*string{
			jsii.String("arn:"), stack.Partition(), jsii.String(":apigateway:"), stack.Region(),
			jsii.String(":lambda:path/2015-03-31/functions/"),
			functions[string(g)].FunctionArn(), jsii.String(":" + live + "/invocations"),
		})
		integrations[g] = awsapigateway.NewIntegration(&awsapigateway.IntegrationProps{
			Type: awsapigateway.IntegrationType_AWS_PROXY, IntegrationHttpMethod: jsii.String("POST"), Uri: uri,
		})
		// One permission per function, not per path.
		awslambda.NewCfnPermission(stack, jsii.String(string(g)+"-from-api"), &awslambda.CfnPermissionProps{
			Action: jsii.String("lambda:InvokeFunction"), FunctionName: aliases[string(g)].FunctionArn(),
			Principal: jsii.String("apigateway.amazonaws.com"),
			SourceArn: rest.ArnForExecuteApi(jsii.String("*"), jsii.String("/*"), jsii.String("*")),
		})
	}
	route := func(path, method string, group api.Group, key bool) {
		resource := rest.Root()
		if path != "/" {
			resource = rest.Root().ResourceForPath(&path)
		}
		resource.AddMethod(&method, integrations[group], &awsapigateway.MethodOptions{ApiKeyRequired: &key})
	}
	groups := map[string]api.Group{}
	for path, group := range routed() {
		groups[path] = group
		route(path, "ANY", group, true)
	}
	public := map[[2]string]bool{}
	for _, o := range api.Operations() {
		if at := [2]string{routeOf(o), o.Method}; o.Access == api.Public && !public[at] {
			public[at] = true
			route(at[0], o.Method, o.Group, false)
		}
	}
	for _, path := range []string{"/", "/{proxy+}"} {
		if _, ok := groups[path]; !ok {
			route(path, "ANY", api.Customers, true)
		}
	}
}

// routed maps routes to the groups that respond.
func routed() map[string]api.Group {
	routes := map[string]api.Group{}
	for _, o := range api.Operations() {
		routes[routeOf(o)] = o.Group
	}
	return routes
}

// routeOf returns the route of an operation. One greedy route stands for all paths below another that belong to one
// group, and of which all or none need a key: a stack has at most 500 resources, and every path takes two.
func routeOf(o api.Operation) string {
	for i, c := range o.Path {
		if above := o.Path[:i+1]; i > 0 && c == '/' && oneGroup(above) {
			return above + "{proxy+}"
		}
	}
	return o.Path
}

// oneGroup reports whether all operations below a path belong to one group, and all or none need a key.
func oneGroup(above string) bool {
	type served struct {
		group  api.Group
		public bool
	}
	all := map[served]bool{}
	for _, o := range api.Operations() {
		if strings.HasPrefix(o.Path, above) {
			all[served{o.Group, o.Access == api.Public}] = true
		}
	}
	return len(all) == 1
}

// accessLogFormat contains request and response, but only the id of the key. All values are
// quoted because API Gateway writes - for unknown ones.
func accessLogFormat() string {
	fields := map[string]string{
		"requestId": "requestId", "extendedRequestId": "extendedRequestId", "traceId": "xrayTraceId", "time": "requestTime",
		"ip": "identity.sourceIp", "apiKeyId": "identity.apiKeyId",
		"method": "httpMethod", "route": "resourcePath", "path": "path", "status": "status", "error": "error.responseType",
		"latency": "responseLatency", "integrationLatency": "integrationLatency", "integrationStatus": "integrationStatus",
		"bytes": "responseLength",
	}
	for name, variable := range fields {
		fields[name] = "$context." + variable
	}
	return compact(fields)
}

// refusal is a response that API Gateway sends without invoking a function.
type refusal struct {
	kind   string // API Gateway's response type
	code   catalog.Code
	detail string
}

const (
	keyDetail      = "A valid API key in the header X-API-Key is required."
	internalDetail = "The service failed to respond. The requestId finds the cause."
)

// refusals covers every response type. A failure before a key was accepted is a 401, like in
// the functions. MISSING_AUTHENTICATION_TOKEN means an unknown route, which the catch-all
// route prevents.
var refusals = []refusal{
	{"INVALID_API_KEY", catalog.Unauthorized, keyDetail},
	{"ACCESS_DENIED", catalog.Unauthorized, keyDetail},
	{"UNAUTHORIZED", catalog.Unauthorized, keyDetail},
	{"EXPIRED_TOKEN", catalog.Unauthorized, keyDetail},
	{"INVALID_SIGNATURE", catalog.Unauthorized, keyDetail},
	{"MISSING_AUTHENTICATION_TOKEN", catalog.Unauthorized, keyDetail},
	{"WAF_FILTERED", catalog.Forbidden, "The request was refused by a filter before it reached the service."},
	{"RESOURCE_NOT_FOUND", catalog.NotFound, "The path does not exist."},
	{"BAD_REQUEST_BODY", catalog.MalformedJSON, "The body cannot be read."},
	{"BAD_REQUEST_PARAMETERS", catalog.InvalidParameter, "A parameter cannot be read."},
	{"DEFAULT_4XX", catalog.InvalidParameter, "The request cannot be read."},
	{"REQUEST_TOO_LARGE", catalog.PayloadTooLarge, "The request is larger than the service takes."},
	{"UNSUPPORTED_MEDIA_TYPE", catalog.UnsupportedMediaType, "The media type of the body is not supported."},
	{"THROTTLED", catalog.RateLimitExceeded, "Too many requests at once. Wait before trying again."},
	{"QUOTA_EXCEEDED", catalog.RateLimitExceeded, "Too many requests at once. Wait before trying again."},
	{"INTEGRATION_TIMEOUT", catalog.Unavailable, "The response took too long. Try again."},
	{"INTEGRATION_FAILURE", catalog.Unavailable, "The service is not available at the moment. Try again."},
	{"API_CONFIGURATION_ERROR", catalog.Internal, internalDetail},
	{"AUTHORIZER_CONFIGURATION_ERROR", catalog.Internal, internalDetail},
	{"AUTHORIZER_FAILURE", catalog.Internal, internalDetail},
	{"DEFAULT_5XX", catalog.Internal, internalDetail},
}

// add gives the response the contract's format. API Gateway cannot escape variables in such
// a template, so it uses only three that cannot contain a quote: request id, domain and
// encoded path. The customer is not known at this point, so the limits are 0.
func (r refusal) add(rest awsapigateway.RestApi) {
	headers := map[string]*string{
		"Content-Type":      quoted(api.ProblemMediaType),
		api.HeaderRequestID: jsii.String("context.requestId"),
	}
	for _, h := range []string{api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
		headers[h] = quoted("0")
	}
	if r.code == catalog.RateLimitExceeded || r.code == catalog.Unavailable {
		headers["Retry-After"] = quoted("1")
	}
	problem := api.NewProblem("https://$context.domainName", r.code, r.detail, "$context.path", "$context.requestId")
	rest.AddGatewayResponse(&r.kind, &awsapigateway.GatewayResponseOptions{
		Type:            awsapigateway.ResponseType_Of(&r.kind),
		StatusCode:      jsii.String(strconv.Itoa(api.Status(r.code))),
		ResponseHeaders: &headers,
		// API Gateway falls back to application/json for every Accept header.
		Templates: &map[string]*string{"application/json": jsii.String(compact(problem))},
	})
}

// quoted returns a constant for a response header, as opposed to a variable.
func quoted(value string) *string { return jsii.String("'" + value + "'") }

// compact returns the JSON of a value that can always be encoded.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
