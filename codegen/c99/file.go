package c99

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// prelude begins every file.
const prelude = `/* {name}.c: the network "{title}", compiled by ripc {version} for {target}. Generated; do not edit.
 *
 * One file of C99 that calls no library: the functions at its end are declared, and their use is shown, in the header
 * that goes with it. Build it with any compiler, for any little-endian chip whose float and double are IEEE's:
 *
 *     cc -std=c99 -O2 -c {name}.c
 *
 * It computes the same bits with every compiler and every option, but for those that let floats be less exact
 * (-ffast-math), and in the float environment that programs start with. What can be defined before it is compiled:
 *
 * RIPC_FLUSH_TO_ZERO leaves out the code that flushes subnormal floats, on an Arm float unit that does it: FPSCR.FZ (or FPCR.FZ)
 *                    has to be set in each thread that calls; results are then those of ripc's libraries for Arm
 * RIPC_DSP           0 leaves out what Arm's DSP extension does; 1 asks for it where the compiler does not say that it is there
 * RIPC_NO_DESCRIBE   leaves the description out, which {name}_describe returns
 * RIPC_NO_THREADS    leaves the barrier out, so that nthreads must be 1
 * RIPC_YIELD()       gives the processor away while a thread waits for others
 * RIPC_UNROLL(n)     goes before loops that are to be unrolled n times
 * RIPC_VECTOR        goes before loops whose iterations do not depend on each other, one for each lane of a vector
 * RIPC_LANES(n)      goes before such loops of few lanes; where a chip has no vectors they are unrolled
 */
#if defined(__cplusplus)
#error "this is C, not C++: compile it as C and include the header in C++"
#endif
#include <float.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors and weights are little-endian, and this machine is not"
#endif
#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || DBL_MANT_DIG != 53
#error "float and double must have 32 and 64 bits (IEEE 754)"
#endif
#if !defined(FLT_EVAL_METHOD) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
#error "floats must be computed as floats: on x86, compile with -msse2 -mfpmath=sse"
#endif
#if defined(__FAST_MATH__)
#error "floats must be exact: compile without -ffast-math"
#endif
#if !defined(RIPC_FLUSH_TO_ZERO)
#define RIPC_FLUSHES 0
#elif defined(__GNUC__) && defined(__ARM_FEATURE_FMA)
#define RIPC_FLUSHES 1
#else
#error "RIPC_FLUSH_TO_ZERO is for Arm float units that have fused multiply-adds: compile without it"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* This pass of GCC reads elements that another thread writes, and writes them back. */
#pragma GCC push_options
#pragma GCC optimize("no-predictive-commoning")
#if defined(__ARM_ARCH) && __ARM_ARCH_PROFILE == 'M'
/* Few registers: what is loaded long before it is used is spilled. */
#pragma GCC optimize("no-schedule-insns")
#endif
#endif

{common}
#ifndef RIPC_C_DEFINED
#define RIPC_C_DEFINED
/* Elements in memory: the same bytes hold tensors of several types, one after the other, and words are read as bytes.
 * Compilers other than GCC and Clang that reason by types must be told not to (-fno-strict-aliasing). */
#if defined(__GNUC__)
#define RIPC_ELEMENT __attribute__((__may_alias__))
#else
#define RIPC_ELEMENT
#endif
#if defined(__GNUC__)
#define RIPC_USED __attribute__((__used__))
/* A function of its own, whose loops do not share registers with other layers. */
#define RIPC_KERNEL __attribute__((__noinline__))
#else
#define RIPC_USED
#define RIPC_KERNEL
#endif
typedef int8_t RIPC_ELEMENT rc_i8;
typedef int16_t RIPC_ELEMENT rc_i16;
typedef int32_t RIPC_ELEMENT rc_i32;
typedef int64_t RIPC_ELEMENT rc_i64;
typedef uint8_t RIPC_ELEMENT rc_u8;
typedef uint16_t RIPC_ELEMENT rc_u16;
typedef uint32_t RIPC_ELEMENT rc_u32;
typedef uint64_t RIPC_ELEMENT rc_u64;
typedef uint8_t RIPC_ELEMENT rc_bool;
typedef float RIPC_ELEMENT rc_f32;
#endif
#ifndef RIPC_UNROLL
#if defined(__clang__)
#define RIPC_UNROLL(n) _Pragma("unroll")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define RIPC_PRAGMA(text) _Pragma(#text)
#define RIPC_UNROLL(n) RIPC_PRAGMA(GCC unroll n)
#else
#define RIPC_UNROLL(n)
#endif
#endif
#ifndef RIPC_VECTOR
#if defined(__GNUC__) && !defined(__clang__)
#define RIPC_VECTOR _Pragma("GCC ivdep")
#else
#define RIPC_VECTOR
#endif
#endif
#ifndef RIPC_LANES
#if defined(__ARM_ARCH) && !defined(__ARM_NEON) && !defined(__ARM_FEATURE_MVE)
#define RIPC_LANES(n) RIPC_UNROLL(n)
#else
#define RIPC_LANES(n) RIPC_VECTOR
#endif
#endif
#ifndef RIPC_COND
#if defined(__GNUC__) && !defined(__clang__) && \
    (__GNUC__ < 12 || (__GNUC__ == 12 && __GNUC_MINOR__ < 4) || (__GNUC__ == 13 && __GNUC_MINOR__ < 3))
/* These versions make vectors of conditional loads with lanes in the wrong order (GCC's bug 114375), unless they cannot see
 * through the condition. */
static inline int rc_opaque(int c)
{
    __asm__("" : "+r"(c));
    return c;
}
#define RIPC_COND(c) rc_opaque(c)
#else
#define RIPC_COND(c) (c)
#endif
#endif

`

