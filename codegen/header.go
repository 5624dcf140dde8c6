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

// headerBegin is the part of the header before the tensors. {name} and {NAME} stand for the identifier.
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
#ifndef RIPC_{name}_H
#define RIPC_{name}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

{common}`

// Common declares what the headers and the sources of all networks share.
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
#define RIPC_BAD_BUFFER 2  /* a buffer is null or not aligned */
#endif
`

// headerEnd is the part after the tensors.
const headerEnd = `
/* Runs the network. in holds a pointer for each input, out one for each output. All nthreads threads must call it with
 * the same arguments but for tid = 0 .. nthreads-1; sync may be null if nthreads is 1. All outputs are complete when
 * any of the calls returns RIPC_OK. */
int {name}_run(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync);

/* Runs the stages first .. last-1 on what the workspace holds, for debugging and measuring. */
int {name}_run_stages(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync, uint32_t first, uint32_t last);

/* Bytes of workspace for nthreads threads: {NAME}_WORKSPACE_BYTES(nthreads). */
size_t {name}_workspace_size(uint32_t nthreads);

/* JSON that describes the network (format "` + describe.Format + `"). */
const char *{name}_describe(void);

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

// header writes the C header of the network that d describes, which the model calls title.
func header(d *describe.Artifact, title string) []byte {
	upper := strings.ToUpper(d.Name)
	fill := func(s string, more ...string) string {
		return strings.NewReplacer(append(more, "{name}", d.Name, "{NAME}", upper)...).Replace(s)
	}
	example := func(s, threads string) string {
		ins, inNames := arrays(upper, "INPUT", "input", len(d.Inputs))
		outs, outNames := arrays(upper, "OUTPUT", "output", len(d.Outputs))
		s = fill(s, "{arrays}", ins+"\n"+outs, "{ins}", inNames, "{outs}", outNames, "{threads}", threads)
		return " *     " + strings.ReplaceAll(s, "\n", "\n *     ")
	}
	var b strings.Builder
	b.WriteString(fill(headerBegin, "{common}", Common, "{title}", Comment(title), "{version}", Comment(d.Compiler), "{target}", Comment(d.Target),
		"{cpu}", Comment(d.CPU), "{single}", example(exampleSingle, "1"), "{openmp}", example(exampleOpenMP, "4"),
		"{pthread}", example(examplePthread, "4")))
	tensors(&b, upper, "INPUT", "Input", d.Inputs)
	tensors(&b, upper, "OUTPUT", "Output", d.Outputs)
	fmt.Fprintf(&b, "\n#define %s_STAGES %d\n", upper, len(d.Stages))
	if d.ArenaBytes+d.ScratchBytes > 0 {
		fmt.Fprintf(&b, "#define %s_WORKSPACE_BYTES(nthreads) (%d + %d * (size_t)(nthreads))\n", upper, d.ArenaBytes, d.ScratchBytes)
	} else {
		fmt.Fprintf(&b, "#define %s_WORKSPACE_BYTES(nthreads) %d /* not used */\n", upper, abi.Align)
	}
	b.WriteString(fill(headerEnd))
	return []byte(b.String())
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
		fmt.Fprintf(b, "%sTYPE %s\n%sELEMS %d\n%sBYTES %d\n%sRANK %d\n", prefix, c.name, prefix, n, prefix, n*c.bytes, prefix, len(t.Shape))
		if len(t.Shape) > 0 {
			fmt.Fprintf(b, "%sSHAPE {%s}\n", prefix, shape)
		}
	}
}

// meaning says which real value level l of t stands for. A plane counts l's bits; bipolar planes are steps of 2.
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

// ctype is a type of C, and the size of an element in bytes.
type ctype struct {
	name  string
	bytes int
}

// ctypes are the types of C by dtype.
func ctypes() map[string]ctype {
	return map[string]ctype{"f32": {"float", 4}, "i32": {"int32_t", 4}, "u32": {"uint32_t", 4}, "u8": {"uint8_t", 1}, "i8": {"int8_t", 1}}
}

// Comment makes s, which a file may have given, fit into a comment of C: of it stay characters that mean nothing there, alone
// or together, and the others are named, as in <U+002A>. So nothing in it ends or opens a comment, joins lines, is a
// trigraph, or shows a reader another text than the compiler's.
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
