package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// invocation is the context of one, as aws-lambda-go makes it.
type invocation struct {
	context.Context
	header string
}

func (i invocation) Value(key any) any {
	if key == "x-amzn-trace-id" {
		return i.header
	}
	return i.Context.Value(key)
}

func TestSend(t *testing.T) {
	daemon, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	t.Setenv(envDaemon, daemon.LocalAddr().String())
	start := time.UnixMilli(1_795_000_000_500)
	// What is not sampled is not sent: the first document to arrive is the last one.
	for _, header := range []string{"", "Root=1-a-b;Parent=c;Sampled=0", "Root=1-a-b;Sampled=1", "Root=1-6745-abc;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=x"} {
		Send(invocation{t.Context(), header}, "getCourse", start, map[string]string{"organization": "org_1"})
	}
	packet := make([]byte, 2000)
	if err := daemon.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, _, err := daemon.ReadFrom(packet)
	if err != nil {
		t.Fatal(err)
	}
	first, document, _ := bytes.Cut(packet[:n], []byte("\n"))
	if string(first) != `{"format":"json","version":1}` {
		t.Errorf("the packet begins %s", first)
	}
	var got map[string]any
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatal(err)
	}
	if id, _ := got["id"].(string); len(id) != 16 {
		t.Errorf("the id is %v", got["id"])
	}
	if _, ok := got["end_time"].(float64); !ok {
		t.Errorf("it ends at %v", got["end_time"])
	}
	delete(got, "id")
	delete(got, "end_time")
	if diff := cmp.Diff(map[string]any{
		"name": "getCourse", "trace_id": "1-6745-abc", "parent_id": "53995c3f42cd8ad8", "type": "subsegment", "start_time": 1_795_000_000.5,
		"annotations": map[string]any{"organization": "org_1"},
	}, got); diff != "" {
		t.Error(diff)
	}
}
