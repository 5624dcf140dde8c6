package targets

import "fmt"

// riscv64 is the target for every 64-bit RISC-V machine that runs Linux distributions: RV64GC,
// which has no vectors. VectorBits and Registers are those of its scalars.
func riscv64() Target {
	return Target{
		Name:       "riscv64",
		Arch:       "riscv64",
		CPU:        "generic-rv64",
		Features:   []string{"m", "a", "f", "d", "c"},
		VectorBits: 64,
		Registers:  27, // without zero, ra, sp, gp and tp
		CountOps:   12, // sums of neighbouring bits, written out
		L1:         32 << 10,
		L2:         512 << 10,
		Cores:      4,
		QemuCPU:    "rv64,zba=false,zbb=false,zbc=false,zbs=false",
		Board:      "any 64-bit RISC-V machine with Linux (RV64GC), without vectors",
		Like:       "cortex-m4",
	}
}

// riscv64Vector is any machine of the profile RVA22U64 with V 1.0 and vector registers of the given
// bits. The feature zvl128b or zvl256b means exactly that length here: code that knows it needs no
// instructions to ask for it, and is wrong on longer registers. One register holds masks.
func riscv64Vector(bits int) Target {
	t := riscv64()
	t.Name = fmt.Sprint("riscv64-v", bits)
	t.Features = append(t.Features, "zba", "zbb", "zbs", "v", fmt.Sprintf("zvl%db", bits))
	t.VectorBits, t.Registers = bits, 31
	t.QemuCPU = fmt.Sprintf("rv64,v=true,vlen=%d,vext_spec=v1.0", bits)
	t.Board = fmt.Sprintf("any RISC-V machine with RVA22 and V 1.0, vectors of %d bits; tuned for none", bits)
	t.Like = "bpi-f3"
	return t
}

// riscv64Zvbb is a machine that counts the bits of lanes by one instruction, as RVA23 has it.
func riscv64Zvbb() Target {
	t := riscv64Vector(128)
	t.Name, t.CountOps, t.Like = "riscv64-zvbb", 1, "rpi4" // which counts as easily
	t.Features = append(t.Features, "zvbb")
	t.QemuCPU += ",zvbb=true" // since qemu 9
	t.Board = "any RISC-V machine with RVA23, vectors of 128 bits; tuned for none"
	return t
}

// bananaF3 is the Banana Pi F3. The sizes are those of SpacemiT's data sheet of the K1.
func bananaF3() Target {
	t := riscv64Vector(256)
	t.Name, t.CPU, t.InOrder = "bpi-f3", "spacemit-x60", true
	t.Cores, t.Threads = 8, 8
	t.ClockMHz = 1600 // docs.banana-pi.org/en/BPI-F3
	t.Board = "Banana Pi F3 (SpacemiT K1), 8 x X60 in order, vectors of 256 bits"
	t.Like = ""
	return t
}
