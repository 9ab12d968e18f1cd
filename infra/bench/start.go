package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	// maxStart bounds the time from start to the first call for work, relative to a function with only a DynamoDB client.
	maxStart      = 1.5
	pairs         = 60
	warmPairs     = 3    // of the extractor, which is shown but has no budget
	heldImporter  = 2.0  // times a bare function
	maxZipped     = 10.0 // MB of a bundle: Lambda loads it before anything else
	heldExtractor = 16.0 // MB of the extractor's
)

const warming = "It initializes PDFium and the taxonomy in its init phase, before its first job. PDFium and 8 MB of " +
	"word vectors are in its bundle."

const workbooks = "The reader of workbooks prepares its tables in the init phase. No request waits for an import to start."

// start measures the time of each function from start to its first call for work, and its size as deployed. The ratio
// is the median of pairs of a bare function and this one, started in turn so that other load affects both.
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
	title := "Functions: start to first call for work beside a bare function, medians of %d pairs, and size"
	t := newTable(fmt.Sprintf(title, pairs),
		"function", "start", "bare function", "ratio", "target", "arm64 MB", "zipped MB", "target", "")
	r := serveRuntime()
	defer r.server.Close()
	bare := filepath.Join(dir, "bare", "bootstrap")
	if err := build(ctx, root, "./infra/bench/bare", bare); err != nil {
		return nil, err
	}
	for _, name := range functions {
		program := filepath.Join(dir, name, "bootstrap")
		folder := "./functions/" + name
		err := errors.Join(build(ctx, root, folder, program),
			build(ctx, root, folder, program+"-arm64", "GOOS=linux", "GOARCH=arm64"))
		if err != nil {
			return nil, err
		}
		n, most, held, zippedHeld, why := pairs, maxStart, maxStart, maxZipped, ""
		switch name {
		case api.Extractor:
			n, most, held, zippedHeld, why = warmPairs, free, free, heldExtractor, warming
		case api.Importer:
			held, why = heldImporter, workbooks
		}
		var took, least []time.Duration
		var ratios []float64
		for range n {
			base, err := r.spawn(ctx, bare)
			if err != nil {
				return nil, fmt.Errorf("bare function: %w", err)
			}
			own, err := r.spawn(ctx, program)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			took, least, ratios = append(took, own), append(least, base), append(ratios, float64(own)/float64(base))
		}
		size, zipped, err := bundle(program + "-arm64")
		if err != nil {
			return nil, err
		}
		ratio := median(ratios)
		broken := held != free && ratio > held || zipped > zippedHeld
		t.row(broken, why, name, milli(median(took)), milli(median(least)), fmt.Sprintf("%.2f", ratio),
			bound(most, held), fmt.Sprintf("%.1f", size), fmt.Sprintf("%.1f", zipped), bound(maxZipped, zippedHeld))
	}
	return t, nil
}

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

func milli(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// build builds a function's program as it is deployed.
func build(ctx context.Context, root, folder, out string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath",
		"-ldflags", "-s -w -buildid=", "-o", out, folder)
	cmd.Dir, cmd.Env = root, append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", folder, err, text)
	}
	return nil
}

// bundle returns the size of a program and of its zip file for Lambda, in MB.
func bundle(program string) (size, zipped float64, err error) {
	file, err := os.Open(program)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	w, err := z.Create("bootstrap")
	if err != nil {
		return 0, 0, err
	}
	n, err := io.Copy(w, file)
	if err != nil {
		return 0, 0, err
	}
	err = z.Close()
	return float64(n) / 1e6, float64(packed.Len()) / 1e6, err
}

// lambdaRuntime implements the part of the Runtime API that a function calls first.
type lambdaRuntime struct {
	server *httptest.Server
	asked  chan time.Time // when a process first asked for work
}

func serveRuntime() *lambdaRuntime {
	r := &lambdaRuntime{asked: make(chan time.Time, 1)}
	r.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if strings.HasSuffix(request.URL.Path, "/runtime/invocation/next") {
			r.asked <- time.Now()
			<-request.Context().Done() // until the process is killed
		}
	}))
	return r
}

// spawn starts a program and returns the time until it asks for work.
func (r *lambdaRuntime) spawn(ctx context.Context, program string) (took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = filepath.Dir(program)
	cmd.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + r.server.Listener.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME=bench",
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		api.EnvTable + "=bench", api.EnvQueueURL + "=http://127.0.0.1:1/queue",
		api.EnvMessages + "=http://127.0.0.1:1/queue", api.EnvWebhookKey + "=a key of thirty-two characters at least",
	}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case at := <-r.asked:
		err := cmd.Process.Kill()
		<-ended
		return at.Sub(began), err
	case err := <-ended:
		return 0, fmt.Errorf("ended before it asked for work: %v: %s", err, output.String())
	}
}
