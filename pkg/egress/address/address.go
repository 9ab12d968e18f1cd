// Package address says which addresses of strangers may be taken, judged by their
// spelling alone: of syllabi that are to be fetched, and of receivers of webhooks. It
// stands apart from package egress so that functions that only take addresses do not
// load what connects to them.
package address

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Check judges an address by its spelling alone, for the 422 at POST; its message is
// fit for the client. The host's address is judged when connecting. allowedHosts holds
// host:port pairs that may be reached although private or by plain http.
func Check(href string, allowedHosts []string) error {
	u, err := url.Parse(href)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || len(href) > 2048 || !isPort(u.Port()) {
		return errors.New("must be an absolute https address")
	}
	return CheckURL(u, allowedHosts)
}

// isPort reports whether a URL's port, which may be missing, is one.
func isPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil
}

// CheckURL judges an address that is known to be an absolute one, as Check does.
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
	return slices.ContainsFunc(allowedHosts, func(a string) bool { return strings.EqualFold(strings.TrimSpace(a), hostPort) })
}
