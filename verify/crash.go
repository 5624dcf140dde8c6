package verify

import (
	"errors"
	"fmt"
	"time"

	"ripc/runtime"
)

// Running says what compiled code is doing.
type Running struct {
	Stage int    // index; -1 while the file is loaded, and the number of stages for the network as a whole
	What  string // "stage conv2", "network", "loading"
}

// Crash says how compiled code ended in another way than by returning.
type Crash struct {
	Running
	How string // "crashed (signal: segmentation fault)"
}

// String is, for example, "stage conv2: the compiled code crashed (signal: segmentation fault)".
func (c *Crash) String() string { return fmt.Sprintf("%s: the compiled code %s", c.What, c.How) }

// TimedOut is a Crash.How: not to return within limit.
func TimedOut(limit time.Duration) string {
	return fmt.Sprintf("did not return within %v", limit)
}

// crashError carries a Crash out of an engine.
type crashError struct{ crash Crash }

func (e *crashError) Error() string { return e.crash.String() }

// running gives the Running of stage i; len(Stages) is the network.
func (in *Input) running(i int) Running {
	switch {
	case i < 0:
		return Running{i, "loading"}
	case i == len(in.Program.Stages):
		return Running{i, "network"}
	}
	return Running{i, "stage " + in.Program.Stages[i].Name}
}

// watched calls f, which runs compiled code in this process.
func (in *Input) watched(i int, f func() error) error {
	r := in.running(i)
	if in.Watch != nil {
		in.Watch(in.report, &r)
		defer in.Watch(in.report, nil)
	}
	err := f()
	var status *runtime.StatusError
	if errors.As(err, &status) {
		return &crashError{Crash{r, "failed: " + status.Error()}}
	}
	return err
}