// file writes the whole source.
func file(m *codegen.Image) ([]byte, error) {
	u := newUnit(m.Floats)
	for _, e := range m.Exports() {
		u.names[e] = true
	}
	index := m.Program.Index()
	var kernels strings.Builder
	for _, name := range m.Order {
		text, err := u.kernel(index.Func(name), m.Kernels[name].Symbol)
		if err != nil {
			return nil, err
		}
		kernels.WriteString(text)
	}
	var out bytes.Buffer
	out.WriteString(strings.NewReplacer("{common}", codegen.Common, "{name}", m.Name, "{title}",
		codegen.Comment(m.Program.Name),
		"{version}", codegen.Comment(m.Version), "{target}", codegen.Comment(m.Target.Name)).Replace(prelude))
	out.WriteString(u.helperText())
	out.WriteString(u.instrText())
	out.WriteString(kernels.String())
	writeWeights(&out, m.Weights)
	if err := writeDescription(&out, m); err != nil {
		return nil, err
	}
	d := driver{Image: m, index: index}
	if err := d.write(); err != nil {
		return nil, err
	}
	out.WriteString(d.String())
	return out.Bytes(), nil
}

// writeWeights writes all constants as little-endian words.
func writeWeights(out *bytes.Buffer, pieces [][]byte) {
	if len(pieces) == 0 {
		return
	}
	data := bytes.Join(pieces, nil)
	data = append(data, make([]byte, -len(data)&3)...)
	fmt.Fprintf(out, "/* Weights and tables. They stay in the file even if a compiler knows their values by heart, for ripc verify. */\nstatic RIPC_USED const RIPC_ALIGNED uint32_t %s[%d] = {", abi.Weights, len(data)/4)
	for i := 0; i < len(data); i += 4 {
		if i%32 == 0 {
			out.WriteString("\n   ")
		}
		fmt.Fprintf(out, " 0x%xu,", binary.LittleEndian.Uint32(data[i:]))
	}
	out.WriteString("\n};\n\n")
}

// archMacros are the architectures that the runtime knows, and the macros of their compilers.
func archMacros() [][2]string {
	return [][2]string{{"x86_64", "__x86_64__"}, {"aarch64", "__aarch64__"}, {"arm", "__arm__"}}
}

