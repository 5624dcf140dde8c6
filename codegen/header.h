{{define "buffers"}}{{range $i, $t := .Inputs}} *     static RIPC_ALIGNED unsigned char input{{$i}}[{{$.Upper}}_INPUT_{{$i}}_BYTES];
{{end}}{{range $i, $t := .Outputs}} *     static RIPC_ALIGNED unsigned char output{{$i}}[{{$.Upper}}_OUTPUT_{{$i}}_BYTES];
{{end}} *     static RIPC_ALIGNED unsigned char workspace[{{.Upper}}_WORKSPACE_BYTES({{.Threads}})];
 *     const void *in[{{.Upper}}_INPUTS] = {{"{"}}{{range $i, $t := .Inputs}}{{if $i}}, {{end}}input{{$i}}{{end}}};
 *     void *out[{{.Upper}}_OUTPUTS] = {{"{"}}{{range $i, $t := .Outputs}}{{if $i}}, {{end}}output{{$i}}{{end}}};
{{end}}{{define "tensors"}}
#define {{.Prefix}}S {{len .Tensors}}
{{range $i, $t := .Tensors}}{{$p := printf "#define %s_%d_" $.Prefix $i}}
/* {{$.Title}} {{$i}}: {{comment .Title}}, {{.DType}}[{{shape .Shape}}]{{with .Layout}}, {{comment .}}{{end}}{{encoding .}}{{if .Scale}}. {{meaning .}}{{end}} */
{{$p}}NAME {{literal .Title}}
{{$p}}TYPE {{ctype .DType}}
{{$p}}ELEMS {{elems .}}
{{$p}}BYTES {{bytes .}}
{{$p}}RANK {{len .Shape}}
{{if .Shape}}{{$p}}SHAPE {{"{"}}{{shape .Shape}}}
{{end}}{{if .Scale}}{{$p}}BITS {{.Bits}}
{{$p}}SCALE {{scale .}} /* of level l the value is SCALE * (l - ZERO_POINT) + REAL_OFFSET */
{{$p}}ZERO_POINT {{.ZeroPoint}}
{{$p}}REAL_OFFSET {{offset .}}
{{end}}{{end}}{{end}}/* {{.Name}}.h: the network "{{comment .Program}}", compiled by ripc {{comment .Compiler}} for {{comment .Target}} ({{comment .CPU}}). Generated; do not edit.
 *
 * The network brings no threads and no memory, and calls no library. Inputs, outputs and workspace must be aligned to
 * RIPC_ALIGN bytes and must not overlap; the workspace may hold anything before a run, and holds nothing worth keeping
 * after it. Tensors are dense, the last dimension innermost, little endian.
 *
 * {{.Name}}.so goes by its bare name, without a path: a program linked with it finds it by an rpath (link it with
 * -Wl,-rpath,DIR, DIR being the library's folder) or by LD_LIBRARY_PATH. The static library needs neither, nor does {{.Name}}.c,
 * which any C99 compiler takes as one more file of the program.
 *
 * With one thread:
 *
{{template "buffers" .For 1}} *     int status = {{.Name}}_run(in, out, workspace, 0, 1, NULL);
 *
 * With several threads, here OpenMP's. All threads make the call, each with a number of its own. Their ripc_sync must be
 * zero before the first run, and can then be used for any number of runs, one after the other:
 *
{{template "buffers" .For 4}} *     static ripc_sync sync;
 *     #pragma omp parallel num_threads(4)
 *     {{.Name}}_run(in, out, workspace, (uint32_t)omp_get_thread_num(), (uint32_t)omp_get_num_threads(), &sync);
 *
 * The same with POSIX threads:
 *
 *     static ripc_sync sync;
 *     static void *thread(void *tid) {
 *         {{.Name}}_run(in, out, workspace, (uint32_t)(uintptr_t)tid, 4, &sync);
 *         return NULL;
 *     }
 *     ...
 *     pthread_t threads[4];
 *     for (uintptr_t i = 1; i < 4; i++) {
 *         if (pthread_create(&threads[i], NULL, thread, (void *)i) != 0) {
 *             return 1; // from main: a run needs all 4 calls
 *         }
 *     }
 *     thread((void *)0);
 *     for (int i = 1; i < 4; i++) pthread_join(threads[i], NULL);
 */
#if defined(RIPC_{{.Upper}}_H) && !defined(RIPC_{{.Upper}}_H_{{.Hash}})
#error "another network called {{.Name}} was included before: give one of them another name when it is compiled"
#endif
#ifndef RIPC_{{.Upper}}_H
#define RIPC_{{.Upper}}_H
#define RIPC_{{.Upper}}_H_{{.Hash}}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

