// Package boards describes the simulated boards for chips without an operating system, and how a
// network becomes a program for them. A board is data; package engine/bareboard builds and runs. To
// add one, add a row here and its linker script to engine/bareboard/firmware.
package boards

// Board describes a board with one chip.
type Board struct {
	Target string // the chip, a name of package targets
	Title  string // for people

	Compiler string   // GCC for the chip
	Flags    []string // the compiler's options for the chip
	// Disassembler is the objdump that comes with the compiler.
	Disassembler string

	Simulator string // qemu for whole systems
	Machine   string // its -M, and the name of the linker script
	ClockHz   int64  // of the simulated processor, and its timers

	// Timings are the cycles of the chip's instructions; nil where its manual has none.
	Timings *Timings

	// FlushToZero is the setting of the float unit (FPSCR in C programs) that flushes subnormals to
	// zero and gives every NaN the same bits. 0 is the setting at start: IEEE arithmetic.
	FlushToZero uint32
}

// Script is the linker script in engine/bareboard/firmware, which says how much flash and RAM the
// board has, and where.
func (b Board) Script() string { return b.Machine + ".ld" }

// Install installs the compiler and the simulator of all boards, on Debian.
const Install = "apt-get install gcc-arm-none-eabi qemu-system-arm"

// All lists the boards.
func All() []Board {
	const flush = 1<<24 | 1<<25 // FZ, DN
	return []Board{
		{
			Target: "cortex-m4", Title: "Arm MPS2, AN386 (Cortex-M4F)",
			Compiler: "arm-none-eabi-gcc", Flags: []string{"-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16",
				"-mfloat-abi=hard"},
			Disassembler: "arm-none-eabi-objdump", Simulator: "qemu-system-arm", Machine: "mps2-an386", ClockHz: 25e6,
			Timings: cortexM4Timings(), FlushToZero: flush,
		},
		{
			Target: "cortex-m33", Title: "Arm MPS2+, AN505 (Cortex-M33)",
			Compiler: "arm-none-eabi-gcc", Flags: []string{"-mcpu=cortex-m33", "-mthumb", "-mfpu=fpv5-sp-d16",
				"-mfloat-abi=hard"},
			Disassembler: "arm-none-eabi-objdump", Simulator: "qemu-system-arm", Machine: "mps2-an505", ClockHz: 20e6,
			FlushToZero: flush,
			// No Timings: Arm's Technical Reference Manual of the Cortex-M33 (100230) has no table
			// of them.
		},
	}
}

// Of returns the board with which networks for target are tried out, and whether there is one.
func Of(target string) (Board, bool) {
	for _, b := range All() {
		if b.Target == target {
			return b, true
		}
	}
	return Board{}, false
}
