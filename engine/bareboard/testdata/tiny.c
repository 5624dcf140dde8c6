/* tiny.c: stage 0 doubles four floats, stage 1 adds one. With 10 as first input stage 0 takes its time, with 12 to
 * 15 it misbehaves. */
#include "tiny.h"

#ifndef TINY_BYTES /* of constants */
#define TINY_BYTES 64
#endif
#ifndef TINY_VARIABLE /* bytes of variables */
#define TINY_VARIABLE 1
#endif
#ifndef TINY_STACK /* bytes of a stage's stack */
#define TINY_STACK 1
#endif
#ifndef TINY_ROUNDS /* of two instructions */
#define TINY_ROUNDS 0
#endif
RIPC_ALIGNED const unsigned char ripc_weights[TINY_BYTES] = {1};

__attribute__((section(".ripc.describe"), used)) static const char ripc_describe_text[] =
    "{\"format\":\"ripc.artifact/1\",\"compiler\":\"test\",\"name\":\"tiny\",\"target\":\"" TINY_TARGET
    "\",\"arch\":\"arm\",\"cpu\":\"\",\"features\":[],"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[4],\"where\":\"input\",\"offset\":0}],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[4],\"where\":\"output\",\"offset\":0}],"
    "\"arena_bytes\":64,\"scratch_bytes\":0,\"weight_bytes\":64,\"stages\":["
    "{\"name\":\"twice\",\"op\":\"mul\",\"kernel\":\"k0\",\"macs\":0,\"reads\":[],\"writes\":[]},"
    "{\"name\":\"plus\",\"op\":\"add\",\"kernel\":\"k1\",\"macs\":0,\"reads\":[],\"writes\":[]}]}";

static volatile int calls; /* neither zeroed nor initialized data may be missing */
static volatile int magic = 42;
static volatile unsigned char variable[TINY_VARIABLE];

int tiny_run_stages(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync, uint32_t first, uint32_t last)
{
    const float *x = in[0];
    float *y = out[0], *w = workspace;
    int i;
    volatile unsigned char stack[TINY_STACK];
    (void)sync;
    for (i = 0; i < TINY_STACK; i++)
        stack[i] = (unsigned char)i;
    variable[0] = stack[TINY_STACK - 1];
    if (tid >= nthreads || magic != 42 || calls < 0)
        return 1;
    calls++;
    for (i = 0; i < 4 && first <= 0 && last > 0; i++)
        w[i] = x[i] * 2.0f;
    for (i = 0; i < 4 && first <= 1 && last > 1; i++)
        y[i] = w[i] + ripc_weights[calls - calls];
    if (x[0] == 10.0f) {
        uint32_t rounds = TINY_ROUNDS;
        __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(rounds) : : "cc");
    }
    if (x[0] == 12.0f)
        y[4] = 0; /* beyond its end */
    if (x[0] == 13.0f)
        *(volatile int *)0xf0000000u = 0; /* nothing is there */
    while (x[0] == 14.0f)
        __asm__ volatile("");
    if (x[0] == 15.0f)
        return 2;
    return 0;
}

int tiny_run(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads, ripc_sync *sync)
{
    return tiny_run_stages(in, out, workspace, tid, nthreads, sync, 0, 2);
}
