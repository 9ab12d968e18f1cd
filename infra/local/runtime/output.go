package runtime

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

// output is where a function's lines go: all to its file, warnings to the
// terminal as well.
type output struct {
	function string
	file     *os.File
	console  *log.Logger
}

// line takes one line that a process wrote.
func (o *output) line(process int, line string) {
	o.write(fmt.Sprintf("[%d] %s", process, line))
	if warns(line) {
		o.console.Printf("%s: %s", o.function, line)
	}
}

// say writes a line about the function itself.
func (o *output) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.write(text)
	o.console.Printf("%s: %s", o.function, text)
}

func (o *output) write(text string) {
	// One write call keeps lines of several processes whole; a full disk must not stop the stack.
	_, _ = o.file.WriteString(time.Now().UTC().Format("15:04:05.000 ") + text + "\n")
}

// warns knows structured lines by their level, others only when Go is dying: the
// first line of its report, the rest is in the file.
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
