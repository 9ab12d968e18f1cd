package rest

import (
	"context"
	"errors"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
)

// admission is the quota's decision on a call. It is requested when the call begins, and awaited where it matters.
type admission struct {
	server   *Server
	customer catalog.CustomerID
	op       *api.Operation
	window   quota.Window
	units    int // requested when the call began
	done     chan struct{}

	// After done:
	status  quota.Status
	err     error
	charged int
}

func (s *Server) limitOf(c catalog.Customer) quota.Limit {
	limit := s.Limit
	if c.RateLimitUnits != nil {
		limit.Units = *c.RateLimitUnits
	}
	return limit
}

func (s *Server) newAdmission(customer catalog.Customer, op *api.Operation) *admission {
	return &admission{
		server: s, customer: customer.ID, op: op, done: make(chan struct{}),
		window: s.limitOf(customer).At(customer.ID, s.Now()),
	}
}

// admit starts to charge for a call whose body has a number of items.
func (s *Server) admit(ctx context.Context, customer catalog.Customer, op *api.Operation, items int) *admission {
	a := s.newAdmission(customer, op)
	a.units = op.Cost.UpFront() + op.Cost.Rest(items)
	go func() {
		defer close(a.done)
		a.status, a.err = s.Meter.Charge(ctx, a.customer, a.window, quota.Charge{Operation: op.ID, Units: a.units, Calls: 1})
		if a.err == nil {
			a.charged = a.units
		}
	}()
	return a
}

// free looks up the quota's status for a response without a cost.
func (s *Server) free(ctx context.Context, x *exchange) {
	a := s.newAdmission(x.caller.Customer, &api.Operation{})
	// If the units cannot be read, the last known status is used.
	a.status, _ = s.Meter.Peek(ctx, a.customer, a.window)
	close(a.done)
	x.admission = a
}

// wait waits for the decision and returns an error if the call is refused. If the units cannot be counted, reads are
// admitted, but writes and expensive calls are not.
func (a *admission) wait() error {
	<-a.done
	switch {
	case a.err == nil:
		return nil
	case errors.Is(a.err, quota.ErrFull):
		return catalog.Errorf(catalog.RateLimitExceeded, "The call costs %d units; %d of %d are left until the window ends.",
			a.units, a.status.Remaining, a.status.Limit)
	case a.op.Counted():
		return catalog.Errorf(catalog.Unavailable, "Usage cannot be counted at the moment.").Because(a.err)
	}
	return nil
}

// items charges for items that are known only once records are loaded. If they exceed the quota, the whole charge is
// refunded.
func (a *admission) items(ctx context.Context, n int) error {
	if err := a.wait(); err != nil {
		return err
	}
	units := a.op.Cost.UpFront() + a.op.Cost.Rest(n) - a.charged
	if units <= 0 {
		return nil
	}
	status, err := a.charge(ctx, units, 0)
	if err == nil {
		a.status, a.charged = status, a.charged+units
		return nil
	}
	if !errors.Is(err, quota.ErrFull) && !a.op.Counted() {
		return nil
	}
	cost := a.charged + units
	a.refund(ctx)
	if errors.Is(err, quota.ErrFull) {
		return catalog.Errorf(catalog.RateLimitExceeded, "The call costs %d units; %d of %d are left until the window ends.",
			cost, a.status.Remaining, a.status.Limit)
	}
	return catalog.Errorf(catalog.Unavailable, "Usage cannot be counted at the moment.").Because(err)
}

func (a *admission) charge(ctx context.Context, units, calls int) (quota.Status, error) {
	return a.server.Meter.Charge(ctx, a.customer, a.window, quota.Charge{Operation: a.op.ID, Units: units, Calls: calls})
}

// refund refunds the charge.
func (a *admission) refund(ctx context.Context) {
	if a.charged == 0 {
		return
	}
	// A refund that fails is lost to the customer until the window ends.
	if status, err := a.charge(context.WithoutCancel(ctx), -a.charged, -1); err == nil {
		a.status = status
	}
	a.charged = 0
}

// close waits for the decision and returns the call's final error: a refused call fails whatever its outcome, and a
// call that failed on the server's side is refunded.
func (a *admission) close(ctx context.Context, err error) error {
	if refused := a.wait(); refused != nil {
		return refused
	}
	if err == nil {
		return nil
	}
	var known *catalog.Error
	if !errors.As(err, &known) || api.Status(known.Code) >= 500 {
		a.refund(ctx)
	}
	return err
}
