/* Common to the headers of all networks. */
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
    RIPC_ALIGNED unsigned char bytes[1152];
} ripc_sync;
/* What the functions return. */
#define RIPC_OK 0
#define RIPC_BAD_THREADS 1 /* tid >= nthreads, nthreads > 256, or no sync for several threads */
#define RIPC_BAD_BUFFER 2  /* a buffer or an array of buffers is null, or a buffer is not aligned */
#define RIPC_BAD_STAGES 3  /* first > last, or last beyond the number of stages */
#endif
