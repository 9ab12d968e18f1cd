// Package egress connects to addresses supplied by clients: of syllabi, and of webhook
// receivers. Whatever a name resolves to, only public addresses, and those that the operator
// allows, can be reached. Package address checks how addresses are spelled.
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

// Dialer connects to allowed hosts unchecked, and to any other only if the address actually
// dialed is public: a name may resolve to anything, and differently at each lookup.
type Dialer struct {
	AllowedHosts []string // host:port pairs that may be reached even if private
	Timeout      time.Duration
	Resolver     *net.Resolver // nil for the system's
}

// DialContext connects as net.Dialer does. Forbidden tells whether an error is a refusal.
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

// Forbidden reports whether a connection was refused because its address is not public.
func Forbidden(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}

var numericLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d+|0[xX][\da-fA-F]*)$`) })

// disguised reports whether a host is localhost by name, or an IP address in an unusual notation: decimal, octal,
// hexadecimal, shortened or with a trailing dot. Some resolvers accept those.
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
