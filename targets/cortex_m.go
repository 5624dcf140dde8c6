package targets

// cortexM4 is any microcontroller with a Cortex-M4F: 32-bit scalars, a float unit for single
// precision with fused multiply-adds, no vectors and no cache. VectorBits and Registers are those
// of its scalars.
func cortexM4() Target {
	return Target{
		Name:       "cortex-m4",
		Arch:       "thumb",
		CPU:        "cortex-m4",
		Features:   []string{"dsp"},
		VectorBits: 32,
		Registers:  13,
		CountOps:   12, // sums of neighbouring bits, written out
		Cores:      1,
		RAM:        128 << 10,
		Bare:       true,
		Board:      "microcontroller with a Cortex-M4F, no operating system; C source only",
	}
}

// cortexM33 is any microcontroller with a Cortex-M33 that has the float unit.
func cortexM33() Target {
	t := cortexM4()
	t.Name, t.CPU, t.Like = "cortex-m33", "cortex-m33", t.Name
	t.Board = "microcontroller with a Cortex-M33 and its float unit, no operating system; C source only"
	return t
}
