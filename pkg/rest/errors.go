package rest

import (
	"errors"
	"fmt"
	"runtime/debug"

	"skillscurriculum/pkg/catalog"
)

func hasCode(err error, code catalog.Code) bool {
	var known *catalog.Error
	return errors.As(err, &known) && known.Code == code
}

func isAbsent(err error) bool { return hasCode(err, catalog.NotFound) }

// caught turns a panic into the error of the function that it is deferred in.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