// writeDescription writes the description as numbers: C99 does not promise that a literal may be so
// long. The source is for any chip, so the compiler says which it is, and no features of the
// target's are needed.
func writeDescription(out *bytes.Buffer, m *codegen.Image) error {
	if m.NoDescribe {
		fmt.Fprintf(out, "static const unsigned char %s[] = {123, 125, 0};\n\n", abi.Describe)
		return nil
	}
	portable, d := *m, *m.Description
	portable.Description, d.Features = &d, []string{}
	var texts [][]byte
	for _, a := range append(archMacros(), [2]string{m.Target.Arch}) {
		d.Arch = a[0]
		text, err := portable.DescriptionText()
		if err != nil {
			return err
		}
		texts = append(texts, append(text, 0))
	}
	head, tail := sharedBytes(texts)
	fmt.Fprintf(out, `/* The description, as NAME_describe returns it; in ELF files it has a section of its own. */
#ifdef RIPC_NO_DESCRIBE
static const unsigned char %[1]s[] = {123, 125, 0};
#else
#if defined(__GNUC__) && defined(__ELF__)
__attribute__((section("%[2]s"), used))
#endif
static const unsigned char %[1]s[] = {`, abi.Describe, describe.Section)
	writeBytes(out, texts[0][:head])
	for i, text := range texts {
		switch {
		case i == len(archMacros()):
			out.WriteString("\n#else")
		case i == 0:
			fmt.Fprintf(out, "\n#if defined(%s)", archMacros()[i][1])
		default:
			fmt.Fprintf(out, "\n#elif defined(%s)", archMacros()[i][1])
		}
		writeBytes(out, text[head:len(text)-tail])
	}
	out.WriteString("\n#endif")
	writeBytes(out, texts[0][len(texts[0])-tail:])
	out.WriteString("\n};\n#endif\n\n")
	return nil
}

// sharedBytes returns the lengths of the longest common prefix of texts and, behind it, of the
// longest common suffix.
func sharedBytes(texts [][]byte) (head, tail int) {
	least := len(slices.MinFunc(texts, func(a, b []byte) int { return len(a) - len(b) }))
	same := func(at func(t []byte) byte) bool {
		return !slices.ContainsFunc(texts, func(t []byte) bool { return at(t) != at(texts[0]) })
	}
	for head < least && same(func(t []byte) byte { return t[head] }) {
		head++
	}
	for tail < least-head && same(func(t []byte) byte { return t[len(t)-1-tail] }) {
		tail++
	}
	return head, tail
}

// writeBytes writes data as lines of an initializer.
func writeBytes(out *bytes.Buffer, data []byte) {
	for i, c := range data {
		if i%32 == 0 {
			out.WriteString("\n    ")
		}
		fmt.Fprintf(out, "%d,", c)
	}
}

// driver writes the entry points.
type driver struct {
	strings.Builder
	*codegen.Image
	index ir.Index // of its Program
}

