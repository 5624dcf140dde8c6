package driver

import (
	"fmt"
	"strings"
)

// arch is the text that differs between architectures.
type arch struct {
	Declare string // declarations
	Enter   string // saves the float settings and sets ripc's
	Leave   string // brings back the saved ones
	Pause   string // lets the other hardware thread run
	Spins   int    // pauses, with a load each, that take about 200 microseconds
	system
	// Wake and Sleep do so without a system call, at %gate, where threads share memory. Sleep
	// returns at once if the word there is not %g.
	Wake, Sleep string
	// Awake says that thread 0 never sleeps: a web page must not, and its thread is that one.
	Awake bool
	base  string // the target with code for every Linux CPU of the architecture
	// cpu is the template, of cpu.ll, with the body of NAME_cpu_ok. It looks at the words that
	// features are bits of, and ends in "needs".
	cpu  string
	bits map[string][]bit // by feature: all bits that must be set for it
	// probe is a body for targets with a feature, which is compiled for the target itself.
	probe probe
	// unsure are words that the kernel may not tell, which are then all ones, with the answer for
	// a CPU that lacks nothing.
	unsure map[string]string
}

// system is how code calls Linux. The zero value stands for machines without it.
type system struct {
	instruction string
	registers   []string // of the result, the number of the call, and its arguments
	changed     string   // constraints of other registers that it changes
	Word        string   // type of a register
	numbers     map[string]int
}

// Call is the system call name. Arguments are words, or have their type before them.
func (s system) Call(name string, args ...string) string {
	constraints := "={" + strings.Join(s.registers[:2+len(args)], "},{") + "}," + s.changed + "~{memory}"
	text := fmt.Sprintf("call %s asm sideeffect %q, %q(%s %d", s.Word, s.instruction, constraints, s.Word,
		s.numbers[name])
	for _, a := range args {
		if !strings.Contains(a, " ") {
			a = s.Word + " " + a
		}
		text += ", " + a
	}
	return text + ")"
}

// commonNumbers are those of architectures that came to Linux late (asm-generic/unistd.h).
func commonNumbers() map[string]int {
	return map[string]int{"openat": 56, "close": 57, "read": 63, "futex": 98, "sched_yield": 124, "riscv_hwprobe": 258}
}

// probe is a body of NAME_cpu_ok.
type probe struct{ feature, declare, cpu string }

// bit is one of a word of the body cpu.
type bit struct {
	word string
	n    int
}

