// Package wasm runs compiled networks that are modules of WebAssembly: by wazero in this process,
// and those with relaxed SIMD, which wazero lacks, in Node. A module cannot leave its memory, so
// its faults are errors.
package wasm

import (
	"fmt"
	"slices"
)

// Arch is the architecture of modules, as descriptions name it.
const Arch = "wasm32"

// Machine is the virtual machine that runs code with some CPU features.
func Machine(features []string) string {
	if needsNode(features) {
		return "Node"
	}
	return "wazero"
}

// needsNode reports whether code has relaxed SIMD, which wazero lacks.
func needsNode(features []string) bool { return slices.Contains(features, "relaxed-simd") }

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
