package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"ripc/engine/simulate"
	"ripc/engine/wasm"
	"ripc/internal/abi"
	"ripc/internal/container"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets/boards"
)

// Choose returns the kind of engine that Open makes for an artifact for arch with CPU features.
func Choose(arch string, features []string, o Options) Kind {
	if o.Elsewhere != nil {
		return Remote
	}
	if p, ok := platformOf(arch); ok {
		return p.kind
	}
	if o.Simulate || runtime.CheckArch("", arch) != nil || runtime.CheckFeatures("", "", features) != nil &&
		simulate.Supports(arch) {
		return Simulated
	}
	return Native
}

// VirtualMachine names the one that runs code for arch with CPU features, "" if none does.
func VirtualMachine(arch string, features []string) string {
	if Choose(arch, features, Options{}) != Sandboxed {
		return ""
	}
	return wasm.Machine(features)
}

// opener returns the function that opens an artifact.
func opener(f container.File, d *describe.Artifact, o Options) func(path string, o Options) (Engine, error) {
	_, hasBoard := boards.Of(d.Target)
	p, hasPlatform := platformOf(d.Arch)
	switch {
	case o.Elsewhere != nil:
		return openFar
	case hasBoard && f.IsProgram(): // code in C for a chip may have been compiled for other machines, too
		return openBoard
	case hasPlatform:
		return p.open
	case Choose(d.Arch, d.Features, o) == Native:
		return openNative
	}
	return openSimulated
}

// Open makes the artifact at path ready to run: in this process if this machine can, else in
// simulation; a program for a board without an operating system on that board, simulated; and
// anything where Options.Elsewhere says. It fails as runtime.Load, simulate.Open and bareboard.Open
// do, or with *ThreadsError.
func Open(path string, o Options) (Engine, error) {
	d, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	f, file, err := container.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if o.Threads = cmp.Or(o.Threads, 1); o.Threads < 1 || o.Threads > abi.MaxThreads {
		return nil, &ThreadsError{o.Threads, abi.MaxThreads, fmt.Sprintf("1 to %d are possible", abi.MaxThreads)}
	}
	e, err := opener(f, d, o)(path, o)
	if errors.Is(err, runtime.ErrPlatform) { // a static program cannot load code
		e, err = openSimulated(path, o)
	}
	if err != nil && !o.Simulate && runtime.CheckArch(path, d.Arch) == nil &&
		Choose(d.Arch, d.Features, o) == Simulated {
		lacks := runtime.CheckFeatures(path, d.CPU, d.Features)
		err = fmt.Errorf("%w; a simulator cannot run it either: %w", lacks, err)
	}
	return e, err
}

// OpenLibrary is Open for the contents of a shared library, which it keeps in a temporary file
// until Close.
func OpenLibrary(so []byte, o Options) (Engine, error) {
	path, remove, err := WriteLibrary(so)
	if err != nil {
		return nil, err
	}
	e, err := Open(path, o)
	if err != nil {
		_ = remove()
		return nil, OwnLibrary(err)
	}
	return &temporary{e, remove}, nil
}

// OwnLibrary is err of a library that ripc itself has just made: where it cannot be loaded, its
// place is at fault.
func OwnLibrary(err error) error {
	if e := (*runtime.FileError)(nil); errors.As(err, &e) {
		return &PlaceError{Dir: os.TempDir(), Cause: e.Error()}
	}
	return err
}

// PlaceError says that the folder for temporary files does not let the system run compiled code.
type PlaceError struct {
	Dir   string
	Cause string
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("compiled code cannot be loaded from %s: %s (if code may not run there, as on a file system "+
		"mounted noexec, set TMPDIR to another folder)", e.Dir, e.Cause)
}

// WriteLibrary writes the contents of a shared library to a temporary folder, which remove removes.
func WriteLibrary(so []byte) (path string, remove func() error, err error) {
	return simulate.WriteLibrary(so)
}

// temporary is an engine for an artifact in a folder that goes with it.
type temporary struct {
	Engine
	remove func() error
}

func (t *temporary) Close() error { return errors.Join(t.Engine.Close(), t.remove()) }

// Pattern fills b with the contents that Job.Fill stands for, and returns it.
func Pattern(b []byte, seed byte) []byte { return simulate.Pattern(b, seed) }
