// Package quota decides whether a call fits into what its customer may still use
// (interface.md section 4). It holds the words of the rate limit: unit, window,
// limit, charge. It stores nothing itself: counting is a port, and the clock is
// passed in.
//
// Invariant: the units admitted in a window never exceed the limit, because the
// counter adds a cost only where it fits, in one step.
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

// At gives the customer's window at an instant. Windows of different customers
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

// Before gives the n windows before w, the latest first.
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

// ErrFull says that a charge does not fit.
var ErrFull = errors.New("the window's units are used up")

// Counter counts a customer's units.
type Counter interface {
	// Add adds the charge if used+units stays within w.Units, and gives the units
	// used afterwards. A charge that does not fit changes nothing and is ErrFull,
	// with the units used so far. A negative charge always fits.
	Add(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (used int, err error)
	// Refuse counts n refused calls.
	Refuse(ctx context.Context, customer catalog.CustomerID, w Window, n int) error
	// Used gives the units used so far.
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

// Meter charges calls. It remembers refusals, so that a customer who goes on
// calling does not cost a write each time.
type Meter struct {
	Counter Counter

	mu    sync.Mutex
	known map[catalog.CustomerID]*standing
}

// standing is the last that is known of a customer's window.
type standing struct {
	start   int64
	used    int
	refused int // the lowest cost that was refused, 0 for none
	unsaid  int // refusals not yet counted in the store
	refunds int // made here: a refusal that was decided before one is out of date
}

// Charge admits the call or refuses it with ErrFull. Any other error means that
// the units could not be counted; the status is then the last known one.
func (m *Meter) Charge(ctx context.Context, customer catalog.CustomerID, w Window, c Charge) (Status, error) {
	status, refunds, refused := m.refusedBefore(customer, w, c.Units)
	if refused {
		return status, ErrFull
	}
	used, err := m.Counter.Add(ctx, customer, w, c)
	switch {
	case errors.Is(err, ErrFull):
		if n := m.refuse(customer, w, c.Units, used, refunds); n > 0 {
			// The refusal stands even where it cannot be counted.
			_ = m.Counter.Refuse(ctx, customer, w, n)
		}
	case err != nil:
		return m.Last(customer, w), err
	default:
		m.note(customer, w, used, c.Units < 0)
	}
	return w.status(used), err
}

// Peek gives the status without charging anything.
func (m *Meter) Peek(ctx context.Context, customer catalog.CustomerID, w Window) (Status, error) {
	used, err := m.Counter.Used(ctx, customer, w)
	if err != nil {
		return m.Last(customer, w), err
	}
	return w.status(used), nil
}

// Last gives the status as last known here, without asking anybody.
func (m *Meter) Last(customer catalog.CustomerID, w Window) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.status(m.standing(customer, w).used)
}

func (w Window) status(used int) Status {
	return Status{Limit: w.Units, Remaining: max(0, w.Units-used), Reset: w.End}
}

// standing gives the customer's standing in w, a new one where the last known is
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

func (m *Meter) refusedBefore(customer catalog.CustomerID, w Window, units int) (status Status, refunds int, refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing(customer, w)
	if s.refused == 0 || units < s.refused {
		return Status{}, s.refunds, false
	}
	s.unsaid++
	return w.status(s.used), s.refunds, true
}

// refuse remembers a refusal, unless units were refunded since it was asked for,
// and gives how many are to be counted now.
func (m *Meter) refuse(customer catalog.CustomerID, w Window, units, used, refunds int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing(customer, w)
	s.used = used
	if s.refunds == refunds && (s.refused == 0 || units < s.refused) {
		s.refused = units
	}
	n := s.unsaid + 1
	s.unsaid = 0
	return n
}

func (m *Meter) note(customer catalog.CustomerID, w Window, used int, refund bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.standing(customer, w)
	s.used = used
	if refund {
		s.refused = 0
		s.refunds++
	}
}
