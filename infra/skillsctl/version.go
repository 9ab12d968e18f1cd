package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// release is the tag that the Makefile builds from; empty after a plain go build.
var release string

type version struct{}

// Run prints the version.
func (version) Run(t *tool) error {
	name := release
	if info, ok := debug.ReadBuildInfo(); ok && name == "" {
		name = info.Main.Version
	}
	built := struct {
		Version  string `json:"version"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{name, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	return t.show(built, func(w io.Writer) {
		fmt.Fprintf(w, "skillsctl %s (%s, %s)\n", built.Version, built.Go, built.Platform)
	})
}
