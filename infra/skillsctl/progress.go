package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress draws a bar with rate and remaining time if w is a terminal. The total may grow; below 0 it is unknown.
func progress(w io.Writer, what string) (step func(done, all int), end func()) {
	if file, ok := w.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return func(int, int) {}, func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionSetRenderBlankState(false))
	// Errors of the terminal do not stop the command.
	step = func(done, all int) {
		if bar.GetMax() != all {
			bar.ChangeMax(all)
		}
		_ = bar.Set(done)
	}
	return step, func() { _ = bar.Finish() }
}
