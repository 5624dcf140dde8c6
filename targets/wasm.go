package targets

import "slices"

// Variants lists targets that run the schedules of t on fewer machines, and faster.
func (t Target) Variants() []Target {
	if t.Name == wasm32().Name {
		return []Target{wasm32Relaxed()}
	}
	return nil
}

// Atomics is the feature of modules of WebAssembly that run in several threads.
const Atomics = "atomics"

// Threaded is t for code that threads run in one memory. Elsewhere all code is of that kind.
func (t Target) Threaded() Target {
	if t.Arch == wasm32().Arch {
		t.Features = append(slices.Clone(t.Features), Atomics)
	}
	return t
}

// wasm32Relaxed has operations that each machine may round in a way of its own, too. Code uses them
// where the machine fuses multiply-adds, and does not load elsewhere.
func wasm32Relaxed() Target {
	t := wasm32()
	t.Name, t.Features = "wasm32-relaxed", append(t.Features, "relaxed-simd")
	t.Board = "browsers with relaxed SIMD, on machines with fused multiply-adds"
	t.Like = "x86-64"
	return t
}

// wasm32 is WebAssembly with vectors of 128 bits. A virtual machine compiles it for the machine
// that it runs on. Caches and registers are those of small ones.
func wasm32() Target {
	return Target{
		Name:       "wasm32",
		Arch:       "wasm32",
		CPU:        "generic",
		Features:   []string{"simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext"},
		VectorBits: 128,
		Registers:  16,
		CountOps:   3, // i8x16.popcnt and two sums of neighbours
		L1:         32 << 10,
		L2:         256 << 10,
		Cores:      1,
		Fetched:    true,
		Board:      "browsers, Node and other machines that run WebAssembly with SIMD128",
		Like:       "wasm32-relaxed", // measured in Node, as browsers compile it
	}
}
