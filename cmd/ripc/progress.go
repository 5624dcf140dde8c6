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

// progress tells on standard error how far a long work is: on a terminal in one line that is written over, elsewhere by a
// line every few seconds. Short works are silent.
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

// step is called by the work; what says what is being done.
func (p *progress) step(done, total int, what string) {
	p.say(func() string { return fmt.Sprintf("%s (%d of %d)", strings.TrimSpace(what), done, total) })
}

// showTried is called by a search that builds schedules, with how many there were.
func (p *progress) showTried(n int) {
	p.say(func() string { return fmt.Sprintf("trying schedules (%d so far)", n) })
}

// room is how many characters a line may have that is written over, 0 being any number: one that fills the terminal's last column, or
// goes on in the next line, is not.
func (p *progress) room() int { return max(0, p.columns-1) }

// say shows a line, if it is time for one.
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

// done takes the line away.
func (p *progress) done() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.width, "")
		p.width = 0
	}
}
