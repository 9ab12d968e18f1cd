package parallel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"skillscurriculum/pkg/service/parallel"
)

// A read that panics or fails is an error, and ends the context of the others.
func TestFailuresEndAll(t *testing.T) {
	waits := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	_, _, err := parallel.Two(t.Context(), waits, func(context.Context) (int, error) { panic("lost") })
	if err == nil || !strings.Contains(err.Error(), "panic: lost") {
		t.Errorf("a panic is %v", err)
	}
	failure := errors.New("failed")
	_, _, err = parallel.Two(t.Context(), waits, func(context.Context) (int, error) { return 0, failure })
	if !errors.Is(err, failure) {
		t.Errorf("a failure is %v", err)
	}
	seen := make(chan string, 2)
	err = parallel.Each(t.Context(), map[string]int{"a": 1, "b": 2}, func(_ context.Context, key string, value int) error {
		seen <- key
		if value == 2 {
			return failure
		}
		return nil
	})
	if !errors.Is(err, failure) || len(seen) != 2 {
		t.Errorf("%d were read, %v", len(seen), err)
	}
}