// barrier is the function that returns once all n threads have called it. sync holds the number of
// threads that have arrived (abi.Arrived) and how many barriers were passed (abi.Passed). The last
// to arrive clears the one and then raises the other, which the rest wait for.
const barrier = `/* Where threads meet: with atomics of GCC and Clang where the chip has them, or of C11. */
#if defined(RIPC_NO_THREADS)
#define RIPC_THREADS 0
#elif defined(__GNUC__) && defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4)
#define RIPC_THREADS 1
typedef uint32_t RIPC_ELEMENT rc_counter;
#define rc_get(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define rc_set(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define rc_arrive(p) __atomic_fetch_add(p, 1u, __ATOMIC_ACQ_REL)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#define RIPC_THREADS 1
#include <stdatomic.h>
typedef _Atomic uint32_t rc_counter;
#define rc_get(p) atomic_load_explicit(p, memory_order_acquire)
#define rc_set(p, v) atomic_store_explicit(p, v, memory_order_release)
#define rc_arrive(p) atomic_fetch_add_explicit(p, 1u, memory_order_acq_rel)
#else
#define RIPC_THREADS 0
#endif

#if RIPC_THREADS
/* Lets the other hardware thread run. */
static inline void rc_pause(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __asm__ volatile("pause" ::: "memory");
#elif defined(__GNUC__) && (defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7))
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Gives the processor away: sched_yield on Linux, without a library. */
static inline void rc_yield(void)
{
#if defined(RIPC_YIELD)
    RIPC_YIELD();
#elif defined(__linux__) && defined(__GNUC__) && defined(__x86_64__) && !defined(__ILP32__)
    long r = 24;
    __asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
#elif defined(__linux__) && defined(__GNUC__) && defined(__aarch64__) && !defined(__ILP32__)
    register long n __asm__("x8") = 124;
    register long r __asm__("x0");
    __asm__ volatile("svc #0" : "=r"(r) : "r"(n) : "memory");
#else
    rc_pause();
#endif
}

/* Looks for some 20 microseconds, then gives the processor away between looks. */
static void rc_barrier(ripc_sync *sync, uint32_t nthreads)
{
    rc_counter *arrived, *passed;
    uint32_t mine, spins = 0;
    if (nthreads == 1) { /* sync may be null */
        return;
    }
    arrived = (rc_counter *)(void *)(sync->bytes + %[1]d);
    passed = (rc_counter *)(void *)(sync->bytes + %[2]d);
    mine = rc_get(passed);
    if (rc_arrive(arrived) + 1u == nthreads) {
        rc_set(arrived, 0u);
        rc_set(passed, mine + 1u);
        return;
    }
    while (rc_get(passed) == mine) {
        if (spins < 1000) {
            spins++;
            rc_pause();
        } else {
            rc_yield();
        }
    }
}
#endif

`

func (d *driver) line(format string, args ...any) {
	fmt.Fprintf(d, format, args...)
	d.WriteByte('\n')
}

