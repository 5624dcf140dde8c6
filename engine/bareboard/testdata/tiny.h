/* tiny.h: a network of two stages by hand, with the interface that `ripc compile` gives to all networks. */
#include <stddef.h>
#include <stdint.h>
#define RIPC_ALIGN 64
#define RIPC_ALIGNED __attribute__((aligned(RIPC_ALIGN)))
typedef struct ripc_sync {
    RIPC_ALIGNED unsigned char bytes[128];
} ripc_sync;
#define TINY_INPUT_0_BYTES 16
#define TINY_OUTPUT_0_BYTES 16
#define TINY_WORKSPACE_BYTES(nthreads) (64 + 0 * (size_t)(nthreads))
int tiny_run(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads, ripc_sync *sync);
int tiny_run_stages(const void *const *in, void *const *out, void *workspace, uint32_t tid, uint32_t nthreads,
    ripc_sync *sync, uint32_t first, uint32_t last);
