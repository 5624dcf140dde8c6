package simulate

import (
	"fmt"
	"strings"

	"ripc/internal/tools"
	"ripc/runtime"
)

// ToolError says that a program this package needs is not there, and how to get it.
type ToolError = tools.MissingError

// FileError says why an artifact cannot be simulated; it is the loader's own.
type FileError = runtime.FileError

// RunError says that the artifact's process failed as a whole.
type RunError struct {
	Path   string
	Job    int    // the job that was running; -1 if it is not known
	Status string // how the process ended
	Hint   string // the meaning, if known
	Output string // its messages, shortened
}

// Error prints status, meaning and output.
func (e *RunError) Error() string {
	s := e.Path + ": ended"
	if e.Job >= 0 {
		s += fmt.Sprintf(" in job %d", e.Job)
	}
	s += ": " + e.Status
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	if out := strings.TrimSpace(e.Output); out != "" {
		s += ": " + out
	}
	return s
}

// Cause is the status, with the hint.
func (e *RunError) Cause() string {
	if e.Hint != "" {
		return e.Status + ": " + e.Hint
	}
	return e.Status
}

// SimulatorError says that the simulator, not the artifact, is at fault.
type SimulatorError struct{ Path, Why string }

func (e *SimulatorError) Error() string { return e.Path + ": " + e.Why }

// MissingTool marks errors about missing programs: a later simulator is needed.
func (*SimulatorError) MissingTool() {}

// OverrunError says that the artifact wrote where it must not.
type OverrunError struct {
	Path string
	What string // e.g. "output 0 of job 2"
}

// Error names the buffer.
func (e *OverrunError) Error() string {
	return fmt.Sprintf("%s: the artifact wrote beyond the end of %s", e.Path, e.What)
}
