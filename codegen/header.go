package codegen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// headerBegin is the part of the header before the tensors. {name} and {NAME} stand for the
// identifier.
const headerBegin = `/* {name}.h: the network "{title}", compiled by ripc {version} for {target} ({cpu}). Generated; do not edit.
 *
 * The network brings no threads and no memory, and calls no library. Inputs, outputs and workspace must be aligned to
 * RIPC_ALIGN bytes and must not overlap; the workspace may hold anything before a run, and holds nothing worth keeping
 * after it. Tensors are dense, the last dimension innermost, little endian.
 *
 * {name}.so goes by its bare name, without a path: a program linked with it finds it by an rpath (link it with
 * -Wl,-rpath,DIR, DIR being the library's folder) or by LD_LIBRARY_PATH. The static library needs neither, nor does {name}.c,
 * which any C99 compiler takes as one more file of the program.
 *
 * With one thread:
 *
{single}
 *
 * With several threads, here OpenMP's. All threads make the call, each with a number of its own. Their ripc_sync must be
 * zero before the first run, and can then be used for any number of runs, one after the other:
 *
{openmp}
 *
 * The same with POSIX threads:
 *
{pthread}
 */
#if defined(RIPC_{NAME}_H) && !defined(RIPC_{NAME}_H_{hash})
#error "another network called {name} was included before: give one of them another name when it is compiled"
#endif
#ifndef RIPC_{NAME}_H
#define RIPC_{NAME}_H
#define RIPC_{NAME}_H_{hash}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

{common}{shared}
/* What this was made by and for. */
#define {NAME}_COMPILER {compiler}
#define {NAME}_TARGET {targettext}
#define {NAME}_TARGET_{TARGET} 1
#define {NAME}_ARCH {arch}
#define {NAME}_ARCH_{ARCH} 1
#define {NAME}_CPU {cpu text}
#define {NAME}_MACS {macs} /* multiply-accumulates of one run */
`

// shared declares the interface that only callers need. {number} is the compiler's version.
const shared = `#ifndef RIPC_STATUS_DEFINED
#define RIPC_STATUS_DEFINED
#define RIPC_VERSION {number} /* 10000 * major + 100 * minor + patch, of the first header that is included */
/* What the functions cpu_ok return. */
#define RIPC_CPU_OK 1
#define RIPC_CPU_LACKS 0
#define RIPC_CPU_UNKNOWN (-1)
/* What one of the functions returned, in words. */
static inline const char *ripc_status_text(int status)
{
    switch (status) {
    case RIPC_OK:
        return "ok";
    case RIPC_BAD_THREADS:
        return "bad threads: tid must be below nthreads, and several threads need a ripc_sync";
    case RIPC_BAD_BUFFER:
        return "bad buffer: inputs, outputs, workspace and ripc_sync must be aligned to 64 bytes, and none may be null";
    case RIPC_BAD_STAGES:
        return "bad stages: first must not be above last, nor last above the number of stages";
    }
    return "unknown status";
}
#endif
`

// Common declares the types that headers and sources of all networks share.
const Common = `/* Common to the headers of all networks. */
#ifndef RIPC_SYNC_DEFINED
#define RIPC_SYNC_DEFINED
#define RIPC_ALIGN 64
#if defined(__GNUC__)
#define RIPC_ALIGNED __attribute__((aligned(RIPC_ALIGN)))
#elif defined(_MSC_VER)
#define RIPC_ALIGNED __declspec(align(64))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define RIPC_ALIGNED _Alignas(RIPC_ALIGN)
#else
#define RIPC_ALIGNED /* align by other means */
#endif
/* Where the threads of one run meet. All zero at first. */
typedef struct ripc_sync {
    RIPC_ALIGNED unsigned char bytes[128];
} ripc_sync;
/* What the functions return. */
#define RIPC_OK 0
#define RIPC_BAD_THREADS 1 /* tid >= nthreads, or no sync for several threads */
#define RIPC_BAD_BUFFER 2  /* a buffer or an array of buffers is null, or a buffer is not aligned */
#define RIPC_BAD_STAGES 3  /* first > last, or last beyond the number of stages */
#endif
`

