package rest

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel runs two reads in parallel; one that panics ends in an error.
func parallel[A, B any](ctx context.Context, first func(context.Context) (A, error), second func(context.Context) (B, error)) (a A, b B, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer caught(&err)
		a, err = first(ctx)
		return err
	})
	group.Go(func() (err error) {
		defer caught(&err)
		b, err = second(ctx)
		return err
	})
	return a, b, group.Wait()
}
