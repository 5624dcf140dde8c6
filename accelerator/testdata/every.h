/* The accelerator of every for arty-a7. Its streams are bytes (every_accelerator_bytes): pixels in row-major
   order, channels ascending, the first element of a beat in its low bits, the lowest byte of a beat first. */
#ifndef EVERY_ACCELERATOR_H
#define EVERY_ACCELERATOR_H

#define EVERY_CYCLES 1458 /* of a picture, in a full pipeline */
#define EVERY_IN_ELEMENTS 243 /* of a picture */
#define EVERY_IN_BEATS 81 /* of a picture */
#define EVERY_IN_LANES 3 /* elements of a beat */
#define EVERY_IN_BITS 2 /* bits of an element */
#define EVERY_IN_BYTES 1 /* bytes of a beat */

#define EVERY_OUT_ELEMENTS 10
#define EVERY_OUT_BEATS 10
#define EVERY_OUT_LANES 1
#define EVERY_OUT_BITS 10
#define EVERY_OUT_BYTES 2

/* every_pack makes the bytes of a picture, EVERY_IN_BEATS * EVERY_IN_BYTES, of its levels, a byte each. */
static inline void every_pack(const unsigned char *levels, unsigned char *bytes) {
    for (long i = 0; i < (long)EVERY_IN_BEATS * EVERY_IN_BYTES; i++)
        bytes[i] = 0;
    for (long i = 0; i < EVERY_IN_ELEMENTS; i++) {
        unsigned v = levels[i];
        long at = i / EVERY_IN_LANES * EVERY_IN_BYTES * 8 + i % EVERY_IN_LANES * EVERY_IN_BITS;
        for (int b = 0; b < EVERY_IN_BITS; b++)
            bytes[(at + b) / 8] |= (unsigned char)((v >> b & 1u) << (at + b) % 8);
    }
}

/* every_unpack makes the sums of a picture, as floats, of EVERY_OUT_BEATS * EVERY_OUT_BYTES bytes. */
static inline void every_unpack(const unsigned char *bytes, float *sums) {
    static const long offsets[] = {-165, -150, -180, -150, -180, -90, -165, -225, -180, -150};
    const long channels = (long)(sizeof offsets / sizeof offsets[0]);
    for (long i = 0; i < EVERY_OUT_ELEMENTS; i++) {
        long at = i / EVERY_OUT_LANES * EVERY_OUT_BYTES * 8 + i % EVERY_OUT_LANES * EVERY_OUT_BITS;
        long v = 0;
        for (int b = 0; b < EVERY_OUT_BITS; b++)
            v |= (long)(bytes[(at + b) / 8] >> (at + b) % 8 & 1) << b;
        if (v >> (EVERY_OUT_BITS - 1)) /* a negative number */
            v -= (long)1 << EVERY_OUT_BITS;
        sums[i] = (float)(v + offsets[i % channels]);
    }
}

#endif
