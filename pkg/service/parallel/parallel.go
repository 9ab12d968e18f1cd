// Package parallel runs reads concurrently. A panic becomes an error.
package parallel

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Two runs two reads.
func Two[A, B any](
	ctx context.Context, first func(context.Context) (A, error), second func(context.Context) (B, error),
) (a A, b B, err error) {
	err = All(ctx, Into(&a, first), Into(&b, second))
	return a, b, err
}

// Into makes a read for All of one that returns a value, which it sets.
func Into[T any](to *T, read func(context.Context) (T, error)) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		*to, err = read(ctx)
		return err
	}
}

// Call makes a read of a function that takes one argument.
func Call[A, T any](read func(context.Context, A) (T, error), a A) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) { return read(ctx, a) }
}

// Call2 makes a read of a function that takes two arguments.
func Call2[A, B, T any](read func(context.Context, A, B) (T, error), a A, b B) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) { return read(ctx, a, b) }
}

// All runs reads, and returns the first error.
func All(ctx context.Context, reads ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, read := range reads {
		group.Go(func() error { return caught(ctx, read) })
	}
	return group.Wait()
}

// Each runs a read for each key of a map, at most 8 at a time.
func Each[K comparable, V any](ctx context.Context, over map[K]V, read func(context.Context, K, V) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for k, v := range over {
		group.Go(func() error {
			return caught(ctx, func(ctx context.Context) error { return read(ctx, k, v) })
		})
	}
	return group.Wait()
}

func caught(ctx context.Context, read func(context.Context) error) (err error) {
	defer Recover(&err)
	return read(ctx)
}

// Recover converts a panic to the error of the function that defers it.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
