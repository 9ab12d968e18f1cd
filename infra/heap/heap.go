// Package heap measures the memory that tests need.
package heap

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Peak returns how many more bytes of the heap are in use, at most, while run runs. It collects garbage often, so that
// little of it counts, and must not run beside other tests.
func Peak(run func()) (peak uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := used()
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			peak = max(peak, used())
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	run()
	close(done)
	<-sampled
	return peak - min(peak, before)
}