// headerEnd is the part after the tensors.
const headerEnd = `
/* The name has a hash of this build in it: with the library of another, a program does not link. In libraries it is {name}_run
 * as well, for dlsym. */
#define {name}_run {run}
#define {NAME}_ABI "{hash}" /* the hash */

/* Runs the network. in holds a pointer for each input, out one for each output. All nthreads threads must call it with
 * the same arguments but for tid = 0 .. nthreads-1; sync may be null if nthreads is 1. All outputs are complete when
 * any of the calls returns RIPC_OK. Threads that wait for each other yield, so give them one priority: under a
 * real-time policy (SCHED_FIFO), one of lower priority might never get to run. */
int {name}_run(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync);

/* Runs the stages first .. last-1, of {stages}, on what the workspace holds, for debugging and measuring: none if first is last. A
 * stage may write where it reads, so its input may be gone then. */
int {name}_run_stages(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync, uint32_t first, uint32_t last);

/* Bytes of workspace for nthreads threads: {NAME}_WORKSPACE_BYTES(nthreads). */
size_t {name}_workspace_size(uint32_t nthreads);

/* JSON that describes the network (format "` + describe.Format + `"); "{}" if it was left out. */
const char *{name}_describe(void);

/* RIPC_CPU_OK if this CPU and its operating system have all that {name}_run needs, RIPC_CPU_LACKS if not: the run would end with
 * SIGILL. RIPC_CPU_UNKNOWN if that cannot be found out: on Arm Linux tells it in /proc/self/auxv, which a sandbox may hide. What
 * a compiler makes of {name}.c needs what the compiler was told to use, and says RIPC_CPU_OK. This function runs anywhere. */
int {name}_cpu_ok(void);

#ifdef __cplusplus
}
#endif

#endif
`

// exampleBuffers begins every example.
const exampleBuffers = `{arrays}
static RIPC_ALIGNED unsigned char workspace[{NAME}_WORKSPACE_BYTES({threads})];
const void *in[{NAME}_INPUTS] = {{ins}};
void *out[{NAME}_OUTPUTS] = {{outs}};
`

// The examples, with a line for each statement.
const (
	exampleSingle = exampleBuffers + `int status = {name}_run(in, out, workspace, 0, 1, NULL);`
	exampleOpenMP = exampleBuffers + `static ripc_sync sync;
#pragma omp parallel num_threads(4)
{name}_run(in, out, workspace, (uint32_t)omp_get_thread_num(), (uint32_t)omp_get_num_threads(), &sync);`
	examplePthread = `static ripc_sync sync;
static void *thread(void *tid) {
    {name}_run(in, out, workspace, (uint32_t)(uintptr_t)tid, 4, &sync);
    return NULL;
}
...
pthread_t threads[4];
for (uintptr_t i = 1; i < 4; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
thread((void *)0);
for (int i = 1; i < 4; i++) pthread_join(threads[i], NULL);`
)

// HeaderText is the C header of the artifact.
func (m *Image) HeaderText() []byte { return m.header(m.ABI) }

