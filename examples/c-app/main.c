/* Which digits are on pictures of 16 x 16 floats from 0 to 1? Reads them from a .npy file and, if there is one more file, the
 * right answers, of 64 bits each. Nothing here is about ripc but the lines with digits_, DIGITS_ and RIPC_. */
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "digits.h"

/* A model with other pictures would be found here, not at run time. */
#if DIGITS_INPUTS != 1 || DIGITS_INPUT_0_ELEMS != 256 || DIGITS_OUTPUT_0_ELEMS != 10
#error "this program is for pictures of 16 x 16 and ten digits"
#endif
#define THREADS 2

static RIPC_ALIGNED float picture[DIGITS_INPUT_0_ELEMS];
static RIPC_ALIGNED float logits[DIGITS_OUTPUT_0_ELEMS];
static RIPC_ALIGNED unsigned char workspace[DIGITS_WORKSPACE_BYTES(THREADS)];

/* One inference: with OpenMP all threads make the call, each with its number. */
static int infer(void)
{
    const void *in[DIGITS_INPUTS] = {picture};
    void *out[DIGITS_OUTPUTS] = {logits};
#ifdef _OPENMP
    static ripc_sync sync;
    int status = RIPC_OK;
#pragma omp parallel num_threads(THREADS)
    {
        int mine = digits_run(in, out, workspace, (uint32_t)omp_get_thread_num(), (uint32_t)omp_get_num_threads(), &sync);
        if (mine != RIPC_OK) {
#pragma omp critical
            status = mine;
        }
    }
    return status;
#else
    return digits_run(in, out, workspace, 0, 1, NULL);
#endif
}

/* Opens a .npy file of version 1 and passes over its header. */
static FILE *npy(const char *path)
{
    unsigned char head[10];
    FILE *f = fopen(path, "rb");
    if (f == NULL || fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, "\x93NUMPY\x01", 7) != 0 ||
        fseek(f, head[8] + 256L * head[9], SEEK_CUR) != 0) {
        fprintf(stderr, "%s: not a .npy file\n", path);
        return NULL;
    }
    return f;
}

int main(int argc, char **argv)
{
    FILE *pictures, *answers = NULL;
    unsigned char answer[8];
    int count = 0, right = 0;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s PICTURES.npy [ANSWERS.npy]\n", argv[0]);
        return 2;
    }
    if (digits_cpu_ok() == RIPC_CPU_LACKS) { /* without this, SIGILL */
        fprintf(stderr, "the network was compiled for %s, and this CPU lacks something of it\n", DIGITS_TARGET);
        return 1;
    }
    if ((pictures = npy(argv[1])) == NULL || (argc == 3 && (answers = npy(argv[2])) == NULL))
        return 1;
    while (fread(picture, 1, sizeof picture, pictures) == sizeof picture) {
        int best = 0, status = infer();
        if (status != RIPC_OK) {
            fprintf(stderr, "digits_run: %s\n", ripc_status_text(status));
            return 1;
        }
        for (int i = 1; i < DIGITS_OUTPUT_0_ELEMS; i++)
            if (logits[i] > logits[best])
                best = i;
        if (count++ < 3)
            printf("picture %d: %d (%.6g)\n", count - 1, best, logits[best]);
        if (answers != NULL && fread(answer, 1, sizeof answer, answers) == sizeof answer)
            right += answer[0] == best;
    }
    if (answers != NULL)
        printf("%d of %d right", right, count);
    else
        printf("%d pictures", count);
    printf(", %s, %ld MACs each\n", DIGITS_TARGET, (long)DIGITS_MACS);
    return 0;
}
