// Package trace adds a subsegment to the AWS X-Ray trace of a sampled invocation, with annotations to find the trace
// by. Lambda itself records the invocation. Nothing is sent if it is not sampled or there is no daemon, as locally.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net"
	"os"
	"strings"
	"time"
)

// envDaemon is where Lambda listens for segments, over UDP.
const envDaemon = "AWS_XRAY_DAEMON_ADDRESS"

// Send adds the work since start to the invocation's trace. It neither waits nor fails: traces may be lost.
func Send(ctx context.Context, name string, start time.Time, annotations map[string]string) {
	daemon := os.Getenv(envDaemon)
	header := parse(ctx)
	if daemon == "" || header["Sampled"] != "1" || header["Root"] == "" || header["Parent"] == "" {
		return
	}
	connection, err := net.Dial("udp", daemon)
	if err != nil {
		return
	}
	defer connection.Close()
	_, _ = connection.Write(segment(header, name, start, time.Now(), annotations))
}

// parse reads the trace header that aws-lambda-go puts into an invocation's context.
func parse(ctx context.Context) map[string]string {
	text, _ := ctx.Value("x-amzn-trace-id").(string)
	header := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		header[strings.TrimSpace(name)] = value
	}
	return header
}

// segment returns a message to the daemon: a header line and the document.
func segment(header map[string]string, name string, start, end time.Time, annotations map[string]string) []byte {
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	seconds := func(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
	document, err := json.Marshal(map[string]any{
		"name": name, "id": hex.EncodeToString(id), "trace_id": header["Root"], "parent_id": header["Parent"],
		"type": "subsegment", "start_time": seconds(start), "end_time": seconds(end), "annotations": annotations,
	})
	if err != nil {
		panic(err) // strings and numbers
	}
	return append([]byte(`{"format":"json","version":1}`+"\n"), document...)
}
