package verify

import (
	"errors"
	"fmt"

	"ripc/engine"
)

// Crash describes the end of compiled code that did not return.
type Crash struct {
	Stage int    // index; the number of stages for the network as a whole
	What  string // "stage conv2", "network"
	How   string // "crashed (signal: segmentation fault)"
}

// String is, for example, "stage conv2: the compiled code crashed (signal: segmentation fault)".
func (c *Crash) String() string { return fmt.Sprintf("%s: the compiled code %s", c.What, c.How) }

// noteCrash notes that compiled code did not come to its end in stage i, if err says so.
// len(Stages) is the network.
func (v *verifier) noteCrash(i int, err error) bool {
	var fault *engine.FaultError
	if !errors.As(err, &fault) {
		return false
	}
	what := "network"
	if i < len(v.in.Program.Stages) {
		what = "stage " + v.in.Program.Stages[i].Name
	}
	v.report.Crash = &Crash{i, what, fault.How()}
	return true
}
