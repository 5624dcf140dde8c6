package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"ripc/internal/terminal"
)

// progress reports on standard error how far a long task is: on a terminal in one line that is
// overwritten, elsewhere by a line every few seconds. Short tasks are silent.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Time // nothing is said before
	columns  int       // of the terminal; 0 if that is not known
	width    int       // of the line to write over
}

// Delays and periods of messages.
const (
	quietFor       = 500 * time.Millisecond
	terminalPeriod = 100 * time.Millisecond
	linePeriod     = 5 * time.Second
)

func newProgress() *progress {
	p := &progress{w: os.Stderr, terminal: stderrIsTerminal()}
	p.next = time.Now().Add(linePeriod)
	if p.terminal {
		p.next = time.Now().Add(quietFor)
		p.columns = widthOf(os.Stderr, false)
	}
	return p
}

// step is called by the task; task names the current work.
func (p *progress) step(done, total int, task string) {
	p.say(func() string { return fmt.Sprintf("%s (%d of %d)", strings.TrimSpace(task), done, total) })
}

// showTried is called by a search with the number of schedules built so far.
func (p *progress) showTried(n int) {
	p.say(func() string { return fmt.Sprintf("trying schedules (%d so far)", n) })
}

// room returns the largest length of a line that can be overwritten, 0 for no limit. A line that
// fills the last column or wraps cannot.
func (p *progress) room() int { return max(0, p.columns-1) }

// say prints a line if one is due.
func (p *progress) say(text func() string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	line := terminal.Clean(text())
	if !p.terminal {
		p.next = now.Add(linePeriod)
		fmt.Fprintln(p.w, line)
		return
	}
	p.next = now.Add(terminalPeriod)
	if room := p.room(); room > 0 {
		line = shorten(line, room, cutTail)
	}
	fmt.Fprintf(p.w, "\r%-*s", p.width, line)
	p.width = utf8.RuneCountInString(line)
}

// done clears the line.
func (p *progress) done() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.width, "")
		p.width = 0
	}
}
