package need

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// log is a test that keeps its log and what it does at its end.
type log struct {
	testing.TB
	lines strings.Builder
	end   func()
}

func (l *log) Helper()                         {}
func (l *log) Cleanup(f func())                { l.end = f }
func (l *log) Logf(format string, args ...any) { fmt.Fprintf(&l.lines, format, args...) }

// TestPart: one case in n is taken, all for make thorough, and the log counts them.
func TestPart(t *testing.T) {
	for thorough, want := range map[string]string{"": "3 of 7 cases; make thorough takes all [0 3 6]", "1": "7 of 7 cases; make thorough takes all [0 1 2 3 4 5 6]"} {
		t.Setenv("RIPC_THOROUGH", thorough)
		l := &log{TB: t}
		takes := Part(l, 3)
		taken := slices.DeleteFunc([]int{0, 1, 2, 3, 4, 5, 6}, func(i int) bool { return !takes(i) })
		l.end()
		if got := fmt.Sprint(l.lines.String(), " ", taken); got != want {
			t.Errorf("%q: %s, not %s", thorough, got, want)
		}
	}
}