// archs finds the text of an architecture.
func archs(name string) (arch, bool) {
	switch name {
	case "x86_64":
		return arch{
			Declare: "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n",
			// Exceptions masked, nearest even, subnormal operands (0x0040) and results (0x8000) are
			// zero.
			Enter: `  %csr = alloca i32
  %csr.ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  store i32 40896, ptr %csr.ours ; 0x9fc0
  call void @llvm.x86.sse.ldmxcsr(ptr %csr.ours)
`,
			Leave: "  call void @llvm.x86.sse.ldmxcsr(ptr %csr)\n",
			Pause: `call void asm sideeffect "pause", "~{memory}"()`,
			Spins: 4000,
			system: system{"syscall", []string{"rax", "rax", "rdi", "rsi", "rdx", "r10"}, "~{rcx},~{r11},", "i64",
				map[string]int{"sched_yield": 24, "futex": 202}},
			base: "x86-64", cpu: "x86", bits: bitsX86(),
		}, true
	case "aarch64":
		return arch{
			// Nearest even, no traps, and bit 24: subnormals are zero.
			Enter: `  %fpcr = call i64 asm sideeffect "mrs $0, fpcr", "=r"()
  call void asm sideeffect "msr fpcr, $0", "r,~{memory}"(i64 16777216)
`,
			Leave: `  call void asm sideeffect "msr fpcr, $0", "r,~{memory}"(i64 %fpcr)
`,
			Pause:  `call void asm sideeffect "yield", "~{memory}"()`,
			Spins:  40000,
			system: system{"svc #0", []string{"x0", "x8", "x0", "x1", "x2", "x3"}, "", "i64", commonNumbers()},
			base:   "generic-arm64", cpu: "linux", bits: bitsARM64(),
		}, true
	case "arm":
		return arch{
			// Nearest even, no traps, and bit 24: subnormals are zero. NEON does as if these were
			// set anyway.
			Enter: `  %fpscr = call i32 asm sideeffect "vmrs $0, fpscr", "=r"()
  call void asm sideeffect "vmsr fpscr, $0", "r,~{memory}"(i32 16777216)
`,
			Leave: `  call void asm sideeffect "vmsr fpscr, $0", "r,~{memory}"(i32 %fpscr)
`,
			Pause: `call void asm sideeffect "yield", "~{memory}"()`,
			Spins: 20000,
			system: system{"svc #0", []string{"r0", "r7", "r0", "r1", "r2", "r3"}, "", "i32",
				map[string]int{"read": 3, "close": 6, "sched_yield": 158, "futex": 240, "openat": 322}},
			base: "generic-armv7", cpu: "linux", bits: bitsARM(),
		}, true
	case "riscv64":
		return arch{
			// Nearest even, no flags. No mode flushes subnormals.
			Enter: `  %fcsr = call i64 asm sideeffect "frcsr $0", "=r"()
  call void asm sideeffect "fscsr zero", "~{memory}"()
`,
			Leave: `  call void asm sideeffect "fscsr $0", "r,~{memory}"(i64 %fcsr)
`,
			Pause: `call void asm sideeffect ".4byte 0x0100000f", "~{memory}"()`, // pause, a hint of Zihintpause
			Spins: 20000,
			system: system{"ecall", []string{"x10", "x17", "x10", "x11", "x12", "x13", "x14"}, "", "i64",
				commonNumbers()},
			base: "riscv64", cpu: "riscv", bits: bitsRISCV(),
			unsure: map[string]string{"hwprobe": "%hwprobe.answer"},
		}, true
	case "loongarch64":
		return arch{
			// Nearest even, no traps, no flags. No mode flushes subnormals.
			Enter: `  %fcsr = call i64 asm sideeffect "movfcsr2gr $0, $$fcsr0", "=r"()
  call void asm sideeffect "movgr2fcsr $$fcsr0, $$zero", "~{memory}"()
`,
			Leave: `  call void asm sideeffect "movgr2fcsr $$fcsr0, $0", "r,~{memory}"(i64 %fcsr)
`,
			Pause: `call void asm sideeffect "nop", "~{memory}"()`,
			Spins: 100000,
			system: system{"syscall 0", []string{"$r4", "$r11", "$r4", "$r5", "$r6", "$r7"}, "", "i64",
				commonNumbers()},
			base: "loongarch64", cpu: "linux", // floats of both widths are one bit of Linux's (asm/hwcap.h)
			bits: map[string][]bit{"ual": {{"hwcap", 2}}, "f": {{"hwcap", 3}}, "d": {{"hwcap", 3}}},
		}, true
	case "wasm32":
		// There is no float setting to change, and no feature to look for: a machine that lacks one
		// does not load the module.
		return arch{
			Declare: "declare i32 @llvm.wasm.memory.atomic.wait32(ptr, i32, i64)\n" +
				"declare i32 @llvm.wasm.memory.atomic.notify(ptr, i32)\n",
			Pause: `call void asm sideeffect "", "~{memory}"()`,
			Spins: 100000,
			// A short sleep, since a virtual machine may be unable to stop a thread that sleeps.
			Wake:  "  %woken = call i32 @llvm.wasm.memory.atomic.notify(ptr %gate, i32 -1)\n",
			Sleep: "  %slept = call i32 @llvm.wasm.memory.atomic.wait32(ptr %gate, i32 %g, i64 10000000)\n",
			Awake: true,
			base:  "wasm32", cpu: "wasm",
			bits: map[string][]bit{"simd128": {{"valid", 0}}, "bulk-memory": {{"valid", 0}},
				"nontrapping-fptoint": {{"valid", 0}}, "sign-ext": {{"valid", 0}}, "atomics": {{"valid", 0}},
				"relaxed-simd": {{"valid", 0}}},
			// The square of 1 + 2^-12, less 1 + 2^-11, is 2^-24. Rounded twice, it is 0. 5 plus
			// four products of 3 and -1 is -7: Node 20's baseline compiler adds the products to
			// themselves where nothing else reads the old sum, which is loaded for that.
			probe: probe{"relaxed-simd",
				"declare <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float>, <4 x float>, <4 x float>)\n" +
					"declare <4 x i32> @llvm.wasm.relaxed.dot.i8x16.i7x16.add.signed(<16 x i8>, <16 x i8>, " +
					"<4 x i32>)\n" +
					"@fives = internal constant <4 x i32> splat (i32 5)\n",
				`  br label %needs

needs:
  %x = call <4 x float> asm "", "=r,0"(<4 x float> splat (float 0x3FF0010000000000))
  %sums = call <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float> %x, <4 x float> %x,
    <4 x float> splat (float 0xBFF0020000000000))
  %sum = extractelement <4 x float> %sums, i32 0
  %fused = fcmp oeq float %sum, 0x3E70000000000000
  %threes = call <16 x i8> asm "", "=r,0"(<16 x i8> splat (i8 3))
  %fives = load volatile <4 x i32>, ptr @fives
  %dots = call <4 x i32> @llvm.wasm.relaxed.dot.i8x16.i7x16.add.signed(<16 x i8> splat (i8 -1),
    <16 x i8> %threes, <4 x i32> %fives)
  %dot = extractelement <4 x i32> %dots, i32 0
  %added = icmp eq i32 %dot, -7
  %right = and i1 %fused, %added
  %valid = sext i1 %right to i64
`},
		}, true
	}
	return arch{}, false
}
