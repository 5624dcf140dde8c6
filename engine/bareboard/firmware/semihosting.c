/* semihosting.c: board.h and semihosting.h by the breakpoint that a debugger or qemu understands. */
#include "semihosting.h"

static intptr_t call(uintptr_t what, const void *args)
{
    register uintptr_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = args;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (intptr_t)r0;
}

static uintptr_t length(const char *s)
{
    uintptr_t n = 0;
    while (s[n])
        n++;
    return n;
}

int host_open(const char *name, int writing)
{
    const uintptr_t args[3] = {(uintptr_t)name, writing ? 5u : 1u /* "wb", "rb" */, length(name)};
    return (int)call(0x01, args);
}

int host_close(int file)
{
    const uintptr_t args[1] = {(uintptr_t)file};
    return (int)call(0x02, args);
}

size_t host_write(int file, const void *from, size_t n)
{
    const uintptr_t args[3] = {(uintptr_t)file, (uintptr_t)from, n};
    return (size_t)call(0x05, args);
}

size_t host_read(int file, void *to, size_t n)
{
    const uintptr_t args[3] = {(uintptr_t)file, (uintptr_t)to, n};
    return (size_t)call(0x06, args);
}

void board_write(const char *text) { call(0x04, text); }

void board_exit(int status)
{
    const uintptr_t args[2] = {0x20026u /* ended by itself */, (uintptr_t)status};
    for (;;)
        call(0x20, args);
}
