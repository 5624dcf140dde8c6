// Package wasm runs compiled networks that are modules of WebAssembly, in this process, by wazero.
// A module cannot leave its memory, so its faults are errors.
package wasm

import (
	"fmt"
	"slices"
)

// Arch is the architecture of modules, as descriptions name it.
const Arch = "wasm32"

// Lacks returns a feature that wazero lacks, "" if it has all.
func Lacks(features []string) string {
	if relaxed := "relaxed-simd"; slices.Contains(features, relaxed) {
		return relaxed
	}
	return ""
}

// ThreadsError says that a module has one thread, since its memory is its own.
type ThreadsError struct{ Threads int }

func (e *ThreadsError) Error() string {
	return fmt.Sprintf("%d threads: the module has a memory of its own, and so one thread", e.Threads)
}

// TrapError says that the virtual machine stopped the module's code.
type TrapError struct {
	Cause string // for example "wasm error: out of bounds memory access"
	Err   error
}

func (e *TrapError) Error() string { return "the module stopped: " + e.Cause }

// Unwrap returns the virtual machine's error, with the functions that were being called.
func (e *TrapError) Unwrap() error { return e.Err }
