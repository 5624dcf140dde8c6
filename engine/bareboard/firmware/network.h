/* network.h: one network with static memory, under a name that does not depend on it (network.c, which ripc writes). */
#ifndef FIRMWARE_NETWORK_H
#define FIRMWARE_NETWORK_H

#include "board.h"

/* Bytes behind each buffer that nobody may write. */
#define NETWORK_GUARD 64

/* Inputs, outputs and workspace, in this order. */
extern const struct network_buffer {
    unsigned char *at;
    size_t bytes;
} network_buffers[];
extern const uint32_t network_count;

int run_network(void);
int run_network_stages(uint32_t first, uint32_t last);

#endif
