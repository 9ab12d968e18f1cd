// Package quota decides whether a call fits into its customer's rate limit. It defines the terms unit, window, limit
// and charge. It stores nothing itself: counting is a port, and the time is passed in.
//
// Invariants: the units admitted in a window never exceed the limit, and a call that fits is
// never refused, because the counter's atomic conditional addition is the only decision.
package quota

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Limit is the number of units that a customer may use in a window. A window is a whole number of seconds.
type Limit struct {
	Units  int
	Window time.Duration
}

// DefaultLimit applies unless the operator or the customer's record sets another.
var DefaultLimit = Limit{Units: 1000, Window: time.Minute}

// Window is one fixed window of one customer, in Unix seconds; the next one starts at End.
type Window struct {
	Start, End int64
	Units      int
}

// At returns the customer's window at an instant. Windows of different customers start at
// different seconds, so that refused customers do not all return at once.
func (l Limit) At(customer catalog.CustomerID, now catalog.Time) Window {
	length := int64(l.Window / time.Second)
	h := fnv.New32a()
	h.Write([]byte(customer))
	offset := int64(h.Sum32()) % length
	second := int64(now) / 1000
	start := second - (second-offset)%length
	return Window{Start: start, End: start + length, Units: l.Units}
}

// Before returns the n windows before w, latest first.
func (w Window) Before(n int) []Window {
	length := w.End - w.Start
	past := make([]Window, n)
	for i := range past {
		past[i] = Window{Start: w.Start - int64(i+1)*length, End: w.End - int64(i+1)*length, Units: w.Units}
	}
	return past
}

// Charge is an addition to a customer's window: an operation, its units, and whether it
// counts as a call (the remainder of a call's cost does not count again).
type Charge struct {
	Operation string
	Units     int
	Calls     int
}

// ErrFull means that a charge does not fit.
var ErrFull = errors.New("the window's units are used up")

// Counter counts a customer's units.
type Counter interface {
	// Add adds the charge if used+units stays within w.Units, and returns the units used afterwards. A charge that does
	// not fit changes nothing and returns ErrFull with the units used so far. A negative charge always fits.
	Add(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (used int, err error)
	// Refuse counts n refused calls.
	Refuse(ctx context.Context, customer catalog.CustomerID, w Window, n int) error
	// Used returns the units used so far.
	Used(ctx context.Context, customer catalog.CustomerID, w Window) (int, error)
}

// Usage is a customer's usage in one window.
type Usage struct {
	Start      int64
	Used       int
	Limited    int
	Operations map[string]OperationUsage
}

// OperationUsage is a customer's usage of one operation.
type OperationUsage struct{ Calls, Units int }

// Status is the state of a customer's window after a call.
type Status struct {
	Limit     int
	Remaining int   // never negative
	Reset     int64 // Unix second at which the window ends
}

// Meter charges calls, each with one addition to the counter. It decides nothing from its cached state, which may be
// out of date, above all after a refund elsewhere: a call that fits must never be refused.
type Meter struct {
	Counter Counter

	mu    sync.Mutex
	known map[catalog.CustomerID]*standing
}

// standing is the last known state of a customer's window.
type standing struct {
	start   int64
	used    int
	refused int // calls
	counted int // of those, recorded by the counter
}

// Charge admits the call or refuses it with ErrFull. Any other error means that the units
// could not be counted; the status is then the last known one.
func (m *Meter) Charge(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (Status, error) {
	used, err := m.Counter.Add(ctx, customer, w, c)
	if err != nil && !errors.Is(err, ErrFull) {
		return m.Last(customer, w), err
	}
	if n := m.note(customer, w, used, err != nil); n > 0 {
		// The call is refused even if the refusal cannot be counted.
		_ = m.Counter.Refuse(ctx, customer, w, n)
	}
	return w.status(used), err
}

// Peek returns the status without charging anything.
func (m *Meter) Peek(ctx context.Context, customer catalog.CustomerID, w Window) (Status, error) {
	used, err := m.Counter.Used(ctx, customer, w)
	if err != nil {
		return m.Last(customer, w), err
	}
	return w.status(used), nil
}

// Last returns the last known status without a call to the counter.
func (m *Meter) Last(customer catalog.CustomerID, w Window) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.status(m.standing(customer, w).used)
}

func (w Window) status(used int) Status {
	return Status{Limit: w.Units, Remaining: max(0, w.Units-used), Reset: w.End}
}

// standing returns the customer's standing in w, a new one if the last known is of another
// window. The caller holds the lock.
func (m *Meter) standing(customer catalog.CustomerID, w Window) *standing {
	if m.known == nil {
		m.known = map[catalog.CustomerID]*standing{}
	}
	s := m.known[customer]
	if s == nil || s.start != w.Start {
		s = &standing{start: w.Start}
		m.known[customer] = s
	}
	return s
}

// note records the result of a call and returns how many refusals to count now. Refusals are
// counted in batches that double each time, so that a customer who keeps calling rarely costs
// a second update, and at least half of the refusals are counted.
func (m *Meter) note(customer catalog.CustomerID, w Window, used int, refused bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing(customer, w)
	s.used = used
	if !refused {
		return 0
	}
	s.refused++
	if s.refused < 2*s.counted {
		return 0
	}
	n := s.refused - s.counted
	s.counted = s.refused
	return n
}
