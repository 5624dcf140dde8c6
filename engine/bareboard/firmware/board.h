/* board.h: what a program without an operating system asks of its board. semihosting.c answers through a debugger or qemu;
 * for a chip of yours, write board_write with its serial port and let board_exit wait for ever. */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* What board_exit is told when the chip itself stopped the program. */
#define BOARD_FAULT 100

void board_write(const char *text);
__attribute__((noreturn)) void board_exit(int status);

/* Bytes of stack that were in use at the deepest moment so far (startup.c). */
size_t board_stack_used(void);

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
