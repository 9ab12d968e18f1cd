// Package quota decides whether a call fits into what its customer may still use. It
// holds the words of the rate limit: unit, window, limit, charge. It stores nothing
// itself: counting is a port, and the clock is passed in.
//
// Invariants: the units admitted in a window never exceed the limit, and a call that
// fits is never refused, because the counter adds a cost where it fits, in one step,
// and nothing else decides.
package quota

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Limit is how many units a customer may use in a window. A window is a whole
// number of seconds.
type Limit struct {
	Units  int
	Window time.Duration
}

// DefaultLimit applies where neither operator nor customer sets another.
var DefaultLimit = Limit{Units: 1000, Window: time.Minute}

// Window is one fixed window of one customer, in UNIX seconds; End is where the
// next one starts.
type Window struct {
	Start, End int64
	Units      int
}

// At returns the customer's window at an instant. Windows of different customers
// start at different seconds, so that not everybody returns at once.
func (l Limit) At(customer catalog.CustomerID, now catalog.Time) Window {
	length := int64(l.Window / time.Second)
	h := fnv.New32a()
	h.Write([]byte(customer))
	offset := int64(h.Sum32()) % length
	second := int64(now) / 1000
	start := second - (second-offset)%length
	return Window{Start: start, End: start + length, Units: l.Units}
}

// Before returns the n windows before w, the latest first.
func (w Window) Before(n int) []Window {
	length := w.End - w.Start
	past := make([]Window, n)
	for i := range past {
		past[i] = Window{Start: w.Start - int64(i+1)*length, End: w.End - int64(i+1)*length, Units: w.Units}
	}
	return past
}

// Charge is what a call adds to its customer's window: its operation, its units,
// and whether it counts as a call (the rest of a call's cost does not count twice).
type Charge struct {
	Operation string
	Units     int
	Calls     int
}

// ErrFull is returned for a charge that does not fit.
var ErrFull = errors.New("the window's units are used up")

// Counter counts a customer's units.
type Counter interface {
	// Add adds the charge if used+units stays within w.Units, and returns the units
	// used afterwards. A charge that does not fit changes nothing and is ErrFull,
	// with the units used so far. A negative charge always fits.
	Add(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (used int, err error)
	// Refuse counts n refused calls.
	Refuse(ctx context.Context, customer catalog.CustomerID, w Window, n int) error
	// Used returns the units used so far.
	Used(ctx context.Context, customer catalog.CustomerID, w Window) (int, error)
}

// Usage is what a customer did in one window.
type Usage struct {
	Start      int64
	Used       int
	Limited    int
	Operations map[string]OperationUsage
}

// OperationUsage is what a customer did with one operation.
type OperationUsage struct{ Calls, Units int }

// Status is where a customer stands after a call.
type Status struct {
	Limit     int
	Remaining int   // never negative
	Reset     int64 // UNIX second at which the window ends
}

// Meter charges calls, each by one addition to the counter. It decides nothing by
// itself: what it knows of a window may have changed elsewhere, by a refund above
// all, and a call that fits is never refused.
type Meter struct {
	Counter Counter

	mu    sync.Mutex
	known map[catalog.CustomerID]*standing
}

// standing is the last that is known here of a customer's window.
type standing struct {
	start   int64
	used    int
	refused int // calls
	counted int // of them, in the counter
}

// Charge admits the call or refuses it with ErrFull. Any other error means that
// the units could not be counted; the status is then the last known one.
func (m *Meter) Charge(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (Status, error) {
	used, err := m.Counter.Add(ctx, customer, w, c)
	if err != nil && !errors.Is(err, ErrFull) {
		return m.Last(customer, w), err
	}
	if n := m.note(customer, w, used, err != nil); n > 0 {
		// The refusal stands even where it cannot be counted.
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

// Last returns the status as last known here, without asking anybody.
func (m *Meter) Last(customer catalog.CustomerID, w Window) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.status(m.standing(customer, w).used)
}

func (w Window) status(used int) Status {
	return Status{Limit: w.Units, Remaining: max(0, w.Units-used), Reset: w.End}
}

// standing returns the customer's standing in w, a new one where the last known is
// of another window. The caller holds the lock.
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

// note remembers where a call left its customer, and returns how many refusals are
// to be counted now: always as many as are counted already, so that a customer who
// goes on calling hardly costs a second update each time, and at least half of the
// refusals are counted.
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
