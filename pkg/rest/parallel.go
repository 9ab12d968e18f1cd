package rest

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel runs two reads in parallel; one that panics ends in an error.
func parallel[A, B any](ctx context.Context, first func(context.Context) (A, error), second func(context.Context) (B, error)) (a A, b B, err error) {
	err = inParallel(ctx, func(ctx context.Context) (err error) {
		a, err = first(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		b, err = second(ctx)
		return err
	})
	return a, b, err
}

// inParallel runs reads in parallel; one that panics ends in an error.
func inParallel(ctx context.Context, reads ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, read := range reads {
		group.Go(func() (err error) {
			defer caught(&err)
			return read(ctx)
		})
	}
	return group.Wait()
}
