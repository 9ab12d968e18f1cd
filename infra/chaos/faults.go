package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"skillscurriculum/pkg/api"
)

// faultKind is an effect on a component. Network effects hit some of the calls through the component's proxy.
type faultKind struct{ component, effect string }

func (k faultKind) String() string { return k.component + " " + k.effect }

// Components.
const (
	functions = "function"
	database  = "DynamoDB"
	queued    = "queue"
	stored    = "storage"
)

// Effects.
const (
	killed        = "killed"
	stopped       = "stopped"
	frozen        = "frozen"
	slow          = "slow"
	throttling    = "throttling"
	conflicting   = "conflicting"
	failing       = "returning 500"
	callsLost     = "calls lost"
	responsesLost = "responses lost"
	doubling      = "doubling messages"
	reordering    = "reordering messages"
)

// allFaults contains each kind of fault as often as it occurs in one deal of the deck.
var allFaults = slices.Concat(
	of(functions, killed, killed, killed, killed, killed),
	of(database, stopped, frozen, slow, throttling, conflicting, conflicting, failing, callsLost),
	of(database, responsesLost, responsesLost),
	of(queued, stopped, slow, failing, callsLost, responsesLost, doubling, doubling, reordering),
	of(stored, stopped, slow, failing, callsLost, responsesLost),
)

func of(component string, effects ...string) (kinds []faultKind) {
	for _, effect := range effects {
		kinds = append(kinds, faultKind{component, effect})
	}
	return kinds
}

// fault is one scheduled fault.
type fault struct {
	faultKind
	at, lasts time.Duration // lasts is 0 for a kill
	function  string        // to kill
	pick      uint64        // which of its processes
}

func (f fault) String() string {
	if f.function != "" {
		return f.effect + ": " + f.function
	}
	return fmt.Sprintf("%v for %.1fs", f.faultKind, f.lasts.Seconds())
}

// schedule returns the faults of a run of the given length.
func schedule(random *rand.Rand, deck []faultKind, length time.Duration) []fault {
	// kills matter most in the pipelines
	names := []string{api.Extractor, api.Extractor, api.Extractor, api.Importer, api.Importer, api.Importer, api.Sweeper}
	for _, g := range api.Groups() {
		names = append(names, string(g))
	}
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(random.Int64N(int64(high-low)))
	}
	var faults []fault
	var cards []faultKind
	for at := between(time.Second, 2*time.Second); at < length; at += between(time.Second, 4*time.Second) {
		if len(cards) == 0 {
			cards = slices.Clone(deck)
			random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
		}
		f := fault{faultKind: cards[0], at: at, pick: random.Uint64()}
		cards = cards[1:]
		f.lasts = min(between(2*time.Second, 7*time.Second), length-at)
		switch f.effect {
		case killed:
			f.function, f.lasts = names[f.pick%uint64(len(names))], 0
		case stopped, frozen:
			f.lasts /= 2
		}
		faults = append(faults, f)
	}
	return faults
}

// programs identifies the processes behind proxies by a suffix of an argument. The storage runs in this process.
var programs = map[string]string{database: "DynamoDBLocal.jar", queued: "goaws"}

// flushTime is how long DynamoDB Local may take to persist a confirmed write. AWS never loses confirmed writes.
const flushTime = time.Second

// inject applies one fault and ends it.
func (w *world) inject(f fault) {
	end := time.Now().Add(f.lasts)
	wait := func() { time.Sleep(time.Until(end)) }
	signal := func(s syscall.Signal) {
		for _, pid := range processes(programs[f.component]) {
			_ = syscall.Kill(pid, s)
		}
	}
	p := w.proxies[f.component]
	switch f.effect {
	case killed:
		if pids := processes(filepath.Join(w.functions, f.function, "bootstrap")); len(pids) > 0 {
			_ = syscall.Kill(pids[f.pick%uint64(len(pids))], syscall.SIGKILL)
			w.kills.Add(1)
		}
	case stopped:
		p.setDown(true)
		time.Sleep(flushTime)
		signal(syscall.SIGKILL)
		wait()
		for !responds(p.upstream) {
			time.Sleep(50 * time.Millisecond)
		}
		p.setDown(false)
	case frozen:
		signal(syscall.SIGSTOP)
		wait()
		signal(syscall.SIGCONT)
	default:
		p.update(func() { p.active[f.effect]++ })
		wait()
		p.update(func() { p.active[f.effect]-- })
	}
}

// processes returns the child processes that have an argument with a suffix; none if the suffix is "".
func processes(suffix string) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); suffix == "" || len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		matches := func(argument string) bool { return strings.HasSuffix(argument, suffix) }
		if err == nil && slices.ContainsFunc(strings.Split(string(line), "\x00"), matches) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// responds reports whether a server accepts requests.
func responds(url string) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return true
}
