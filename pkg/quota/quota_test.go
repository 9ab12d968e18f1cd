package quota_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
)

func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := quota.Limit{
			Units:  rapid.IntRange(1, 10_000).Draw(t, "units"),
			Window: time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second,
		}
		customer := catalog.CustomerID(rapid.StringN(1, 20, -1).Draw(t, "customer"))
		now := catalog.Time(rapid.Int64Range(1_000_000_000_000, 4_000_000_000_000).Draw(t, "now"))
		w := limit.At(customer, now)
		length := int64(limit.Window / time.Second)
		if w.End-w.Start != length || w.Units != limit.Units {
			t.Fatalf("window %+v of limit %+v", w, limit)
		}
		if second := int64(now) / 1000; second < w.Start || second >= w.End {
			t.Fatalf("%d is not in %+v", second, w)
		}
		inside := catalog.Time(rapid.Int64Range(w.Start*1000, w.End*1000-1).Draw(t, "inside"))
		if again := limit.At(customer, inside); again != w {
			t.Fatalf("%+v at one instant and %+v at another of it", w, again)
		}
		if next := limit.At(customer, catalog.Time(w.End*1000)); next.Start != w.End {
			t.Fatalf("behind %+v comes %+v", w, next)
		}
		n := rapid.IntRange(0, 60).Draw(t, "n")
		start := w.Start
		for _, past := range w.Before(n) {
			if past.End != start || past.End-past.Start != length {
				t.Fatalf("before %d comes %+v", start, past)
			}
			start = past.Start
		}
		if start != w.Start-int64(n)*length {
			t.Fatalf("%d windows before %+v end at %d", n, w, start)
		}
	})
}

// Counters are stored by the window's start, which is therefore the same in every release.
func TestWindowsStayWhereTheyAre(t *testing.T) {
	want := quota.Window{Start: 1794999986, End: 1795000046, Units: quota.DefaultLimit.Units}
	if got := quota.DefaultLimit.At("cus_1", 1_795_000_000_000); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestCustomersWindowsAreStaggered(t *testing.T) {
	starts := map[int64]bool{}
	for i := range 200 {
		starts[quota.DefaultLimit.At(catalog.CustomerID(catalog.HashSecret(string(rune('a'+i)))), 1_795_000_000_000).Start] = true
	}
	if len(starts) < 40 {
		t.Errorf("200 customers' windows start at only %d of 60 seconds", len(starts))
	}
}

// table counts in memory, as exactly as the table does.
type table struct {
	mu      sync.Mutex
	used    map[int64]int
	refused map[int64]int
	adds    int
	// refusals is how often some were counted.
	refusals int
	down     bool
}

var errDown = errors.New("down")

func (c *table) Add(_ context.Context, _ catalog.CustomerID, w quota.Window, charge quota.Charge) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return 0, errDown
	}
	c.adds++
	used, fits := c.used[w.Start], charge.Units <= 0 || c.used[w.Start]+charge.Units <= w.Units
	if fits {
		used += charge.Units
		c.used[w.Start] = used
	}
	if !fits {
		return used, quota.ErrFull
	}
	return used, nil
}

func (c *table) Refuse(_ context.Context, _ catalog.CustomerID, w quota.Window, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[w.Start] += n
	c.refusals++
	return nil
}

func (c *table) Used(_ context.Context, _ catalog.CustomerID, w quota.Window) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return 0, errDown
	}
	return c.used[w.Start], nil
}

func newTable() *table { return &table{used: map[int64]int{}, refused: map[int64]int{}} }

const customer = catalog.CustomerID("cus_1")

func window(units int) quota.Window { return quota.Window{Start: 60, End: 120, Units: units} }

func charge(m *quota.Meter, w quota.Window, units int) (quota.Status, error) {
	return m.Charge(context.Background(), customer, w, quota.Charge{Operation: "op", Units: units, Calls: 1})
}

