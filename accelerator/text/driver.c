/* {{.Name}} on {{.Board}}, from a program under Linux: a DMA engine of AMD moves pictures and results ("vivado.tcl" makes
 * the hardware). It needs root, and a buffer of the driver u-dma-buf, of at least {{.Upper}}_BUFFER bytes. Untested: no
 * board was at hand. Registers are plain memory, so a test can stand in for the hardware.
 */
#include "{{.Name}}_driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Registers of the DMA engine, as words: to the core, and from it. */
enum { TO_CONTROL = 0, TO_STATUS = 1, TO_ADDRESS = 6, TO_HIGH = 7, TO_LENGTH = 10,
    FROM_CONTROL = 12, FROM_STATUS = 13, FROM_ADDRESS = 18, FROM_HIGH = 19, FROM_LENGTH = 22 };
enum { RUN = 1, RESET = 4, IDLE = 2, FAILED = 0x70 };
#define IN_BYTES ({{.Upper}}_IN_BEATS * {{.Upper}}_IN_BYTES)
#define OUT_BYTES ({{.Upper}}_OUT_BEATS * {{.Upper}}_OUT_BYTES)
#define OUT_AT ((IN_BYTES + 63) / 64 * 64)

static void *map(const char *path, size_t bytes, off_t at) {
    int file = open(path, O_RDWR | O_SYNC);
    void *p = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
    if (file >= 0)
        close(file);
    return p == MAP_FAILED ? NULL : p;
}

int {{.Name}}_open({{.Name}}_device *d) {
    unsigned long long at = 0;
    FILE *f = fopen("/sys/class/u-dma-buf/udmabuf0/phys_addr", "r");
    if (!f || fscanf(f, "%llx", &at) != 1) {
        if (f)
            fclose(f);
        return -1;
    }
    fclose(f);
    d->physical = at;
    d->dma = map("/dev/mem", 4096, {{.DMA}});
    d->core = map("/dev/mem", 4096, {{.Core}});
    d->buffer = map("/dev/udmabuf0", {{.Upper}}_BUFFER, 0);
    if (!d->dma || !d->core || !d->buffer)
        return -1;
    d->core[0] = 1;
    d->dma[TO_CONTROL] = d->dma[FROM_CONTROL] = RESET;
    while (d->dma[TO_CONTROL] & RESET)
        ;
    d->core[0] = 0;
    return 0;
}

static int wait_for(volatile uint32_t *status) {
    uint32_t s;
    do
        s = *status;
    while (!(s & (IDLE | FAILED)));
    return s & FAILED ? -1 : 0;
}

int {{.Name}}_infer({{.Name}}_device *d, const unsigned char *levels, {{.Name}}_result *out) {
    uint64_t to = d->physical, from = d->physical + OUT_AT;
    {{.Name}}_pack(levels, d->buffer);
    d->dma[TO_CONTROL] = d->dma[FROM_CONTROL] = RUN;
    d->dma[FROM_ADDRESS] = (uint32_t)from;
    d->dma[FROM_HIGH] = (uint32_t)(from >> 32);
    d->dma[FROM_LENGTH] = OUT_BYTES;
    d->dma[TO_ADDRESS] = (uint32_t)to;
    d->dma[TO_HIGH] = (uint32_t)(to >> 32);
    d->dma[TO_LENGTH] = IN_BYTES;
    if (wait_for(&d->dma[TO_STATUS]) || wait_for(&d->dma[FROM_STATUS]))
        return -1;
    {{.Name}}_unpack(d->buffer + OUT_AT, out);
    return 0;
}

void {{.Name}}_close({{.Name}}_device *d) {
    munmap((void *)d->dma, 4096);
    munmap((void *)d->core, 4096);
    munmap(d->buffer, {{.Upper}}_BUFFER);
}
