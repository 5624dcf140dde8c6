/* jobs.c: the program with which ripc runs a network on a board: it reads the file "jobs", does them one after the other, and
 * writes the file "results". All numbers are 32 bits wide, as the board stores them.
 *
 *   jobs:    float settings, number of jobs; for each: what (see below), first and last stage, then, with BRING, the
 *            contents of all buffers: inputs, outputs, workspace
 *   results: for each job: status; number of the buffer that was written beyond its end, or -1; how long it took, in ticks
 *            of the processor's clock, low half first; with KEEP, the contents of all buffers; at the end the bytes of stack
 *            that were used
 */
#include "network.h"
#include "semihosting.h"

enum { BRING = 1, KEEP = 2, WHOLE = 4 };
enum { BAD_FILE = 101 };

static const unsigned char guard = 0xa5;

static int jobs, results;

/* SysTick counts down; its handler counts how often that began anew. */
enum { LAP = 1 << 20 }; /* ticks; 24 bits is the most */
static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010u; /* control, reload, current */
static volatile uint32_t laps;

void systick_handler(void) { laps++; }

static void start_clock(void)
{
    systick[0] = 0;
    laps = 0;
    systick[1] = LAP - 1;
    systick[2] = 0; /* any value clears it: the first lap begins with the next tick */
    systick[0] = 7; /* on, with its exception, by the processor's clock */
}

static uint64_t stop_clock(void)
{
    uint32_t lap, now;
    do { /* a lap may end between the two */
        lap = laps;
        now = systick[2];
    } while (lap != laps);
    systick[0] = 0;
    return (uint64_t)lap * LAP + (now ? LAP - now : 0);
}

static void get(void *to, size_t n)
{
    if (n && host_read(jobs, to, n))
        board_exit(BAD_FILE);
}

static void put(const void *from, size_t n)
{
    if (n && host_write(results, from, n))
        board_exit(BAD_FILE);
}

static uint32_t get_number(void)
{
    uint32_t x;
    get(&x, sizeof x);
    return x;
}

static void put_number(uint32_t x) { put(&x, sizeof x); }

/* The first buffer whose guard is not what it was. */
static uint32_t spoiled(void)
{
    uint32_t i, k;
    for (i = 0; i < network_count; i++)
        for (k = 0; k < NETWORK_GUARD; k++)
            if (network_buffers[i].at[network_buffers[i].bytes + k] != guard)
                return i;
    return UINT32_MAX;
}

int main(void)
{
    uint32_t settings, n, i, k;
    jobs = host_open("jobs", 0);
    results = host_open("results", 1);
    if (jobs < 0 || results < 0)
        return BAD_FILE;
    settings = get_number();
    __asm__ volatile("vmsr fpscr, %0" ::"r"(settings));
    for (n = get_number(), i = 0; i < n; i++) {
        uint32_t what = get_number(), first = get_number(), last = get_number(), status;
        uint64_t took;
        for (k = 0; k < network_count; k++) {
            if (what & BRING)
                get(network_buffers[k].at, network_buffers[k].bytes);
            memset(network_buffers[k].at + network_buffers[k].bytes, guard, NETWORK_GUARD);
        }
        start_clock();
        status = (uint32_t)(what & WHOLE ? run_network() : run_network_stages(first, last));
        took = stop_clock();
        put_number(status);
        put_number(spoiled());
        put(&took, sizeof took);
        for (k = 0; k < network_count && what & KEEP; k++)
            put(network_buffers[k].at, network_buffers[k].bytes);
    }
    put_number((uint32_t)board_stack_used());
    return host_close(results) ? BAD_FILE : 0;
}
