// Package egress connects to addresses that strangers gave: of syllabi, and of the
// receivers of webhooks. Whatever a name resolves to, only public addresses are
// reached, and those that the operator allows. How an address may be spelled is
// package address's matter.
package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"

	"skillscurriculum/pkg/egress/address"
)

// Dialer connects to allowed hosts as they are, and to any other only when the
// address that is really dialled is a public one: names may resolve to anything, and
// to something else at each look-up.
type Dialer struct {
	AllowedHosts []string // host:port pairs that may be reached although private
	Timeout      time.Duration
	Resolver     *net.Resolver // nil asks the system's
}

// DialContext connects, as net.Dialer does. For an error see Forbidden.
func (d Dialer) DialContext(ctx context.Context, network, hostPort string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: d.Timeout, Resolver: d.Resolver}
	if !address.Allowed(hostPort, d.AllowedHosts) {
		if disguised(hostPort) {
			return nil, ssrf.ErrProhibitedIP
		}
		dialer.Control = ssrf.New(ssrf.WithAnyPort()).Safe
	}
	return dialer.DialContext(ctx, network, hostPort)
}

// Forbidden reports whether a connection was refused here, because its address is no
// public one.
func Forbidden(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) || errors.Is(err, ssrf.ErrInvalidHostPort)
}

var numericLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d+|0[xX][\da-fA-F]*)$`) })

// disguised reports whether a host is this machine by name, or a number that is not
// written as an IP address usually is: decimal, octal, hexadecimal, shortened or
// with a trailing dot. Some resolvers take those for addresses.
func disguised(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.ToLower(strings.TrimRight(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "localhost" || numericLabel().MatchString(last)
}
