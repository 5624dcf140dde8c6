package driver

import "ripc/internal/abi"

// arch is the text that differs between architectures.
type arch struct {
	declare string // declarations
	enter   string // saves the float settings and sets ripc's
	leave   string // brings back the saved ones
	pause   string // lets the other hardware thread run
	spins   int    // pauses, with a load each, that take about 20 microseconds
	yield   string // the system call sched_yield
	base    string // the target with code for every Linux CPU of the architecture
	// the body of NAME_cpu_ok, which looks at the words that features are bits of, and ends in
	// "needs"
	cpu  string
	bits map[string][]bit // by feature: all bits that must be set for it
}

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
			declare: "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n",
			// Exceptions masked, nearest even, subnormal operands (0x0040) and results (0x8000) are
			// zero.
			enter: `  %csr = alloca i32
  %csr.ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  store i32 40896, ptr %csr.ours ; 0x9fc0
  call void @llvm.x86.sse.ldmxcsr(ptr %csr.ours)
`,
			leave: "  call void @llvm.x86.sse.ldmxcsr(ptr %csr)\n",
			pause: `call void asm sideeffect "pause", "~{memory}"()`,
			spins: 400,
			yield: `call i64 asm sideeffect "syscall", "={rax},{rax},~{rcx},~{r11},~{memory}"(i64 24)`,
			base:  "x86-64", cpu: cpuX86(), bits: bitsX86(),
		}, true
	case "aarch64":
		return arch{
			// Nearest even, no traps, and bit 24: subnormals are zero.
			enter: `  %fpcr = call i64 asm sideeffect "mrs $0, fpcr", "=r"()
  call void asm sideeffect "msr fpcr, $0", "r,~{memory}"(i64 16777216)
`,
			leave: `  call void asm sideeffect "msr fpcr, $0", "r,~{memory}"(i64 %fpcr)
`,
			pause: `call void asm sideeffect "yield", "~{memory}"()`,
			spins: 4000,
			yield: `call i64 asm sideeffect "svc #0", "={x0},{x8},~{memory}"(i64 124)`,
			base:  "generic-arm64", cpu: auxiliary("i64", callsARM64()), bits: bitsARM64(),
		}, true
	case "arm":
		return arch{
			// Nearest even, no traps, and bit 24: subnormals are zero. NEON does as if these were
			// set anyway.
			enter: `  %fpscr = call i32 asm sideeffect "vmrs $0, fpscr", "=r"()
  call void asm sideeffect "vmsr fpscr, $0", "r,~{memory}"(i32 16777216)
`,
			leave: `  call void asm sideeffect "vmsr fpscr, $0", "r,~{memory}"(i32 %fpscr)
`,
			pause: `call void asm sideeffect "yield", "~{memory}"()`,
			spins: 2000,
			yield: `call i32 asm sideeffect "svc #0", "={r0},{r7},~{memory}"(i32 158)`,
			base:  "generic-armv7", cpu: auxiliary("i32", callsARM()), bits: bitsARM(),
		}, true
	}
	return arch{}, false
}

// barrier writes the function that returns once all n threads have called it. sync holds the number
// of threads that have arrived (abi.Arrived) and, in a cache line of its own, how many barriers
// were passed (abi.Passed). The last to arrive clears the one and then raises the other, which the
// rest wait for: by looking for about 20 microseconds, then by giving the processor away between
// looks, so that more threads than cores do not starve each other.
func (w *driver) barrier() {
	w.line(`
define internal void @barrier(ptr %%sync, i32 %%n) noinline #0 {
entry:
  %%alone = icmp eq i32 %%n, 1
  br i1 %%alone, label %%done, label %%arrive

arrive:
  %%passed = getelementptr i8, ptr %%sync, i64 %[1]d
  %%mine = load atomic i32, ptr %%passed monotonic, align 4
  %%before = atomicrmw add ptr %%sync, i32 1 acq_rel, align 4
  %%count = add i32 %%before, 1
  %%last = icmp eq i32 %%count, %%n
  br i1 %%last, label %%release, label %%wait

release:
  store atomic i32 0, ptr %%sync monotonic, align 4
  %%next = add i32 %%mine, 1
  store atomic i32 %%next, ptr %%passed release, align 4
  br label %%done

wait:
  %%spin = phi i32 [ 0, %%arrive ], [ %%spun, %%again ]
  %%now = load atomic i32, ptr %%passed acquire, align 4
  %%waiting = icmp eq i32 %%now, %%mine
  br i1 %%waiting, label %%idle, label %%done

idle:
  %%patient = icmp ult i32 %%spin, %[2]d
  br i1 %%patient, label %%pause, label %%yield

pause:
  %[3]s
  %%more = add i32 %%spin, 1
  br label %%again

yield:
  %%ignored = %[4]s
  br label %%again

again:
  %%spun = phi i32 [ %%more, %%pause ], [ %%spin, %%yield ]
  br label %%wait

done:
  ret void
}`, abi.Passed, w.arch.spins, w.arch.pause, w.arch.yield)
}
