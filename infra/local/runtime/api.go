package runtime

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// routes serves the Lambda Runtime API, version 2018-06-01. The first segment of a path
// is the number of the process, which is part of its AWS_LAMBDA_RUNTIME_API.
func (r *Runtime) routes() http.Handler {
	const base = "/{process}/2018-06-01/runtime/"
	mux := http.NewServeMux()
	handle := func(pattern string, serve func(*process, http.ResponseWriter, *http.Request)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+base+path, func(w http.ResponseWriter, request *http.Request) {
			number, err := strconv.Atoi(request.PathValue("process"))
			r.mu.Lock()
			p := r.processes[number]
			r.mu.Unlock()
			if err != nil || p == nil {
				respond(w, http.StatusForbidden, "InvalidProcess", "no such process")
				return
			}
			serve(p, w, request)
		})
	}
	handle("GET invocation/next", serveNext)
	handle("POST invocation/{id}/response", serveResponse)
	handle("POST invocation/{id}/error", serveError)
	handle("POST init/error", serveInitError)
	return mux
}

func serveNext(p *process, w http.ResponseWriter, request *http.Request) {
	i, deadline, err := p.next(request.Context())
	if err != nil {
		return // the process is gone
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Lambda-Runtime-Aws-Request-Id", i.id)
	header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(deadline.UnixMilli(), 10))
	header.Set("Lambda-Runtime-Invoked-Function-Arn", arn(p.function.Name))
	_, _ = w.Write(i.payload)
}

// largestResponse is Lambda's limit, in bytes.
const largestResponse = 6<<20 + 100<<10

func serveResponse(p *process, w http.ResponseWriter, request *http.Request) {
	id := request.PathValue("id")
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, largestResponse))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		failure := p.function.fail("Function.ResponseSizeTooLarge", "the response is larger than %d bytes", largestResponse)
		p.done(id, nil, failure)
		respond(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the response is too large")
		return
	}
	if err != nil {
		return // the process died, which ends the invocation
	}
	finish(p, w, id, body, nil)
}

func serveError(p *process, w http.ResponseWriter, request *http.Request) {
	finish(p, w, request.PathValue("id"), nil, reported(p, request))
}

func serveInitError(p *process, w http.ResponseWriter, request *http.Request) {
	p.function.output.printf("initialization failed: %v", reported(p, request))
	respond(w, http.StatusAccepted, "", "")
}

// reported reads the error in a function's request.
func reported(p *process, request *http.Request) *Error {
	var reported struct{ ErrorType, ErrorMessage string }
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &reported)
	}
	if err != nil {
		reported.ErrorMessage = err.Error()
	}
	if reported.ErrorType == "" {
		reported.ErrorType = "Runtime.UnknownReason"
	}
	return p.function.fail(reported.ErrorType, "%s", reported.ErrorMessage)
}

func finish(p *process, w http.ResponseWriter, id string, body []byte, failure *Error) {
	if !p.done(id, body, failure) {
		respond(w, http.StatusBadRequest, "InvalidRequestID", "the process does not have this invocation")
		return
	}
	respond(w, http.StatusAccepted, "", "")
}

func respond(w http.ResponseWriter, status int, kind, message string) {
	body := map[string]string{"status": "OK"}
	if kind != "" {
		body = map[string]string{"errorType": kind, "errorMessage": message}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
