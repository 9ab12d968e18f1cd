package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/catalog"
)

func TestVariables(t *testing.T) {
	taxonomy := filepath.Join(t.TempDir(), "esco.bin")
	if err := os.WriteFile(taxonomy, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		want stack.Config
		err  string
	}{
		{env: nil, want: stack.Config{Port: 3000, Env: map[string]string{}}},
		{env: map[string]string{"PORT": "0", "FRESH": "0"}, want: stack.Config{Env: map[string]string{}}},
		{
			env: map[string]string{
				"PORT": "8080", "FRESH": "1", "TABLE_NAME": "t", "DYNAMODB_ENDPOINT": "d", "SQS_ENDPOINT": "s", "TAXONOMY": taxonomy,
				"RATE_LIMIT_UNITS": "200", "RATE_LIMIT_WINDOW_SECONDS": "5", "SYLLABUS_ALLOWED_HOSTS": "h:1",
			},
			want: stack.Config{Port: 8080, Fresh: true, Env: map[string]string{
				"TABLE_NAME": "t", "DYNAMODB_ENDPOINT": "d", "SQS_ENDPOINT": "s", "TAXONOMY": taxonomy,
				"RATE_LIMIT_UNITS": "200", "RATE_LIMIT_WINDOW_SECONDS": "5", "SYLLABUS_ALLOWED_HOSTS": "h:1",
			}},
		},
		{env: map[string]string{"PORT": "http"}, err: "PORT=http is not a port number"},
		{env: map[string]string{"PORT": "65536"}, err: "PORT=65536 is not a port number"},
		{env: map[string]string{"TAXONOMY": "nowhere"}, err: "TAXONOMY: "},
		{env: map[string]string{"RATE_LIMIT_UNITS": "many"}, err: "RATE_LIMIT_UNITS must be a positive whole number"},
		{env: map[string]string{"RATE_LIMIT_WINDOW_SECONDS": "0"}, err: "RATE_LIMIT_WINDOW_SECONDS must be a positive whole number"},
	} {
		got, err := fromEnvironment(func(name string) string { return c.env[name] })
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: error %v", c.env, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(stack.Config{}, "Console", "Demo", "Syllabi")); diff != "" || err != nil {
			t.Errorf("%v: %v %s", c.env, err, diff)
		}
	}
}

func TestKnownKeys(t *testing.T) {
	endpoint, stop, err := dynamodb.Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s := stack.Open(dynamodb.Environment(endpoint, "known-keys"))
	for range 2 { // the second time it is there
		if err := s.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	past := s.Now() - 1
	for secret, key := range map[string]catalog.Key{
		"live":    {},
		"revoked": {RevokedAt: &past},
		"expired": {ExpiresAt: &past},
	} {
		key.ID, key.CustomerID, key.Hash = "key_"+secret, "cus_1", catalog.HashSecret(secret)
		if err := s.SaveKey(t.Context(), &key); err != nil {
			t.Fatal(err)
		}
	}
	for secret, want := range map[string]bool{"live": true, "revoked": false, "expired": false, "unknown": false} {
		if got, err := s.Known(t.Context(), secret); got != want || err != nil {
			t.Errorf("%s: %t, %v", secret, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Known(ctx, "live"); err == nil {
		t.Error("an unreachable store knows a key")
	}
}
