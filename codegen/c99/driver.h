{{define "args"}}const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync{{end}}/* Where threads meet: with atomics of GCC and Clang where the chip has them, or of C11. */
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
#elif defined(__GNUC__) && defined(__riscv)
    __asm__ volatile(".4byte 0x0100000f" ::: "memory"); /* pause */
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
#elif defined(__linux__) && defined(__GNUC__) && defined(__riscv) && __riscv_xlen == 64
    register long n __asm__("a7") = 124;
    register long r __asm__("a0");
    __asm__ volatile("ecall" : "=r"(r) : "r"(n) : "memory");
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
    arrived = (rc_counter *)(void *)(sync->bytes + {{.Arrived}});
    passed = (rc_counter *)(void *)(sync->bytes + {{.Passed}});
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

#undef {{.Name}}_run /* should the header be included */
int {{.Name}}_run({{template "args"}});
int {{.Name}}_run_stages({{template "args"}}, uint32_t first, uint32_t last);
int {{.Run}}({{template "args"}});
size_t {{.Name}}_workspace_size(uint32_t nthreads);
const char *{{.Name}}_describe(void);
int {{.Name}}_cpu_ok(void);

int {{.Name}}_run_stages({{template "args"}}, uint32_t first, uint32_t last)
{
    unsigned char *const ws = (unsigned char *)workspace;
    unsigned char *scratch;
    uintptr_t low; /* bits of addresses, which must not be set */
    int i;
    if (tid >= nthreads) {
        return RIPC_BAD_THREADS;
    }
#if RIPC_THREADS
    if (nthreads != 1 && sync == NULL) {
        return RIPC_BAD_THREADS;
    }
#else
    if (nthreads != 1) {
        return RIPC_BAD_THREADS;
    }
#endif
    low = (uintptr_t)ws | (uintptr_t)sync;
{{- if .Workspace}}
    if (ws == NULL) {
        return RIPC_BAD_BUFFER;
    }
{{- end}}
{{- range .Arrays}}{{if .N}}
    if ({{.Name}} == NULL) {
        return RIPC_BAD_BUFFER;
    }
{{- end}}
    for (i = 0; i < {{.N}}; i++) {
        low |= (uintptr_t){{.Name}}[i];
        if ({{.Name}}[i] == NULL) {
            return RIPC_BAD_BUFFER;
        }
    }
{{- end}}
    if (low % RIPC_ALIGN != 0) {
        return RIPC_BAD_BUFFER;
    }
    if (first > last || last > {{len .Stages}}u) {
        return RIPC_BAD_STAGES;
    }
    scratch = ws{{if .Workspace}} + ({{.Description.ArenaBytes}} + (size_t)tid * {{.Description.ScratchBytes}}){{end}};
{{- range $i, $s := .Stages}}
    if ({{if $i}}first <= {{$i}}u && last > {{$i}}u{{else}}first == 0u && last > 0u{{end}}) { /* {{comment .Name}} */
        {{.Kernel}}({{range .Args}}{{.}}, {{end}}scratch, tid, nthreads);
#if RIPC_THREADS
        rc_barrier(sync, nthreads);
#endif
    }
{{- end}}
    return RIPC_OK;
}

int {{.Name}}_run({{template "args"}})
{
    return {{.Name}}_run_stages(in, out, workspace, tid, nthreads, sync, 0, {{len .Stages}});
}

/* The name that the header of this build uses. */
int {{.Run}}({{template "args"}})
{
    return {{.Name}}_run(in, out, workspace, tid, nthreads, sync);
}

/* What this needs of a CPU is what its compiler was told to use. */
int {{.Name}}_cpu_ok(void)
{
    return {{.CPUOK}};
}

size_t {{.Name}}_workspace_size(uint32_t nthreads)
{
{{- if .Description.ScratchBytes}}
    return {{.Description.ArenaBytes}} + (size_t)nthreads * {{.Description.ScratchBytes}};
{{- else}}
    (void)nthreads;
    return {{.Description.ArenaBytes}};
{{- end}}
}

const char *{{.Name}}_describe(void)
{
    return (const char *){{.Describe}};
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
