/* startup.c: what a Cortex-M does before main, and the four functions that compilers expect of any machine. */
#include "board.h"

/* Or the compiler would make a call of memcpy of memcpy's own loop. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

extern unsigned char stack_bottom[], stack_top[], data_start[], data_end[], data_load[], bss_start[], bss_end[];

int main(void);
void reset_handler(void);
static void fault_handler(void);
__attribute__((weak)) void systick_handler(void); /* a program that uses the timer has its own */

/* The vector table: the first stack pointer, then the handlers that every Cortex-M has. Those of the chip's own interrupts
 * would follow. */
__attribute__((section(".vectors"), used)) static const struct {
    unsigned char *stack;
    void (*handlers[15])(void);
} vectors = {
    stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, 0, 0, 0, fault_handler,
        fault_handler, 0, fault_handler, systick_handler},
};

static const uint32_t paint = 0x5afe57acu;

static void fault_handler(void)
{
    board_write("fault: the program did what this chip cannot, or left its memory\n");
    board_exit(BOARD_FAULT);
}

void systick_handler(void) {}

void reset_handler(void)
{
    volatile uint32_t *cpacr = (volatile uint32_t *)0xe000ed88u;
    uint32_t *p;
    *cpacr |= 0xfu << 20; /* full access to the float unit */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    /* Paint the stack below this function's frame, to see later how deep it went. */
    for (p = (uint32_t *)stack_bottom; p < (uint32_t *)__builtin_frame_address(0) - 16; p++)
        *p = paint;
    board_exit(main());
}

size_t board_stack_used(void)
{
    const uint32_t *p = (const uint32_t *)stack_bottom;
    while (p < (const uint32_t *)stack_top && *p == paint)
        p++;
    return (size_t)(stack_top - (const unsigned char *)p);
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    while (n--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *t = to;
    while (n--)
        *t++ = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n--; x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}
