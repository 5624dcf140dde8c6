/* A driver without a GPU: memory is the host's, and a launch writes its grid and the numbers that its arguments point to. A graph
   keeps that text until it is launched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ptr;

static FILE *out(void)
{
    static FILE *f;
    if (!f)
        f = fopen(getenv("RIPC_STUB_LOG"), "w");
    setvbuf(f, 0, _IONBF, 0);
    return f;
}

int cuInit(unsigned f) { return 0; }
int cuDeviceGet(int *d, int i) { *d = 7; return i; }
int cuDeviceGetName(char *name, int n, int d) { return snprintf(name, n, "Stub") != 4 || d != 7; }
int cuDeviceGetAttribute(int *v, int what, int d)
{
    switch (what) {
    case 1: *v = 1024; break;   /* threads of a block */
    case 8: *v = 49152; break;  /* bytes of shared memory */
    case 13: *v = 500000; break; /* kHz */
    case 16: *v = 3; break;     /* multiprocessors */
    case 75: *v = 9; break;     /* compute capability */
    case 76: *v = 0; break;
    default: return 1;
    }
    return d - 7;
}
int cuCtxCreate_v2(ptr *c, unsigned f, int d) { *c = 1; return 0; }
int cuCtxSetCurrent(ptr c) { return c != 1; }
int cuCtxDestroy_v2(ptr c) { fprintf(out(), "destroyed\n"); return c != 1; }
int cuModuleLoadDataEx(ptr *m, const char *text, unsigned n, int *options, void **values)
{
    if (getenv("RIPC_STUB_FAIL")) {
        snprintf(values[0], (size_t)values[1], "ptxas: no");
        return 218;
    }
    *m = strstr(text, ".visible .entry") != 0;
    return *m == 0;
}
int cuModuleGetFunction(const char **f, ptr m, const char *name) { *f = strdup(name); return 0; }
int cuMemAlloc_v2(ptr *p, size_t n) { *p = (ptr)aligned_alloc(256, (n + 255) / 256 * 256); return 0; }
int cuMemcpyHtoD_v2(ptr to, const void *from, size_t n) { memcpy((void *)to, from, n); return 0; }
int cuMemcpyDtoH_v2(void *to, ptr from, size_t n) { memcpy(to, (void *)from, n); return 0; }
static char captured[1 << 12];
static int capturing;

int cuStreamCreate(ptr *s, unsigned f) { *s = 5; return f; }
#ifndef OLD
int cuStreamBeginCapture_v2(ptr s, int mode) { capturing = s == 5 && mode == 1; captured[0] = 0; return !capturing; }
int cuStreamEndCapture(ptr s, ptr *g) { capturing = 0; *g = (ptr)captured; return s != 5; }
int cuGraphInstantiateWithFlags(ptr *e, ptr g, unsigned long long f) { *e = (ptr)strdup((char *)g); return f != 0; }
int cuGraphLaunch(ptr e, ptr s) { fprintf(out(), "graph:\n%s", (char *)e); return s != 5; }
#endif
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
    ptr stream, void **args, void **extra)
{
    char *to = captured + strlen(captured);
    snprintf(to, captured + sizeof captured - to, "%s %u %u %u, %u %u %u, %u: %g\n", f, gx, gy, gz, bx, by, bz, shared, **(float **)args[0]);
    if (!capturing) {
        fputs(to, out());
        *to = 0;
    }
    return stream != 5;
}
int cuEventCreate(ptr *e, unsigned f) { *e = 3; return 0; }
int cuEventRecord(ptr e, ptr s) { return 0; }
int cuEventSynchronize(ptr e) { return 0; }
int cuEventElapsedTime(float *ms, ptr a, ptr b) { *ms = 1.5f; return 0; }
