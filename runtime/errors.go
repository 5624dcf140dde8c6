package runtime

import (
	"errors"
	"fmt"
	"strings"

	"ripc/internal/abi"
	"ripc/targets/cpu"
)

// ErrClosed is returned by the methods of a closed Session or Module.
var ErrClosed = errors.New("runtime: closed")

// ErrPlatform is returned by Load where artifacts cannot be loaded at all.
var ErrPlatform = errors.New("runtime: artifacts are libraries for Linux and run on the processors that they are " +
	"compiled for")

// FileError is the reason why a file is no artifact for this loader.
type FileError struct {
	Path string
	Msg  string
	Err  error // the cause, or nil
}

// Error prints path, fault and cause.
func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Msg, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Msg)
}

// BadInput reports that the input is at fault.
func (*FileError) BadInput() bool { return true }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// FormatError says that the artifact was written for another version of the loader.
type FormatError struct {
	Path     string
	Got      string // the artifact's format
	Want     string // the loader's
	Compiler string // version of the compiler that wrote it, if it says so
}

// Error names both versions.
func (e *FormatError) Error() string {
	by := ""
	if e.Compiler != "" {
		by = fmt.Sprintf(" (written by ripc %s)", e.Compiler)
	}
	return fmt.Sprintf("%s: the artifact has format %q%s, this loader reads %q; compile the model again with this ripc",
		e.Path, e.Got, by, e.Want)
}

// BadInput reports that the input is at fault.
func (*FormatError) BadInput() bool { return true }

// ArchError says that the artifact is for another architecture than the host's.
type ArchError struct {
	Path string
	Got  string // the artifact's architecture
	Host string
}

// Error names both architectures.
func (e *ArchError) Error() string {
	return fmt.Sprintf("%s: the artifact is for %s, this machine is %s", e.Path, e.Got, e.Host)
}

// FeatureError lists features that the artifact needs and this machine (CPU and operating system)
// lacks.
type FeatureError struct {
	Path    string
	CPU     string   // name of the CPU the artifact was compiled for
	Missing []string // features known to be absent
	Unknown []string // features this loader cannot check
	// VectorBits is the length of this machine's vector registers, where code is for one length.
	VectorBits int
}

// Error lists the features.
func (e *FeatureError) Error() string {
	var parts, missing []string
	for _, name := range e.Missing {
		if bits := cpu.VectorBits(name); bits > 0 && e.VectorBits > 0 {
			name = fmt.Sprintf("vectors of %d bits (%s), since its own have %d", bits, name, e.VectorBits)
		} else if bits > 0 {
			name = fmt.Sprintf("vectors of %d bits (%s)", bits, name)
		}
		missing = append(missing, name)
	}
	if len(missing) > 0 {
		parts = append(parts, "this CPU (or its operating system) lacks "+strings.Join(missing, ", "))
	}
	if len(e.Unknown) > 0 {
		parts = append(parts, "this loader cannot check "+strings.Join(e.Unknown, ", "))
	}
	return fmt.Sprintf("%s: compiled for %s: %s", e.Path, e.CPU, strings.Join(parts, "; "))
}

// ThreadsError says that the system does not let this process have the threads of a session.
type ThreadsError struct {
	Path    string
	Threads int // of the session
	// Needed counts new threads: those of the session but its caller, and those that Go may need
	// for other goroutines.
	Needed int
	Got    int // of these
	Err    error
}

// Error has the number of threads, and possible limits.
func (e *ThreadsError) Error() string {
	return fmt.Sprintf("%s: a session of %d threads, with Go's own, needs %d new ones, and the system gives %d "+
		"(%v): take fewer, or raise the limit (ulimit -u, a container's limit of pids)",
		e.Path, e.Threads, e.Needed, e.Got, e.Err)
}

// Unwrap returns the cause.
func (e *ThreadsError) Unwrap() error { return e.Err }

// StatusError is a non-zero return value of an artifact's entry point.
type StatusError struct {
	Name string // the artifact's name
	// Code is 1 for tid >= nthreads, more than 256 threads or a missing sync, 2 for a buffer that
	// is null or not aligned, 3 for no such stages.
	Code int
}

// Error explains the code.
func (e *StatusError) Error() string {
	why := "unknown code"
	switch e.Code {
	case abi.BadThreads:
		why = "bad number of threads"
	case abi.BadBuffer:
		why = fmt.Sprintf("a buffer is null or not aligned to %d bytes", abi.Align)
	case abi.BadStages:
		why = "no such stages"
	}
	return fmt.Sprintf("%s_run returned %d: %s", e.Name, e.Code, why)
}