// header writes the C header for code with the given hash of its build.
func (m *Image) header(hash string) []byte {
	d := m.Description
	upper := strings.ToUpper(d.Name)
	fill := func(s string, more ...string) string {
		return strings.NewReplacer(append(more, "{name}", d.Name, "{NAME}", upper, "{hash}", hash, "{run}",
			abi.Run(d.Name, hash))...).Replace(s)
	}
	example := func(s, threads string) string {
		ins, inNames := arrays(upper, "INPUT", "input", len(d.Inputs))
		outs, outNames := arrays(upper, "OUTPUT", "output", len(d.Outputs))
		s = fill(s, "{arrays}", ins+"\n"+outs, "{ins}", inNames, "{outs}", outNames, "{threads}", threads)
		return " *     " + strings.ReplaceAll(s, "\n", "\n *     ")
	}
	var stack int64
	for _, k := range m.Kernels {
		stack = max(stack, k.Stack)
	}
	var b strings.Builder
	b.WriteString(fill(headerBegin, "{common}", Common, "{shared}",
		strings.ReplaceAll(shared, "{number}", fmt.Sprint(versionNumber(d.Compiler))),
		"{title}", Comment(m.Program.Name), "{version}", Comment(d.Compiler), "{target}", Comment(d.Target),
		"{cpu}", Comment(d.CPU),
		"{compiler}", literal("ripc "+d.Compiler), "{targettext}", literal(d.Target), "{TARGET}",
		strings.ToUpper(CleanName(d.Target)),
		"{arch}", literal(d.Arch), "{ARCH}", strings.ToUpper(CleanName(d.Arch)), "{cpu text}", literal(d.CPU), "{macs}",
		fmt.Sprint(d.MACs()),
		"{single}", example(exampleSingle, "1"), "{openmp}", example(exampleOpenMP, "4"), "{pthread}",
		example(examplePthread, "4")))
	tensors(&b, upper, "INPUT", "Input", d.Inputs)
	tensors(&b, upper, "OUTPUT", "Output", d.Outputs)
	fmt.Fprintf(&b, "\n#define %s_STAGES %d\n", upper, len(d.Stages))
	fmt.Fprintf(&b, "#define %s_STACK_BYTES %d /* a call's at most, compiled with optimization */\n", upper, stack+stackFrames)
	fmt.Fprintf(&b, "#define %[1]s_ARENA_BYTES %[2]d /* of the workspace, for all threads */\n#define %[1]s_SCRATCH_BYTES %[3]d /* for each thread */\n", upper, d.ArenaBytes, d.ScratchBytes)
	if d.WorkspaceBytes(1) > 0 {
		fmt.Fprintf(&b, "#define %[1]s_WORKSPACE_BYTES(nthreads) (%[1]s_ARENA_BYTES + %[1]s_SCRATCH_BYTES * (0ul + (nthreads)))\n", upper)
	} else {
		fmt.Fprintf(&b, "#define %s_WORKSPACE_BYTES(nthreads) %d /* not used */\n", upper, abi.Align)
	}
	b.WriteString(fill(headerEnd, "{stages}", fmt.Sprint(len(d.Stages))))
	return []byte(b.String())
}

// stackFrames is the stack that a call needs in addition to its kernels' buffers, in bytes: return
// addresses, saved registers, and spills. A test compares it with LLVM's figures for real kernels.
const stackFrames = 6144

// versionNumber makes one number of a version that begins with up to three numbers between dots.
func versionNumber(version string) int {
	sum := 0
	for i, part := range append(strings.SplitN(version, ".", 3), "", "", "")[:3] {
		n := 0
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n = min(10*n+int(c-'0'), 99)
		}
		sum += n * []int{10000, 100, 1}[i]
	}
	return sum
}

// arrays declares n arrays for an example, and lists their names.
func arrays(upper, macro, name string, n int) (decls, names string) {
	var ds, ns []string
	for i := range n {
		ds = append(ds, fmt.Sprintf("static RIPC_ALIGNED unsigned char %s%d[%s_%s_%d_BYTES];", name, i, upper, macro, i))
		ns = append(ns, fmt.Sprintf("%s%d", name, i))
	}
	return strings.Join(ds, "\n"), strings.Join(ns, ", ")
}

