package engine

import (
	"cmp"
	"errors"

	"ripc/engine/bareboard"
	"ripc/engine/simulate"
	"ripc/runtime"
)

// Choose says how Open runs an artifact for arch that needs features of a CPU.
func Choose(arch string, features []string, o Options) Kind {
	if o.Simulate || arch != runtime.HostArch() || runtime.CheckFeatures("", "", features) != nil && simulate.Supports(arch) {
		return Simulated
	}
	return Native
}

// Open makes the artifact at path ready to run: in this process if this machine can, else in simulation; a program
// for a board without an operating system on that board, simulated. It fails as runtime.Load, simulate.Open and
// bareboard.Open do, or with *ThreadsError.
func Open(path string, o Options) (Engine, error) {
	d, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	o.Threads = cmp.Or(o.Threads, 1)
	if bareboard.IsProgram(d) {
		return openBoard(path, o)
	}
	if Choose(d.Arch, d.Features, o) == Native {
		e, err := openNative(path, o)
		if !errors.Is(err, runtime.ErrPlatform) {
			return e, err
		}
	}
	return openSimulated(path, o)
}

// fill writes a pattern that depends on seed.
func fill(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = byte(i)*37 ^ byte(i>>8) ^ seed
	}
	return b
}
