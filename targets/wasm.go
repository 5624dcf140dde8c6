package targets

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
		Board:      "browsers, Node and other machines that run WebAssembly with SIMD128",
	}
}
