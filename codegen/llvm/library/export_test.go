package library

import (
	"os"
	"time"
)

// Idle are the processes that wait for a kernel.
func (l *Library) Idle() []*os.Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*os.Process
	for _, c := range l.idle {
		out = append(out, c.cmd.Process)
	}
	return out
}

// CloseRequests does to the idle children what the end of this process would, and returns what waits for their ends.
func (l *Library) CloseRequests() (wait []func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.idle {
		c.waiting.Stop()
		c.requests.Close()
		wait = append(wait, c.cmd.Wait)
	}
	l.idle = nil
	return wait
}

// SetLimit changes how long a child may take for a kernel.
func (l *Library) SetLimit(d time.Duration) { l.limit = d }

// Unfit are the reasons for which settings are left to the tools.
func (l *Library) Unfit() (out []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, err := range l.unfit {
		out = append(out, err)
	}
	return out
}

// Use makes the idle children as old as if they had compiled n more kernels.
func (l *Library) Use(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.idle {
		c.compiled += n
	}
}

const (
	Uses     = uses
	Patience = patience
)
