package verify

import (
	"errors"
	"fmt"
	"time"

	"ripc/engine"
)

// Running is the activity of compiled code.
type Running struct {
	Stage int    // index; -1 while the file is loaded, and the number of stages for the network as a whole
	What  string // "stage conv2", "network", "loading"
}

// Crash describes the end of compiled code that did not return.
type Crash struct {
	Running
	How string // "crashed (signal: segmentation fault)"
}

// String is, for example, "stage conv2: the compiled code crashed (signal: segmentation fault)".
func (c *Crash) String() string { return fmt.Sprintf("%s: the compiled code %s", c.What, c.How) }

// TimedOut is a Crash.How: not to return within limit.
func TimedOut(limit time.Duration) string {
	return (&engine.FaultError{Fault: engine.TimedOut, Limit: limit}).How()
}

// running gives the Running of stage i; len(Stages) is the network.
func (v *verifier) running(i int) Running {
	switch {
	case i < 0:
		return Running{i, "loading"}
	case i == len(v.in.Program.Stages):
		return Running{i, "network"}
	}
	s := v.in.Program.Stages[i]
	return Running{i, "stage " + s.Layer.Title(s.Name)}
}

// watch calls f, which runs stage i. If that is done in this process, Watch is told.
func (v *verifier) watch(kind engine.Kind, i int, f func() error) error {
	if v.in.Watch != nil && kind == engine.Native {
		r := v.running(i)
		v.in.Watch(v.report, &r)
		defer v.in.Watch(v.report, nil)
	}
	return f()
}

// noteCrash notes that compiled code did not come to its end in stage i, if err says so.
func (v *verifier) noteCrash(i int, err error) bool {
	var fault *engine.FaultError
	if !errors.As(err, &fault) {
		return false
	}
	v.report.Crash = &Crash{v.running(i), fault.How()}
	return true
}