{{.Common}}#ifndef RIPC_STATUS_DEFINED
#define RIPC_STATUS_DEFINED
#define RIPC_VERSION {{.Number}} /* 10000 * major + 100 * minor + patch, of the first header that is included */
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
        return "bad threads: tid must be below nthreads, which is at most {{.MaxThreads}}; several threads need a ripc_sync";
    case RIPC_BAD_BUFFER:
        return "bad buffer: inputs, outputs, workspace and ripc_sync must be aligned to 64 bytes, and none may be null";
    case RIPC_BAD_STAGES:
        return "bad stages: first must not be above last, nor last above the number of stages";
    }
    return "unknown status";
}
#endif

/* What this was made by and for. */
#define {{.Upper}}_COMPILER {{literal (print "ripc " .Compiler)}}
#define {{.Upper}}_TARGET {{literal .Target}}
#define {{.Upper}}_TARGET_{{upper .Target}} 1
#define {{.Upper}}_ARCH {{literal .Arch}}
#define {{.Upper}}_ARCH_{{upper .Arch}} 1
#define {{.Upper}}_CPU {{literal .CPU}}
#define {{.Upper}}_MACS {{.MACs}} /* multiply-accumulates of one run */
{{template "tensors" .Group "INPUT" "Input" .Inputs}}{{template "tensors" .Group "OUTPUT" "Output" .Outputs}}
#define {{.Upper}}_STAGES {{len .Stages}}
#define {{.Upper}}_STACK_BYTES {{.Stack}} /* a call's at most, compiled with optimization */
#define {{.Upper}}_ARENA_BYTES {{.ArenaBytes}} /* of the workspace, for all threads */
#define {{.Upper}}_SCRATCH_BYTES {{.ScratchBytes}} /* for each thread */
{{if .WorkspaceBytes 1}}#define {{.Upper}}_WORKSPACE_BYTES(nthreads) ({{.Upper}}_ARENA_BYTES + {{.Upper}}_SCRATCH_BYTES * (0ul + (nthreads)))
{{else}}#define {{.Upper}}_WORKSPACE_BYTES(nthreads) {{.Align}} /* not used */
{{end}}
/* The name has a hash of this build in it: with the library of another, a program does not link. In libraries it is {{.Name}}_run
 * as well, for dlsym. */
#define {{.Name}}_run {{.Run}}
#define {{.Upper}}_ABI "{{.Hash}}" /* the hash */

/* Does not compile if the first header that is included has a ripc_sync that is too small for this network. */
typedef char {{.Name}}_sync_fits[sizeof(ripc_sync) >= {{.SyncBytes}} ? 1 : -1];

/* Runs the network. in holds a pointer for each input, out one for each output. A run is nthreads calls, at most {{.MaxThreads}}, with
 * the same arguments but for tid: each of 0 .. nthreads-1 calls exactly once a run. sync may be null if nthreads is 1.
 * All outputs are complete when any of the calls returns RIPC_OK. A call may return before others have begun. So in, out,
 * the buffers, workspace, sync and the library must stay until all nthreads calls have returned. With fewer calls, this
 * run or the next waits for ever. Threads that wait sleep or yield. Give them one priority: under a real-time policy
 * (SCHED_FIFO), a thread of lower priority might never get to run. */
int {{.Name}}_run(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync);

/* Runs the stages first .. last-1, of {{len .Stages}}, on what the workspace holds, for debugging and measuring: none if first is last. A
 * stage may write where it reads, so its input may be gone then. */
int {{.Name}}_run_stages(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync, uint32_t first, uint32_t last);

/* Bytes of workspace for nthreads threads: {{.Upper}}_WORKSPACE_BYTES(nthreads). */
size_t {{.Name}}_workspace_size(uint32_t nthreads);

/* JSON that describes the network (format "{{.Format}}"); "{}" if it was left out. */
const char *{{.Name}}_describe(void);

/* RIPC_CPU_OK if this CPU and its operating system have all that {{.Name}}_run needs, RIPC_CPU_LACKS if not: the run would end with
 * SIGILL. RIPC_CPU_UNKNOWN if that cannot be found out: on Arm Linux tells it in /proc/self/auxv, which a sandbox may hide. What
 * a compiler makes of {{.Name}}.c needs what the compiler was told to use, and says RIPC_CPU_OK. This function runs anywhere. */
int {{.Name}}_cpu_ok(void);

#ifdef __cplusplus
}
#endif

#endif