// Several functions against a model: what fits is admitted, what does not is refused,
// the status is right after each call, and refunds make room for the calls of all.
func TestMetersAdmitWhatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counter := newTable()
		meters := []*quota.Meter{{Counter: counter}, {Counter: counter}, {Counter: counter}}
		any := rapid.SampledFrom(meters)
		w := window(rapid.IntRange(1, 40).Draw(t, "limit"))
		used, refused := 0, 0
		var charged []int
		t.Repeat(map[string]func(*rapid.T){
			"charge": func(t *rapid.T) {
				units := rapid.SampledFrom([]int{0, 1, 1, 2, 5, 10, 20}).Draw(t, "units")
				status, err := charge(any.Draw(t, "meter"), w, units)
				fits := units == 0 || used+units <= w.Units
				if fits != (err == nil) || err != nil && !errors.Is(err, quota.ErrFull) {
					t.Fatalf("%d units with %d of %d used: %v", units, used, w.Units, err)
				}
				if fits {
					used += units
					charged = append(charged, units)
				} else {
					refused++
				}
				if status != (quota.Status{Limit: w.Units, Remaining: w.Units - used, Reset: w.End}) {
					t.Fatalf("status %+v with %d of %d used", status, used, w.Units)
				}
			},
			"refund": func(t *rapid.T) {
				if len(charged) == 0 {
					t.Skip("nothing to refund")
				}
				units := charged[len(charged)-1]
				charged = charged[:len(charged)-1]
				used -= units
				if status, err := charge(any.Draw(t, "meter"), w, -units); err != nil || status.Remaining != w.Units-used {
					t.Fatalf("refund of %d: %+v, %v", units, status, err)
				}
			},
			"peek": func(t *rapid.T) {
				if status, err := any.Draw(t, "meter").Peek(context.Background(), customer, w); err != nil ||
					status.Remaining != w.Units-used {
					t.Fatalf("%+v, %v with %d used", status, err, used)
				}
			},
			"window": func(*rapid.T) {
				w = quota.Window{Start: w.End, End: w.End + 60, Units: w.Units}
				used, refused, charged = 0, 0, nil
			},
			"": func(t *rapid.T) {
				if counter.used[w.Start] != used {
					t.Fatalf("%d counted, %d used", counter.used[w.Start], used)
				}
				if seen := counter.refused[w.Start]; seen > refused || 2*seen < refused {
					t.Fatalf("%d refusals counted of %d", seen, refused)
				}
			},
		})
	})
}

// Many functions on one counter never admit more than the limit, and together all
// of it while single units are asked for.
func TestMetersTogetherAreExact(t *testing.T) {
	counter := newTable()
	w := window(500)
	var group sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		m := &quota.Meter{Counter: counter}
		for range 4 {
			group.Go(func() {
				for range 40 {
					if _, err := charge(m, w, 1); err == nil {
						mu.Lock()
						admitted++
						mu.Unlock()
					}
				}
			})
		}
	}
	group.Wait()
	if admitted != 500 {
		t.Errorf("%d admitted of 500", admitted)
	}
}

// A refusal says nothing about the next call: units may have been refunded elsewhere.
func TestRefusalEndsWithARefundElsewhere(t *testing.T) {
	counter := newTable()
	m, other := &quota.Meter{Counter: counter}, &quota.Meter{Counter: counter}
	w := window(10)
	for range 5 {
		if _, err := charge(other, w, 10); err != nil {
			t.Fatal(err)
		}
		if _, err := charge(m, w, 1); !errors.Is(err, quota.ErrFull) {
			t.Fatal(err)
		}
		if _, err := charge(other, w, -10); err != nil {
			t.Fatal(err)
		}
		if _, err := charge(m, w, 1); err != nil {
			t.Errorf("1 of 10 free units: %v", err)
		}
		if _, err := charge(m, w, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// A call is one addition. Counting the refusals costs little more, and misses no more
// than half.
func TestUpdates(t *testing.T) {
	counter := newTable()
	m := &quota.Meter{Counter: counter}
	w := window(10)
	if _, err := charge(m, w, 10); err != nil || counter.adds != 1 || counter.refusals != 0 {
		t.Errorf("%v: %d additions, %d counts of refusals", err, counter.adds, counter.refusals)
	}
	for n := 1; n <= 1000; n++ {
		if _, err := charge(m, w, 1); !errors.Is(err, quota.ErrFull) {
			t.Fatal(err)
		}
		if counted := counter.refused[w.Start]; counted > n || 2*counted < n {
			t.Fatalf("%d refusals counted of %d", counted, n)
		}
		if counted := counter.refused[w.Start]; n&(n-1) == 0 && counted != n {
			t.Fatalf("%d refusals counted of %d, which are twice as many as before", counted, n)
		}
	}
	if counter.adds != 1001 || counter.refusals > 10 {
		t.Errorf("%d additions, %d counts of 1000 refusals", counter.adds, counter.refusals)
	}
}

func TestCounterOutOfReach(t *testing.T) {
	counter := newTable()
	m := &quota.Meter{Counter: counter}
	w := window(10)
	if _, err := charge(m, w, 4); err != nil {
		t.Fatal(err)
	}
	counter.down = true
	for _, units := range []int{1, 100, -1} {
		status, err := charge(m, w, units)
		if !errors.Is(err, errDown) || status != (quota.Status{Limit: 10, Remaining: 6, Reset: 120}) {
			t.Errorf("%d units: %+v, %v", units, status, err)
		}
	}
	if status, err := m.Peek(context.Background(), customer, w); !errors.Is(err, errDown) || status.Remaining != 6 {
		t.Errorf("%+v, %v", status, err)
	}
	next := quota.Window{Start: 120, End: 180, Units: 10}
	if status := m.Last(customer, next); status.Remaining != 10 || status.Reset != 180 {
		t.Errorf("of the next window nothing is known: %+v", status)
	}
}
