package syllabus

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"skillscurriculum/pkg/catalog"
)

// server is a real server on loopback, and a fetcher that is allowed to reach it.
func server(t *testing.T, h http.HandlerFunc) (*httptest.Server, *Fetcher) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s, &Fetcher{AllowedHosts: []string{s.Listener.Addr().String()}}
}

func wantFetchFailure(t *testing.T, f *Fetcher, href string, code catalog.FailureCode) {
	t.Helper()
	_, err := f.Fetch(context.Background(), href)
	var failure *catalog.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("%s: got %v, want %s", href, err, code)
	}
	if failure.Code != code {
		t.Errorf("%s: got %v, want %s", href, failure, code)
	}
	if strings.Contains(failure.Message, "SECRET") {
		t.Errorf("%s: the message shows what the server said: %s", href, failure.Message)
	}
}

func TestFetch(t *testing.T) {
	s, f := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("the fetch carries %v", r.Header)
		}
		switch r.URL.Path {
		case "/3":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
			http.Redirect(w, r, "/2", http.StatusFound)
		case "/2":
			http.Redirect(w, r, "1", http.StatusMovedPermanently)
		case "/1":
			http.Redirect(w, r, "/files/syllabus.md?token=x", http.StatusTemporaryRedirect)
		case "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="../a/Course.docx"`)
			fmt.Fprint(w, "text")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, strings.Repeat("text ", 100))
			_ = z.Close()
		default:
			w.Header().Set("Content-Type", "text/markdown")
			fmt.Fprint(w, "# text")
		}
	})
	for path, want := range map[string]Fetched{
		"/3":     {Body: []byte("# text"), ContentType: "text/markdown", FinalName: "syllabus.md"},
		"/named": {Body: []byte("text"), ContentType: "text/plain; charset=utf-8", FinalName: "Course.docx"},
	} {
		got, err := f.Fetch(context.Background(), s.URL+path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Body, want.Body) || got.ContentType != want.ContentType || got.FinalName != want.FinalName {
			t.Errorf("%s: got %q %q %q", path, got.Body, got.ContentType, got.FinalName)
		}
	}
	got, err := f.Fetch(context.Background(), s.URL+"/gzip")
	if err != nil || len(got.Body) != 500 {
		t.Errorf("gzip: %d bytes, %v", len(got.Body), err)
	}
}

func TestFetchStatuses(t *testing.T) {
	s, f := server(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
		if status != http.StatusNotModified {
			fmt.Fprint(w, "SECRET")
		}
	})
	for status, code := range map[int]catalog.FailureCode{
		300: catalog.Unreachable, 302: catalog.Unreachable, 304: catalog.Unreachable,
		400: catalog.DocumentNotFound, 401: catalog.LoginRequired, 402: catalog.DocumentNotFound, 403: catalog.LoginRequired,
		404: catalog.DocumentNotFound, 405: catalog.DocumentNotFound, 407: catalog.LoginRequired, 408: catalog.Unreachable,
		410: catalog.DocumentNotFound, 418: catalog.DocumentNotFound, 425: catalog.Unreachable, 429: catalog.Unreachable,
		451: catalog.DocumentNotFound, 500: catalog.Unreachable, 502: catalog.Unreachable, 503: catalog.Unreachable,
		599: catalog.Unreachable,
	} {
		wantFetchFailure(t, f, fmt.Sprintf("%s/%d", s.URL, status), code)
	}
}

