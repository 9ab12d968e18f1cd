package main

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// history records all attempts to write each register. A register is a record's id, for its existence, or the id, a
// space and the name of something written to it. A marker has the number of records that were created with it, and an
// organization the idempotency records of its requests.
type history struct {
	mu        sync.Mutex
	registers map[string][]*attempt
}

// attempt is one attempt to set a register. When, or whether, it took effect is unknown unless it was acknowledged.
type attempt struct {
	value      string
	start, end time.Time // end is zero unless the attempt was acknowledged
}

// outcome is what a client knows about the effect of a request.
type outcome int

const (
	unknown outcome = iota
	acknowledged
	refused // without effect
)

// Values of a record's existence register.
const (
	live    = "live"
	deleted = "deleted"
)

// begin records attempts to set registers; the caller reports their outcome to the returned func.
func (h *history) begin(effects map[string]string) (end func(outcome)) {
	attempts := map[string]*attempt{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for register, value := range effects {
		attempts[register] = &attempt{value: value, start: time.Now()}
		h.registers[register] = append(h.registers[register], attempts[register])
	}
	return func(o outcome) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for register, a := range attempts {
			switch o {
			case acknowledged:
				a.end = time.Now()
			case refused:
				h.registers[register] = slices.DeleteFunc(h.registers[register], func(b *attempt) bool { return a == b })
			}
		}
	}
}

// wrote records the effects of an acknowledged request.
func (h *history) wrote(effects map[string]string) { h.begin(effects)(acknowledged) }

// allowed returns the values that a register may have: those of all attempts that may have been the last, and "" unless
// some attempt was acknowledged.
func (h *history) allowed(register string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var values []string
	sure := false
	for _, a := range h.registers[register] {
		sure = sure || !a.end.IsZero()
		overwritten := !a.end.IsZero() && slices.ContainsFunc(h.registers[register], func(later *attempt) bool {
			return !later.end.IsZero() && later.start.After(a.end)
		})
		if !overwritten && !slices.Contains(values, a.value) {
			values = append(values, a.value)
		}
	}
	if !sure {
		values = append(values, "")
	}
	return values
}

// is reports whether a register certainly has the value.
func (h *history) is(register, value string) bool {
	return slices.Equal(h.allowed(register), []string{value})
}

func (h *history) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.registers))
}
