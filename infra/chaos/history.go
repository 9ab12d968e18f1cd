package main

import (
	"slices"
	"sync"
	"time"
)

// history is what the clients know of what they wrote: for each register (a
// record's presence, its name, a membership) every write that was tried.
type history struct {
	mu        sync.Mutex
	registers map[string][]*attempt
}

// attempt is one attempt to give a register a value. Nobody knows when, or
// whether, an attempt that was not acknowledged is done.
type attempt struct {
	value      string
	start, end time.Time // end is zero where it was not acknowledged
}

// outcome is what a client knows of a request.
type outcome int

const (
	unknown outcome = iota
	acknowledged
	refused // nothing was done
)

// begin notes an attempt; the func that it returns says how it ended.
func (h *history) begin(register, value string) (end func(outcome)) {
	a := &attempt{value: value, start: time.Now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.registers == nil {
		h.registers = map[string][]*attempt{}
	}
	h.registers[register] = append(h.registers[register], a)
	return func(o outcome) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch o {
		case acknowledged:
			a.end = time.Now()
		case refused:
			h.registers[register] = slices.DeleteFunc(h.registers[register], func(b *attempt) bool { return a == b })
		}
	}
}

// created notes what was written by a request that was acknowledged just now and
// named the register only then.
func (h *history) created(register, value string) { h.begin(register, value)(acknowledged) }

// allowed returns the values that a register may have: of all attempts that may
// have been the last, and none ("") where none is sure to have been done.
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

// is reports whether a register has the value for certain.
func (h *history) is(register, value string) bool {
	values := h.allowed(register)
	return len(values) == 1 && values[0] == value
}

// names lists the registers.
func (h *history) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.registers))
	for name := range h.registers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
