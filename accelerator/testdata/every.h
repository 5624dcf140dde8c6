/* The accelerator of every for arty-a7. Pixels come in row-major order, channels ascending, the first
   element of a beat in its low bits. Levels are counted so that real values rise. */
#ifndef EVERY_ACCELERATOR_H
#define EVERY_ACCELERATOR_H

#define EVERY_CYCLES 1458 /* of a picture, in a full pipeline */
#define EVERY_IN_ELEMENTS 243 /* of a picture */
#define EVERY_IN_BEATS 81 /* of a picture */
#define EVERY_IN_LANES 3 /* elements a beat */
#define EVERY_IN_BITS 2 /* bits of an element */
#define EVERY_IN_SIGNED 0 /* 1: elements are signed */
#define EVERY_OUT_ELEMENTS 10 /* of a picture */
#define EVERY_OUT_BEATS 10 /* of a picture */
#define EVERY_OUT_LANES 1 /* elements a beat */
#define EVERY_OUT_BITS 10 /* bits of an element */
#define EVERY_OUT_SIGNED 1 /* 1: elements are signed */

/* The sum of an output channel is element * EVERY_OUT_STEP + every_out_offset[channel]. */
#define EVERY_OUT_STEP 1 /*  */
static const int every_out_offset[10] = {-165, -150, -180, -150, -180, -90, -165, -225, -180, -150};

#endif