// write writes everything below the kernels.
func (d *driver) write() error {
	fmt.Fprintf(d, barrier, abi.Arrived, abi.Passed)
	counts := map[ir.BufKind]int{}
	places := map[string]int{}
	for _, q := range d.Program.Buffers {
		places[q.Name] = counts[q.Kind]
		counts[q.Kind]++
	}
	n, run, stages := d.Name, abi.Run(d.Name, d.ABI), len(d.Program.Stages)
	const args = "const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,\n    ripc_sync *sync"
	d.line("#undef %s_run /* should the header be included */\nint %s_run(%s);", n, n, args)
	d.line("int %s_run_stages(%s, uint32_t first, uint32_t last);", n, args)
	d.line("int %s(%s);", run, args)
	d.line("size_t %[1]s_workspace_size(uint32_t nthreads);\nconst char *%[1]s_describe(void);\nint %[1]s_cpu_ok(void);\n", n)
	d.line("int %s_run_stages(%s, uint32_t first, uint32_t last)\n{", n, args)
	d.line("    unsigned char *const ws = (unsigned char *)workspace;")
	arena, scratch := d.Description.ArenaBytes, d.Description.ScratchBytes
	skip, used := "0", d.Description.WorkspaceBytes(1) > 0
	if used {
		skip = fmt.Sprintf("%d + (size_t)tid * %d", arena, scratch)
	}
	d.line("    unsigned char *scratch;")
	d.line("    uintptr_t low; /* bits of addresses, which must not be set */\n    int i;")
	d.line("    if (tid >= nthreads) {\n        return RIPC_BAD_THREADS;\n    }")
	d.line("#if RIPC_THREADS\n    if (nthreads != 1 && sync == NULL) {\n        return RIPC_BAD_THREADS;\n    }")
	d.line("#else\n    if (nthreads != 1) {\n        return RIPC_BAD_THREADS;\n    }\n#endif")
	d.line("    low = (uintptr_t)ws | (uintptr_t)sync;")
	if used {
		d.line("    if (ws == NULL) {\n        return RIPC_BAD_BUFFER;\n    }")
	}
	for _, a := range []struct {
		array string
		n     int
	}{{"in", counts[ir.InputBuf]}, {"out", counts[ir.OutputBuf]}} {
		if a.n > 0 {
			d.line("    if (%s == NULL) {\n        return RIPC_BAD_BUFFER;\n    }", a.array)
		}
		d.line("    for (i = 0; i < %[2]d; i++) {\n        low |= (uintptr_t)%[1]s[i];\n        if (%[1]s[i] == NULL) {\n            return RIPC_BAD_BUFFER;\n        }\n    }", a.array, a.n)
	}
	d.line("    if (low %% RIPC_ALIGN != 0) {\n        return RIPC_BAD_BUFFER;\n    }")
	d.line("    if (first > last || last > %du) {\n        return RIPC_BAD_STAGES;\n    }", stages)
	if used {
		d.line("    scratch = ws + (%s);", skip)
	} else {
		d.line("    scratch = ws;")
	}
	for i, s := range d.Program.Stages {
		cond := fmt.Sprintf("first <= %du && last > %du", i, i)
		if i == 0 {
			cond = "first == 0u && last > 0u"
		}
		d.line("    if (%s) { /* %s */", cond, codegen.Comment(s.Name))
		var args []string
		f := d.index.Func(s.Func)
		for j, a := range s.Args {
			arg, err := d.argument(a, f.Params[j], places)
			if err != nil {
				return fmt.Errorf("driver of %s: stage %q: %w", d.Name, s.Name, err)
			}
			args = append(args, arg)
		}
		d.line("        %s(%s, scratch, tid, nthreads);", d.Kernels[s.Func].Symbol, strings.Join(args, ", "))
		d.line("#if RIPC_THREADS\n        rc_barrier(sync, nthreads);\n#endif\n    }")
	}
	d.line("    return RIPC_OK;\n}\n")
	d.line("int %s_run(%s)\n{\n    return %s_run_stages(in, out, workspace, tid, nthreads, sync, 0, %d);\n}\n", n, args,
		n, stages)
	d.line("/* The name that the header of this build uses. */\nint %s(%s)\n{\n    return %s_run(in, out, workspace, tid, nthreads, sync);\n}\n", run, args, n)
	d.line("/* What this needs of a CPU is what its compiler was told to use. */\nint %s_cpu_ok(void)\n{\n    return %d;\n}\n", n, abi.CPUOK)
	d.line("size_t %s_workspace_size(uint32_t nthreads)\n{", n)
	if scratch > 0 {
		d.line("    return %d + (size_t)nthreads * %d;\n}\n", arena, scratch)
	} else {
		d.line("    (void)nthreads;\n    return %d;\n}\n", arena)
	}
	d.line("const char *%s_describe(void)\n{\n    return (const char *)%s;\n}\n", n, abi.Describe)
	d.line("#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC pop_options\n#endif")
	return nil
}

// argument is a pointer to a buffer, for parameter p.
func (d *driver) argument(name string, p ir.Param, places map[string]int) (string, error) {
	b := d.index.Buffer(name)
	if b == nil {
		return "", fmt.Errorf("there is no buffer %%%s", name)
	}
	t := "const " + memory(p.Type) + " *"
	if p.Out {
		t = memory(p.Type) + " *"
	}
	switch b.Kind {
	case ir.InputBuf:
		return fmt.Sprintf("(%s)in[%d]", t, places[name]), nil
	case ir.OutputBuf:
		return fmt.Sprintf("(%s)out[%d]", t, places[name]), nil
	case ir.ArenaBuf:
		return fmt.Sprintf("(%s)(void *)(ws + %d)", t, b.Offset), nil
	}
	return fmt.Sprintf("(%s)(const void *)(%s + %d)", t, abi.Weights, d.Offsets[name]/4), nil
}
