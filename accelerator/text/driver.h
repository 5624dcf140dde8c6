/* Runs the accelerator {{.Name}} from a program under Linux ({{.Name}}_driver.c). */
#ifndef {{.Upper}}_DRIVER_H
#define {{.Upper}}_DRIVER_H

#include <stdint.h>

#include "{{.Name}}.h"

#define {{.Upper}}_BUFFER (({{.Upper}}_IN_BEATS * {{.Upper}}_IN_BYTES + 63) / 64 * 64 + {{.Upper}}_OUT_BEATS * {{.Upper}}_OUT_BYTES)

typedef {{if .Offsets}}float{{else if .Positions}}int{{else}}unsigned char{{end}} {{.Name}}_result;
typedef struct {
    volatile uint32_t *dma, *core; /* registers */
    unsigned char *buffer;         /* memory that the DMA engine reads and writes, at the address physical */
    uint64_t physical;
} {{.Name}}_device;

/* Both return 0, or -1 on failure. infer takes levels as {{.Name}}_pack does, and gives {{.Upper}}_OUT_ELEMENTS results. */
int {{.Name}}_open({{.Name}}_device *d);
int {{.Name}}_infer({{.Name}}_device *d, const unsigned char *levels, {{.Name}}_result *out);
void {{.Name}}_close({{.Name}}_device *d);
#endif