func TestFetchRedirects(t *testing.T) {
	var reached atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer private.Close()
	var target string
	var hops int
	s, f := server(t, func(w http.ResponseWriter, r *http.Request) {
		hops++
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	})
	for location, code := range map[string]catalog.FailureCode{
		"https://169.254.169.254/latest/meta-data/":             catalog.ForbiddenAddress,
		"http://169.254.169.254/latest/meta-data/":              catalog.ForbiddenAddress,
		private.URL + "/":                                       catalog.ForbiddenAddress,
		strings.Replace(private.URL, "http:", "https:", 1):      catalog.ForbiddenAddress,
		strings.Replace(s.URL, "http://", "http://user:pw@", 1): catalog.ForbiddenAddress,
		"ftp://college.example/":                                catalog.ForbiddenAddress,
		"file:///etc/passwd":                                    catalog.ForbiddenAddress,
		"https://localhost/":                                    catalog.ForbiddenAddress,
		"//127.0.0.1:1/":                                        catalog.ForbiddenAddress,
		"http://%zz":                                            catalog.Unreachable,
		"/loop":                                                 catalog.Unreachable,
		strings.Replace(s.URL, "127.0.0.1", "2130706433", 1):    catalog.ForbiddenAddress,
		strings.Replace(private.URL, "http://127.0.0.1", "https://[::ffff:127.0.0.1]", 1): catalog.ForbiddenAddress,
	} {
		target, hops = location, 0
		wantFetchFailure(t, f, s.URL+"/start", code)
		if location == "/loop" && hops != 4 {
			t.Errorf("a loop was followed for %d requests, want 4", hops)
		}
	}
	if reached.Load() != 0 {
		t.Error("a private server was reached")
	}
}

func TestFetchForbiddenAddresses(t *testing.T) {
	// A listener on all addresses: what gets through would be answered.
	var reached atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	f := &Fetcher{
		limits: bounds{connect: 2 * time.Second, total: 2 * time.Second}, tls: &tls.Config{InsecureSkipVerify: true},
	}
	for _, host := range []string{
		"127.0.0.1", "127.8.9.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1",
		"0X7F.1", "0177.0.0.1",
		"017700000001", "127.0.0.01", "0", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001::1]", "[fe80::1]", "[fe80::1%25lo]", "[fc00::1]",
		"[fd00:ec2::254]",
		"[ff02::1]", "[100::1]", "[2001:db8::1]", "[fec0::1]", "localhost", "LOCALHOST", "localhost.", "any.localhost",
		"①②⑦.⓪.⓪.①", "１２７.0.0.1",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "169.254.170.2",
		"0xa9fea9fe", "2852039166",
		"100.64.0.1", "192.0.0.1", "198.18.0.1", "192.0.2.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
		"255.255.255.255", "1.2.3.4.5",
	} {
		wantFetchFailure(t, f, "https://"+host+":"+port+"/", catalog.ForbiddenAddress)
	}
	if reached.Load() != 0 {
		t.Error("a private address was reached")
	}
}

// nameServer responds to every question with the addresses, one per question in turn.
func nameServer(t *testing.T, addresses ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		asked := 0
		for buffer := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
					Body:   &dnsmessage.AResource{A: addresses[asked%len(addresses)]},
				}}
				asked++
			}
			packed, err := m.Pack()
			if err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestFetchNamesOfPrivateAddresses(t *testing.T) {
	for _, address := range [][4]byte{{127, 0, 0, 1}, {10, 1, 2, 3}, {169, 254, 169, 254}, {0, 0, 0, 0}} {
		f := &Fetcher{resolver: nameServer(t, address)}
		wantFetchFailure(t, f, "https://rebound.example/", catalog.ForbiddenAddress)
	}
}

// A name that changes from look-up to look-up gains nothing: whatever is dialled is
// judged, and nothing is remembered.
func TestFetchRebinding(t *testing.T) {
	f := &Fetcher{resolver: nameServer(t, [4]byte{192, 0, 2, 1}, [4]byte{127, 0, 0, 1})}
	for range 3 {
		wantFetchFailure(t, f, "https://rebound.example/", catalog.ForbiddenAddress)
	}
}

func TestFetchIgnoresProxies(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	wantFetchFailure(t, &Fetcher{}, "https://10.0.0.1/", catalog.ForbiddenAddress)
	if proxied.Load() != 0 {
		t.Error("the proxy of the environment was used")
	}
}

func TestFetchUnreachable(t *testing.T) {
	wantFetchFailure(t, &Fetcher{}, "https://no-such-host.invalid/", catalog.Unreachable)

	closed, f := server(t, nil)
	closed.Close()
	wantFetchFailure(t, f, closed.URL, catalog.Unreachable)

	reset, f := server(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	})
	wantFetchFailure(t, f, reset.URL, catalog.Unreachable)

	garbage, f := server(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_, _ = conn.Write([]byte("SECRET\r\n\r\n"))
		_ = conn.Close()
	})
	wantFetchFailure(t, f, garbage.URL, catalog.Unreachable)

	headers, f := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	wantFetchFailure(t, f, headers.URL, catalog.Unreachable)
}

func TestFetchChecksCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "text")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	f := &Fetcher{AllowedHosts: []string{s.Listener.Addr().String()}}
	wantFetchFailure(t, f, s.URL, catalog.Unreachable)
	f.tls = &tls.Config{RootCAs: x509.NewCertPool()}
	f.tls.RootCAs.AddCert(s.Certificate())
	if _, err := f.Fetch(context.Background(), s.URL); err != nil {
		t.Errorf("with its root: %v", err)
	}
}

func TestFetchStalls(t *testing.T) {
	release := make(chan struct{})
	short := bounds{connect: 200 * time.Millisecond, total: 300 * time.Millisecond}
	for name, h := range map[string]http.HandlerFunc{
		"before the header": func(http.ResponseWriter, *http.Request) { <-release },
		"in the body": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half of ")
			w.(http.Flusher).Flush()
			<-release
		},
	} {
		s := httptest.NewServer(h)
		f := &Fetcher{AllowedHosts: []string{s.Listener.Addr().String()}, limits: short}
		t.Run(name, func(t *testing.T) { wantFetchFailure(t, f, s.URL, catalog.TimedOut) })
		defer s.Close()
	}
	defer close(release)

	// A port that takes connections and says nothing stalls the TLS handshake.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	f := &Fetcher{AllowedHosts: []string{silent.Addr().String()}, limits: short}
	wantFetchFailure(t, f, "https://"+silent.Addr().String(), catalog.TimedOut)

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Fetch(gone, "https://"+silent.Addr().String()); err.(*catalog.Failure).Code != catalog.TimedOut {
		t.Errorf("a caller that gave up: %v", err)
	}
}

func TestFetchSizes(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 60 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	s, f := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/declared":
			w.Header().Set("Content-Length", fmt.Sprint(26<<20))
			w.WriteHeader(http.StatusOK)
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/lies-long":
			conn, buffer, _ := w.(http.Hijacker).Hijack()
			_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nSECRET")
			_ = buffer.Flush()
			_ = conn.Close()
		case "/lies-short":
			conn, buffer, _ := w.(http.Hijacker).Hijack()
			_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext and more")
			_ = buffer.Flush()
			_ = conn.Close()
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/ratio": // 10 MB out of 10 KB: within every absolute bound
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 10<<20))
			_ = z.Close()
		case "/cut":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes()[:20])
		case "/no-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "SECRET")
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "SECRET")
		}
	})
	for path, code := range map[string]catalog.FailureCode{
		"/declared": catalog.TooLarge, "/endless": catalog.TooLarge, "/bomb": catalog.TooLarge, "/ratio": catalog.TooLarge,
		"/lies-long": catalog.Unreachable, "/cut": catalog.Malformed, "/no-gzip": catalog.Malformed,
		"/brotli": catalog.UnsupportedType,
	} {
		wantFetchFailure(t, f, s.URL+path, code)
	}
	if got, err := f.Fetch(context.Background(), s.URL+"/lies-short"); err != nil || string(got.Body) != "text" {
		t.Errorf("got %q, %v", got.Body, err)
	}
}

// Whatever an address is, it is refused or reaches a public address; nothing on
// this machine is reached.
func FuzzFetchReachesNothingPrivate(f *testing.F) {
	for _, host := range []string{
		"127.0.0.1", "0x7f.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "a.example",
	} {
		f.Add(host)
	}
	var reached atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	f.Cleanup(s.Close)
	port := s.Listener.Addr().(*net.TCPAddr).Port
	local := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no names here")
	}}
	fetcher := &Fetcher{resolver: local, limits: bounds{connect: time.Second, total: time.Second}}
	f.Fuzz(func(t *testing.T, host string) {
		if net.ParseIP(strings.Trim(host, "[]")) != nil && !strings.HasPrefix(host, "127.") && host != "[::1]" {
			return // a public address would be dialled
		}
		_, err := fetcher.Fetch(context.Background(), fmt.Sprintf("https://%s:%d/", host, port))
		var failure *catalog.Failure
		if !errors.As(err, &failure) || reached.Load() > 0 {
			t.Errorf("%q: %v", host, err)
		}
	})
}
