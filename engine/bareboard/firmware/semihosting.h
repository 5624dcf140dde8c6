/* semihosting.h: files of the machine that simulates or debugs the board (Arm's "Semihosting for AArch32 and AArch64"). */
#ifndef FIRMWARE_SEMIHOSTING_H
#define FIRMWARE_SEMIHOSTING_H

#include "board.h"

/* Opens a file, for writing or else for reading; negative if that fails. */
int host_open(const char *name, int writing);
/* Return the number of bytes that were not moved: 0 is success. */
size_t host_read(int file, void *to, size_t n);
size_t host_write(int file, const void *from, size_t n);
int host_close(int file);

#endif
