package bareboard

import (
	"fmt"
	"strings"

	"ripc/engine/simulate"
)

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
