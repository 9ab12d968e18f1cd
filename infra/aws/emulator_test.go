package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
)

// notEmulated are the resource types that the emulator lacks. It ignores them, except for
// references to their attributes: the dashboard refers to alarms, and the API's permissions to
// aliases.
var notEmulated = []string{
	"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::Dashboard", "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::Lambda::Alias", "AWS::Lambda::Version", "AWS::Logs::MetricFilter", "AWS::Logs::QueryDefinition",
}

// TestCreateStack creates both stacks in a CloudFormation emulator, so that a program other
// than CDK resolves their references, and inspects the resources through the emulator's APIs.
func TestCreateStack(t *testing.T) {
	if _, err := exec.LookPath("moto_server"); err != nil {
		t.Skip("moto_server (pip install 'moto[server]') is not installed: no stack is created")
	}
	both(t, func(t *testing.T, stage string, tpl template) {
		cloud := startEmulator(t)
		kept := cloud.load(t, tpl)
		form := url.Values{"Action": {"CreateStack"}, "Version": {"2010-05-15"}, "StackName": {stage}, "TemplateBody": {kept}, "Capabilities.member.1": {"CAPABILITY_IAM"}}
		cloud.call(t, "cloudformation", "POST", "/", nil, []byte(form.Encode()))

		form = url.Values{"Action": {"DescribeStacks"}, "Version": {"2010-05-15"}, "StackName": {stage}}
		described := string(cloud.call(t, "cloudformation", "POST", "/", nil, []byte(form.Encode())))
		if !strings.Contains(described, "<StackStatus>CREATE_COMPLETE</StackStatus>") {
			t.Fatal(described)
		}
		outputs := map[string]string{}
		for _, member := range strings.Split(described, "<OutputKey>")[1:] {
			key, rest, _ := strings.Cut(member, "</OutputKey>")
			_, rest, _ = strings.Cut(rest, "<OutputValue>")
			outputs[key], _, _ = strings.Cut(rest, "</OutputValue>")
		}

		var resources struct {
			Item []struct {
				Path            string
				ResourceMethods map[string]struct{ APIKeyRequired bool }
			}
		}
		cloud.get(t, "apigateway", "/restapis/"+outputs["RestApiId"]+"/resources?limit=500&embed=methods", &resources)
		var got []string
		for _, r := range resources.Item {
			if len(r.ResourceMethods) > 0 {
				got = append(got, r.Path)
			}
		}
		slices.Sort(got)
		want := []string{"/{proxy+}"}
		for _, r := range routes(t, stage, tpl) {
			want = append(want, r.Path)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("paths of the API: %s", diff)
		}

		var functions struct {
			Functions []struct {
				FunctionName string
				Environment  struct{ Variables map[string]string }
			}
		}
		cloud.get(t, "lambda", "/2015-03-31/functions/", &functions)
		same(t, "functions", len(functions.Functions), len(api.Functions()))
		for _, f := range functions.Functions {
			same(t, f.FunctionName+" queue", f.Environment.Variables[api.EnvQueueURL], outputs["QueueUrl"])
			same(t, f.FunctionName+" table", f.Environment.Variables[api.EnvTable], outputs["TableName"])
		}

		var sources struct {
			EventSourceMappings []struct{ FunctionArn, EventSourceArn string }
		}
		cloud.get(t, "lambda", "/2015-03-31/event-source-mappings/", &sources)
		same(t, "event sources", len(sources.EventSourceMappings), map[string]int{dev: 5, prod: 4}[stage])
	})
}

type emulator struct{ base string }

const emulatedAccount, emulatedRegion = "123456789012", "us-east-1"

func startEmulator(t *testing.T) emulator {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	server := exec.Command("moto_server", "-H", "127.0.0.1", "-p", fmt.Sprint(port))
	server.Env = append(os.Environ(), "MOTO_ACCOUNT_ID="+emulatedAccount)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	cloud := emulator{fmt.Sprintf("http://127.0.0.1:%d", port)}
	for range 6000 {
		if answer, err := http.Get(cloud.base + "/moto-api/"); err == nil {
			answer.Body.Close()
			return cloud
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("moto_server does not answer")
	return cloud
}

// load uploads the assets as cdk bootstrap and cdk deploy would, and returns the template
// without the resources that the emulator cannot create.
func (e emulator) load(t *testing.T, tpl template) string {
	t.Helper()
	var bundle bytes.Buffer
	z := zip.NewWriter(&bundle)
	if _, err := z.Create("bootstrap"); err != nil {
		t.Fatal(err)
	}
	z.Close()
	bucket := "/cdk-hnb659fds-assets-" + emulatedAccount + "-" + emulatedRegion
	e.call(t, "s3", "PUT", bucket, nil, nil)
	for _, f := range tpl.of("AWS::Lambda::Function") {
		e.call(t, "s3", "PUT", bucket+"/"+f.get("Code", "S3Key").(string), nil, bundle.Bytes())
	}
	e.call(t, "ssm", "POST", "/", http.Header{"X-Amz-Target": {"AmazonSSM.PutParameter"}}, []byte(`{"Name":"/cdk-bootstrap/hnb659fds/version","Value":"30","Type":"String"}`))

	text, err := os.ReadFile(tpl.file)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	resources := whole["Resources"].(map[string]any)
	for id := range resources {
		if slices.Contains(notEmulated, tpl.Resources[id].Type) {
			delete(resources, id)
		}
	}
	// References to an alias become references to its function.
	made := compact(whole)
	for id, alias := range tpl.of("AWS::Lambda::Alias") {
		function := refersTo(alias.get("FunctionName"))[0]
		made = strings.ReplaceAll(made, compact(map[string]string{"Ref": id}), compact(map[string][]string{"Fn::GetAtt": {function, "Arn"}}))
	}
	return made
}

func (e emulator) get(t *testing.T, service, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(e.call(t, service, "GET", path, nil, nil), into); err != nil {
		t.Fatal(err)
	}
}

// call sends a request that names its service in a signature, which the emulator does not
// check.
func (e emulator) call(t *testing.T, service, method, path string, header http.Header, body []byte) []byte {
	t.Helper()
	request, err := http.NewRequest(method, e.base+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if service == "cloudformation" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20261121/"+emulatedRegion+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s %s: %d %s", service, method, path, answer.StatusCode, text)
	}
	return text
}
