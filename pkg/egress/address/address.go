// Package address validates addresses supplied by clients by their spelling alone: of syllabi to fetch, and of webhook
// receivers. It is separate from package egress so that functions that only accept addresses do not link the dialer.
package address

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Check validates an address by its spelling alone, for the 422 of a POST; its message is suitable for clients. The
// host's IP address is checked when connecting. allowedHosts are host:port pairs that may be private or use plain http.
func Check(href string, allowedHosts []string) error {
	u, err := url.Parse(href)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || len(href) > 2048 || !isPort(u.Port()) {
		return errors.New("must be an absolute https address")
	}
	return CheckURL(u, allowedHosts)
}

// isPort reports whether a URL's port is valid or empty.
func isPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil
}

// CheckURL validates an address that is known to be absolute, as Check does.
func CheckURL(u *url.URL, allowedHosts []string) error {
	switch {
	case u.User != nil:
		return errors.New("must not contain a user name or password")
	case u.Scheme == "https", u.Scheme == "http" && Allowed(hostPort(u), allowedHosts):
		return nil
	case u.Scheme == "http":
		return errors.New("must be https: plain http is not allowed for this host")
	}
	return errors.New("must be an absolute https address")
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Allowed reports whether a host:port is among the allowed ones.
func Allowed(hostPort string, allowedHosts []string) bool {
	return slices.ContainsFunc(allowedHosts, func(a string) bool {
		return strings.EqualFold(strings.TrimSpace(a), hostPort)
	})
}
