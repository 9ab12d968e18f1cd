package runtime

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

// output writes a function's lines to its log file, and warnings to the console too.
type output struct {
	function string
	file     *os.File
	console  *log.Logger
}

// line logs a line that a process wrote.
func (o *output) line(process int, line string) {
	o.write(fmt.Sprintf("[%d] %s", process, line))
	if warns(line) {
		o.console.Printf("%s: %s", o.function, line)
	}
}

// printf logs a line about the function itself.
func (o *output) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.write(text)
	o.console.Printf("%s: %s", o.function, text)
}

func (o *output) write(text string) {
	// A single write keeps the lines of concurrent processes intact. Errors are ignored: a
	// full disk must not stop the stack.
	_, _ = o.file.WriteString(time.Now().UTC().Format("15:04:05.000 ") + text + "\n")
}

// warns reports whether a line is a structured warning or error, or the first line of a
// Go crash.
func warns(line string) bool {
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		return true
	}
	var record struct{ Level string }
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &record) != nil {
		return false
	}
	return strings.HasPrefix(record.Level, "WARN") || strings.HasPrefix(record.Level, "ERROR")
}
