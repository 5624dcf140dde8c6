package bareboard

import (
	"fmt"
	"strings"

	"ripc/engine/simulate"
)

// Setup is the command that installs the tools of this package.
const Setup = "scripts/setup-mcu.sh"

// ToolError says that a program is missing without which no board can be tried out.
type ToolError = simulate.ToolError

// SizeError says that a network does not fit on a board.
type SizeError struct {
	Name, Board string
	Footprint
}

// Error compares the needed memory with the board's.
func (e *SizeError) Error() string {
	var over []string
	if e.Flash > e.FlashLimit {
		over = append(over, fmt.Sprintf("flash: %d bytes needed, %d there", e.Flash, e.FlashLimit))
	}
	if e.RAM+e.Stack > e.RAMLimit {
		over = append(over, fmt.Sprintf("RAM: %d bytes needed with %d of stack, %d there", e.RAM+e.Stack, e.Stack,
			e.RAMLimit))
	}
	return fmt.Sprintf("%s does not fit on %s: %s", e.Name, e.Board, strings.Join(over, "; "))
}

// BuildError says that a program for a board could not be compiled or linked.
type BuildError struct {
	Command []string
	Output  string // the compiler's messages
	Err     error
}

// Error returns the command and the compiler's messages.
func (e *BuildError) Error() string {
	return fmt.Sprintf("%s: %v\n%s", strings.Join(e.Command, " "), e.Err, e.Output)
}

func (e *BuildError) Unwrap() error { return e.Err }

// RunError says that the program on a board ended otherwise than it should.
type RunError struct {
	Path   string
	Code   int    // how the simulator ended
	Hint   string // the meaning, if known
	Output string // messages of program and simulator, shortened
}

// Cause returns the end of the simulation, and its meaning.
func (e *RunError) Cause() string {
	s := fmt.Sprintf("exit code %d", e.Code)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Error gives the cause and the output.
func (e *RunError) Error() string {
	s := fmt.Sprintf("%s: the simulated board ended: %s", e.Path, e.Cause())
	if out := strings.TrimSpace(e.Output); out != "" {
		s += ": " + out
	}
	return s
}

// OverrunError says that a network wrote where it must not.
type OverrunError struct {
	Path string
	What string // e.g. "output 0"
	Job  int    // -1 if it is not known
}

// Error names the buffer.
func (e *OverrunError) Error() string {
	s := fmt.Sprintf("%s: the network wrote beyond the end of %s", e.Path, e.What)
	if e.Job >= 0 {
		s += fmt.Sprintf(" in job %d", e.Job)
	}
	return s
}