// tensors writes a comment and macros for each of the inputs or outputs.
func tensors(b *strings.Builder, upper, macro, title string, ts []describe.Tensor) {
	fmt.Fprintf(b, "\n#define %s_%sS %d\n", upper, macro, len(ts))
	for i, t := range ts {
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", ", ")
		fmt.Fprintf(b, "\n/* %s %d: %s, %s[%s]", title, i, Comment(t.Title()), t.DType, shape)
		if t.Layout != "" {
			fmt.Fprintf(b, ", %s", Comment(t.Layout))
		}
		if t.Packed && !t.Planes() {
			fmt.Fprintf(b, ".\n * %d channels (%s), a bit each, in the words of the last dimension,\n * least significant bit first", t.Channels, t.Encoding)
		} else if t.Packed {
			fmt.Fprintf(b, ".\n * Bit planes, least significant outermost; %d channels (%s) in the words of the last dimension,\n"+
				" * least significant bit first", t.Channels, t.Encoding)
		} else if t.Encoding == affine {
			fmt.Fprintf(b, ".\n * Affine values of %d bits, one a byte", t.Bits)
		} else if t.Encoding != "" {
			unit := "bits"
			if t.Bits == 1 {
				unit = "bit"
			}
			fmt.Fprintf(b, ".\n * Levels of %d %s, 0 to %d, one a byte (%s)", t.Bits, unit, 1<<t.Bits-1, t.Encoding)
		}
		if t.Scale != 0 {
			fmt.Fprintf(b, ". %s", meaning(t))
		}
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		c := ctypes()[t.DType]
		b.WriteString(" */\n")
		prefix := fmt.Sprintf("#define %s_%s_%d_", upper, macro, i)
		fmt.Fprintf(b, "%sNAME %s\n", prefix, literal(t.Title()))
		fmt.Fprintf(b, "%sTYPE %s\n%sELEMS %d\n%sBYTES %d\n%sRANK %d\n", prefix, c.name, prefix, n, prefix, n*c.bytes,
			prefix, len(t.Shape))
		if len(t.Shape) > 0 {
			fmt.Fprintf(b, "%sSHAPE {%s}\n", prefix, shape)
		}
		if t.Scale != 0 {
			scale, offset := scaleAndOffset(t)
			fmt.Fprintf(b, "%sBITS %d\n%sSCALE %s /* of level l the value is SCALE * (l - ZERO_POINT) + REAL_OFFSET */\n%sZERO_POINT %d\n%sREAL_OFFSET %s\n",
				prefix, t.Bits, prefix, floatLiteral(scale), prefix, t.ZeroPoint, prefix, floatLiteral(offset))
		}
	}
}

// meaning describes the real value of level l of t. A plane counts l's bits; bipolar planes
// are steps of 2.
func meaning(t describe.Tensor) string {
	s, offset := strconv.FormatFloat(t.Scale, 'g', -1, 64), ""
	if v := strconv.FormatFloat(math.Abs(t.RealOffset), 'g', -1, 64); t.RealOffset < 0 {
		offset = " - " + v
	} else if t.RealOffset > 0 {
		offset = " + " + v
	}
	switch top := 1<<t.Bits - 1; t.Encoding {
	case ir.Bipolar.String():
		return fmt.Sprintf("Level l is the value %s * (2*l - %d)%s", s, top, offset)
	case ir.BipolarInv.String():
		return fmt.Sprintf("Level l is the value %s * (%d - 2*l)%s", s, top, offset)
	}
	if t.Encoding == affine {
		return fmt.Sprintf("Element l is the value %s * (l - %d)%s", s, t.ZeroPoint, offset)
	}
	return fmt.Sprintf("Level l is the value %s * l%s", s, offset)
}

// scaleAndOffset gives meaning as scale and offset: level l of t stands for scale * (l -
// t.ZeroPoint) + offset.
func scaleAndOffset(t describe.Tensor) (scale, offset float64) {
	top := float64(int(1)<<t.Bits - 1)
	switch t.Encoding {
	case ir.Bipolar.String():
		return 2 * t.Scale, t.RealOffset - top*t.Scale
	case ir.BipolarInv.String():
		return -2 * t.Scale, t.RealOffset + top*t.Scale
	}
	return t.Scale, t.RealOffset
}

// floatLiteral is v as a literal of C: a float where v is one.
func floatLiteral(v float64) string {
	bits, suffix := 64, ""
	if float64(float32(v)) == v {
		bits, suffix = 32, "f"
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if v < 0 {
		return "(" + s + suffix + ")"
	}
	return s + suffix
}

// ctype is a type of C, and the size of an element in bytes.
type ctype struct {
	name  string
	bytes int
}

// ctypes are the types of C by dtype.
func ctypes() map[string]ctype {
	return map[string]ctype{"f32": {"float", 4}, "i32": {"int32_t", 4}, "u32": {"uint32_t", 4}, "i16": {"int16_t", 2},
		"u8": {"uint8_t", 1}, "i8": {"int8_t", 1}}
}

// literal returns s, possibly from a file, as a C string. Characters that are special to a
// compiler, or not ASCII, are escaped byte by byte.
func literal(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || strings.IndexByte(`"\?`, c) >= 0 {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// Comment makes s, which a file may have given, fit into a comment of C: of it stay characters that
// mean nothing there, alone or together, and the others are named, as in <U+002A>. So nothing in it
// ends or opens a comment, joins lines, is a trigraph, or shows a reader another text than the
// compiler's.
func Comment(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" _.:;,()[]-+=<>", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}
