// Package objects emulates S3: gofakes3 keeps the objects as files in a directory, and a
// handler in front of it makes the checks that S3 and the functions' roles make in AWS: the
// signature and its expiry, the signer's permissions, and the signed size and checksum of
// an upload. It serves one bucket on 127.0.0.1, and only signed requests.
package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3afero"
	"github.com/spf13/afero"

	"skillscurriculum/pkg/api"
)

// Bucket is the name of the one bucket.
const Bucket = "documents"

// Secret is the secret access key of every access key.
const Secret = "local"

// Operator is the access key with the permissions of all functions.
const Operator = "local"

// maxObject is the maximum size of a document in bytes.
const maxObject = 25 << 20

// maxRejects is the maximum size of a file of rejected rows.
const maxRejects = 512 << 20

// Server configures the bucket.
type Server struct {
	Dir     string           // keeps the objects; "" keeps them in memory
	Now     func() time.Time // nil means time.Now
	Console *log.Logger      // may be nil
}

// Folder returns the directory that keeps the objects as files named by their keys.
func (s Server) Folder() string { return filepath.Join(s.Dir, "buckets", Bucket) }

// May returns the permissions of an access key. A function's access key is its name.
func May(accessKey string) api.Files {
	if accessKey == Operator {
		return api.Files{
			Signs: true, Lists: true, Reads: true, Removes: true, WritesRejects: true, ReadsRejects: true, RemovesRejects: true,
		}
	}
	return api.FilesOf(accessKey)
}

// Start serves the bucket on a free port of 127.0.0.1 until stop is called.
func (s Server) Start() (endpoint string, stop func(), err error) {
	handler, err := s.Handler()
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("object storage: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: s.Console}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// Handler returns the bucket as a handler.
func (s Server) Handler() (http.Handler, error) {
	files := afero.NewMemMapFs()
	if s.Dir != "" {
		var err error
		if files, err = s3afero.FsPath(s.Dir, s3afero.FsPathCreateAll); err != nil {
			return nil, fmt.Errorf("directory of the objects: %w", err)
		}
	}
	backend, err := s3afero.MultiBucket(files)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	if there, err := backend.BucketExists(Bucket); err != nil || !there {
		if err = errors.Join(err, backend.CreateBucket(Bucket)); err != nil {
			return nil, fmt.Errorf("bucket: %w", err)
		}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	// The handler below checks times itself.
	return handler{gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server(), s.Now}, nil
}

type handler struct {
	objects http.Handler
	now     func() time.Time
}

// refusal is an S3 error response.
type refusal struct {
	status        int
	code, message string
}

func (r refusal) Error() string { return r.code + ": " + r.message }

func denied(format string, args ...any) refusal {
	return refusal{http.StatusForbidden, "AccessDenied", fmt.Sprintf(format, args...)}
}

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// In AWS, a CORS rule of the bucket lets the console upload.
	if origin, err := url.Parse(r.Header.Get("Origin")); err == nil &&
		(origin.Hostname() == "127.0.0.1" || origin.Hostname() == "localhost") {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", http.MethodPut)
			w.Header().Set("Access-Control-Allow-Headers", "If-None-Match, X-Amz-Checksum-Sha256")
			return
		}
	}
	if err := h.allow(r); err != nil {
		refused, ok := errors.AsType[refusal](err)
		if !ok {
			refused = refusal{http.StatusBadRequest, "InvalidRequest", err.Error()}
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(refused.status)
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName struct{} `xml:"Error"`
			Code    string
			Message string
		}{Code: refused.code, Message: refused.message})
		return
	}
	h.objects.ServeHTTP(w, r)
}

