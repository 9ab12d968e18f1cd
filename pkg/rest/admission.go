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
	cost     int // of the call as far as it is known; what is charged beyond it is returned
	done     chan struct{}
	returned chan struct{} // closed once units beyond the cost are returned; nil if there are none

	// After done:
	status  quota.Status
	err     error
	charged int
}

func (s *Server) limitOf(c catalog.Customer) quota.Limit {
	limit := s.Limit
	limit.Units = catalog.ValueOr(c.RateLimitUnits, limit.Units)
	return limit
}

func (s *Server) newAdmission(customer catalog.Customer, op *api.Operation) *admission {
	return &admission{
		server: s, customer: customer.ID, op: op, done: make(chan struct{}),
		window: s.limitOf(customer).At(customer.ID, s.Now()),
	}
}

// admit starts to charge for a call whose body has a number of items. If records decide which of them are billed, and
// the units left do not suffice for all, it charges for none: items does.
func (s *Server) admit(ctx context.Context, customer catalog.Customer, op *api.Operation, items int) *admission {
	a := s.newAdmission(customer, op)
	a.units = op.Cost.UpFront() + op.Cost.Rest(items)
	if a.cost = a.units; op.Begins {
		a.cost = op.Cost.UpFront()
	}
	go func() {
		defer close(a.done)
		a.status, a.err = a.charge(ctx, a.units, 1)
		if a.units > a.cost && errors.Is(a.err, quota.ErrFull) {
			a.units = a.cost
			a.status, a.err = a.charge(ctx, a.units, 1)
		}
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
	return a.refusal(a.err, a.units)
}

// refusal returns the error of a call whose units could not be charged; nil if it is admitted all the same.
func (a *admission) refusal(err error, units int) error {
	switch {
	case errors.Is(err, quota.ErrFull):
		return catalog.Errorf(catalog.RateLimitExceeded, "The cost of the call is %d; %d of %d units are left until the window ends.",
			units, a.status.Remaining, a.status.Limit)
	case err != nil && a.op.Counted():
		return catalog.Errorf(catalog.Unavailable, "Usage cannot be counted at the moment.").Because(err)
	}
	return nil
}

// items charges for items that are known only once records are loaded, and starts to return what admit has charged in
// excess. If the quota does not suffice, the whole charge is refunded.
func (a *admission) items(ctx context.Context, n int) error {
	if err := a.wait(); err != nil {
		return err
	}
	a.settle()
	a.cost = a.op.Cost.UpFront() + a.op.Cost.Rest(n)
	units := a.cost - a.charged
	if units < 0 {
		a.returned = make(chan struct{})
		go func() {
			defer close(a.returned)
			a.giveBack(ctx, -units, 0)
		}()
	}
	if units <= 0 {
		return nil
	}
	status, err := a.charge(ctx, units, 0)
	if err == nil {
		a.status, a.charged = status, a.charged+units
		return nil
	}
	if a.refusal(err, a.cost) == nil {
		return nil
	}
	a.refund(ctx)
	return a.refusal(err, a.cost)
}

func (a *admission) charge(ctx context.Context, units, calls int) (quota.Status, error) {
	return a.server.Meter.Charge(ctx, a.customer, a.window, quota.Charge{Operation: a.op.ID, Units: units, Calls: calls})
}

// settle waits until units charged in excess are returned.
func (a *admission) settle() {
	if a.returned != nil {
		<-a.returned
	}
}

// refund refunds the charge.
func (a *admission) refund(ctx context.Context) {
	if a.charged > 0 {
		a.giveBack(ctx, a.charged, 1)
	}
}

// giveBack returns units. Those that cannot be returned are lost to the customer until the window ends.
func (a *admission) giveBack(ctx context.Context, units, calls int) {
	if status, err := a.charge(context.WithoutCancel(ctx), -units, -calls); err == nil {
		a.status = status
	}
	a.charged -= units
}

// close waits for the decision and returns the call's final error: a refused call fails whatever its outcome, and a
// call that failed on the server's side is refunded. One that ended before its items were known pays only for itself.
func (a *admission) close(ctx context.Context, err error) error {
	if refused := a.wait(); refused != nil {
		return refused
	}
	a.settle()
	var known *catalog.Error
	switch {
	case err != nil && (!errors.As(err, &known) || api.Status(known.Code) >= 500):
		a.refund(ctx)
	case a.charged > a.cost:
		a.giveBack(ctx, a.charged-a.cost, 0)
	}
	return err
}
