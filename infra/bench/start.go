package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillscurriculum/infra/local/child"
	"skillscurriculum/pkg/api"
)

const (
	// wantedStart is how much longer a function may take to its first call for work
	// than one that has only a DynamoDB client, heldStart what it is held to: the best
	// of some starts is still a tenth or two above what it would be on a machine that
	// does nothing else.
	wantedStart = 1.5
	heldStart   = 2.0
	starts      = 40
	warmStarts  = 5 // of the extractor, which are told and not judged
	// maxZipped is what a bundle may be, in MB: Lambda loads it before anything else.
	maxZipped = 10.0
	// heldExtractor is what the extractor's bundle is held to.
	heldExtractor = 16.0
)

const linked = "In most runs it is 1.2 to 1.4, and other work on the machine moves it. Above the floor stand a program nearly twice as large, the library that validates bodies, the queue's client where a function sends, and the templates of a report's page."

const warming = "It warms PDFium and the taxonomy in its init phase, before its first job. PDFium and 5 MB of word vectors are in its bundle."

// start measures how long each function takes from its start to its first call for
// work, and how large it is as it is deployed.
func start(ctx context.Context) (*table, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	functions := api.Functions()
	slices.Sort(functions)
	t := newTable(fmt.Sprintf("Functions: start to first call for work, best of %d, and size", starts),
		"function", "start", "processor time", "of the floor", "target", "arm64 MB", "zipped MB", "target", "")
	r, err := serveRuntime()
	if err != nil {
		return nil, err
	}
	defer r.stop()
	bar := progress(len(functions)+1, "build and start the functions")
	programs := map[string]string{}
	for _, name := range append([]string{"floor"}, functions...) {
		programs[name] = filepath.Join(dir, name, "bootstrap")
		folder := "./functions/" + name
		if name == "floor" {
			folder = "./infra/bench/floor"
		}
		if err := build(ctx, root, folder, programs[name]); err != nil {
			return nil, err
		}
		if err := build(ctx, root, folder, programs[name]+"-arm64", "GOOS=linux", "GOARCH=arm64"); err != nil {
			return nil, err
		}
		_ = bar.Add(1)
	}
	// In turn, so that the machine's other work meets all of them alike.
	best, work := map[string]time.Duration{}, map[string]time.Duration{}
	for i := range starts {
		for name, program := range programs {
			if name == api.Extractor && i >= warmStarts {
				continue
			}
			took, spent, err := r.spawn(ctx, program)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if i == 0 {
				best[name], work[name] = took, spent
			}
			best[name], work[name] = min(best[name], took), min(work[name], spent)
		}
	}
	for _, name := range append([]string{"floor"}, functions...) {
		size, zipped, err := bundle(programs[name] + "-arm64")
		if err != nil {
			return nil, err
		}
		// The ratio is of processor time, which the machine's other work does not touch.
		ratio := float64(work[name]) / float64(work["floor"])
		broken, why, limit := ratio > heldStart, "", bound(wantedStart, heldStart)
		if ratio > wantedStart {
			why = linked
		}
		maxSize, sizeLimit := maxZipped, target(maxZipped)
		if name == api.Extractor {
			broken, why, limit = false, warming, ""
			maxSize, sizeLimit = heldExtractor, bound(maxZipped, heldExtractor)
		}
		t.row(t.judge(broken || zipped > maxSize, why), name, milli(best[name]), milli(work[name]),
			fmt.Sprintf("%.2f", ratio), limit, fmt.Sprintf("%.1f", size), fmt.Sprintf("%.1f", zipped), sizeLimit)
	}
	return t, bar.Finish()
}

func milli(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// build makes a function's program as it is deployed.
func build(ctx context.Context, root, folder, out string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", out, folder)
	cmd.Dir, cmd.Env = root, append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", folder, err, text)
	}
	return nil
}

// bundle returns the size of a program and of the zip file that Lambda gets, in MB.
func bundle(program string) (size, zipped float64, err error) {
	file, err := os.Open(program)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	var bytes counted64
	z := zip.NewWriter(&bytes)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := z.Create("bootstrap")
	if err != nil {
		return 0, 0, err
	}
	n, err := io.Copy(w, file)
	if err != nil {
		return 0, 0, err
	}
	return float64(n) / 1e6, float64(bytes) / 1e6, z.Close()
}

// counted64 counts what is written.
type counted64 int64

func (c *counted64) Write(b []byte) (int, error) {
	*c += counted64(len(b))
	return len(b), nil
}

// lambdaRuntime is the part of the Runtime API that a function meets first.
type lambdaRuntime struct {
	address string
	asked   chan time.Time // when a process asked for its first work
	stop    func()
}

func serveRuntime() (*lambdaRuntime, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &lambdaRuntime{address: listener.Addr().String(), asked: make(chan time.Time, 1)}
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if strings.HasSuffix(request.URL.Path, "/runtime/invocation/next") {
			r.asked <- time.Now()
			<-request.Context().Done() // there is no work; the process is ended
		}
	})}
	go func() { _ = server.Serve(listener) }()
	r.stop = func() { _ = server.Close() }
	return r, nil
}

// spawn starts a program and returns how long it took until it asked for work, and
// how much processor time.
func (r *lambdaRuntime) spawn(ctx context.Context, program string) (took, spent time.Duration, err error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = filepath.Dir(program)
	cmd.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + r.address, "AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		api.EnvTable + "=bench", api.EnvQueueURL + "=http://127.0.0.1:1/queue", api.EnvMessages + "=http://127.0.0.1:1/queue", api.EnvWebhookKey + "=a key of thirty-two characters at least",
	}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case at := <-r.asked:
		err := cmd.Process.Kill()
		<-ended
		return at.Sub(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
	case err := <-ended:
		return 0, 0, fmt.Errorf("ended before it asked for work: %v: %s", err, output.String())
	}
}