// allow returns the error with which S3 would reject the request, or nil.
func (h handler) allow(r *http.Request) error {
	s, err := signatureOf(r)
	if err != nil {
		return err
	}
	if now := h.now(); now.After(s.at.Add(s.valid)) {
		return denied("Request has expired")
	}
	for name := range r.Header {
		name = strings.ToLower(name)
		if s.presigned && strings.HasPrefix(name, "x-amz-") && !slices.Contains(s.headers, name) {
			return denied("There were headers present in the request which were not signed: %s", name)
		}
	}
	if want, err := s.compute(r); err != nil || want != s.value {
		return refusal{http.StatusForbidden, "SignatureDoesNotMatch", "The request differs from the signed one."}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	may := May(s.accessKey)
	rejects, _ := path.Match(api.RejectsPattern, key)
	allowed := false
	switch {
	case bucket != Bucket:
	case r.Method == http.MethodPut && rejects && !s.presigned:
		allowed = may.WritesRejects
	case r.Method == http.MethodPut && key != "" && s.presigned:
		allowed = may.Signs
	case r.Method == http.MethodGet && key == "":
		allowed = may.Lists
	case r.Method == http.MethodGet:
		allowed = may.Reads || rejects && may.ReadsRejects
	case r.Method == http.MethodDelete && key != "":
		allowed = may.Removes || rejects && may.RemovesRejects
	}
	if !allowed {
		return denied("%s may not %s %s", s.accessKey, r.Method, r.URL.Path)
	}
	if r.Method == http.MethodPut && rejects {
		return checkBody(r, maxRejects)
	}
	if r.Method == http.MethodPut {
		return checkBody(r, maxObject)
	}
	return nil
}

// checkBody reads the body of an upload, which must have the signed checksum.
func checkBody(r *http.Request, most int64) error {
	if r.ContentLength > most {
		return refusal{http.StatusBadRequest, "EntityTooLarge", "The object is too large."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil || int64(len(body)) != r.ContentLength {
		return refusal{http.StatusBadRequest, "IncompleteBody", "The body does not have the length in Content-Length."}
	}
	sum := sha256.Sum256(body)
	if base64.StdEncoding.EncodeToString(sum[:]) != r.Header.Get("X-Amz-Checksum-Sha256") {
		return refusal{http.StatusBadRequest, "BadDigest", "The SHA256 you specified did not match the calculated checksum."}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// signature is a request's AWS Signature Version 4.
type signature struct {
	accessKey, region, value string
	headers                  []string // signed ones
	at                       time.Time
	valid                    time.Duration
	presigned                bool
}

const (
	algorithm = "AWS4-HMAC-SHA256"
	atLayout  = "20060102T150405Z"
	// skew is the permitted age of a request that is not presigned.
	skew = 15 * time.Minute
)

func signatureOf(r *http.Request) (signature, error) {
	query := r.URL.Query()
	s := signature{presigned: query.Has("X-Amz-Signature"), valid: skew}
	credential, headers, at := query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders"), query.Get("X-Amz-Date")
	s.value = query.Get("X-Amz-Signature")
	if s.presigned {
		seconds, err := strconv.Atoi(query.Get("X-Amz-Expires"))
		if err != nil || seconds < 1 {
			return s, denied("Query-string authentication requires X-Amz-Expires.")
		}
		s.valid = time.Duration(seconds) * time.Second
	} else {
		fields, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
		if !ok {
			return s, denied("Access Denied")
		}
		at = r.Header.Get("X-Amz-Date")
		for field := range strings.SplitSeq(fields, ",") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
			case "Credential":
				credential = value
			case "SignedHeaders":
				headers = value
			case "Signature":
				s.value = value
			}
		}
	}
	scope := strings.Split(credential, "/")
	if len(scope) != 5 {
		return s, denied("The credential is malformed.")
	}
	s.accessKey, s.region, s.headers = scope[0], scope[2], strings.Split(headers, ";")
	var err error
	if s.at, err = time.Parse(atLayout, at); err != nil {
		return s, denied("X-Amz-Date is missing or malformed.")
	}
	return s, nil
}

// compute returns the correct signature of the request.
func (s signature) compute(r *http.Request) (string, error) {
	location := *r.URL
	location.Scheme, location.Host = "http", r.Host
	query := location.Query()
	for _, name := range []string{"Algorithm", "Credential", "Date", "SignedHeaders", "Signature"} {
		query.Del("X-Amz-" + name)
	}
	location.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(r.Context(), r.Method, location.String(), nil)
	if err != nil {
		return "", err
	}
	for _, name := range s.headers {
		switch values := r.Header.Values(name); {
		case name == "content-length":
			request.ContentLength = r.ContentLength
		case name != "host":
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	credentials := aws.Credentials{AccessKeyID: s.accessKey, SecretAccessKey: Secret}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableHeaderHoisting, o.DisableURIPathEscaping = true, true })
	var signed string
	if s.presigned {
		signed, _, err = signer.PresignHTTP(r.Context(), credentials, request, "UNSIGNED-PAYLOAD", "s3", s.region, s.at)
	} else {
		err = signer.SignHTTP(r.Context(), credentials, request, r.Header.Get("X-Amz-Content-Sha256"), "s3", s.region, s.at)
		signed = request.Header.Get("Authorization")
	}
	_, value, _ := strings.Cut(signed, "Signature=")
	return value, err
}
