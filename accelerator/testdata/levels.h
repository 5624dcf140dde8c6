/* The accelerator of bconv_int8_valid_c64 for arty-a7. Its streams are bytes (bconv_int8_valid_c64_accelerator_bytes): pixels in row-major
   order, channels ascending, the first element of a beat in its low bits, the lowest byte of a beat first. */
#ifndef BCONV_INT8_VALID_C64_ACCELERATOR_H
#define BCONV_INT8_VALID_C64_ACCELERATOR_H

#define BCONV_INT8_VALID_C64_CYCLES 225 /* of a picture, in a full pipeline */
#define BCONV_INT8_VALID_C64_IN_ELEMENTS 3136 /* of a picture */
#define BCONV_INT8_VALID_C64_IN_BEATS 49 /* of a picture */
#define BCONV_INT8_VALID_C64_IN_LANES 64 /* elements of a beat */
#define BCONV_INT8_VALID_C64_IN_BITS 1 /* bits of an element */
#define BCONV_INT8_VALID_C64_IN_BYTES 8 /* bytes of a beat */

#define BCONV_INT8_VALID_C64_OUT_ELEMENTS 400
#define BCONV_INT8_VALID_C64_OUT_BEATS 25
#define BCONV_INT8_VALID_C64_OUT_LANES 16
#define BCONV_INT8_VALID_C64_OUT_BITS 8
#define BCONV_INT8_VALID_C64_OUT_BYTES 16

/* bconv_int8_valid_c64_pack makes the bytes of a picture, BCONV_INT8_VALID_C64_IN_BEATS * BCONV_INT8_VALID_C64_IN_BYTES, of its levels, a byte each. */
static inline void bconv_int8_valid_c64_pack(const unsigned char *levels, unsigned char *bytes) {
    for (long i = 0; i < (long)BCONV_INT8_VALID_C64_IN_BEATS * BCONV_INT8_VALID_C64_IN_BYTES; i++)
        bytes[i] = 0;
    for (long i = 0; i < BCONV_INT8_VALID_C64_IN_ELEMENTS; i++) {
        unsigned v = levels[i];
        long at = i / BCONV_INT8_VALID_C64_IN_LANES * BCONV_INT8_VALID_C64_IN_BYTES * 8 + i % BCONV_INT8_VALID_C64_IN_LANES * BCONV_INT8_VALID_C64_IN_BITS;
        v = 1u - v;
        for (int b = 0; b < BCONV_INT8_VALID_C64_IN_BITS; b++)
            bytes[(at + b) / 8] |= (unsigned char)((v >> b & 1u) << (at + b) % 8);
    }
}

/* bconv_int8_valid_c64_unpack makes the levels of a picture, a byte each, of BCONV_INT8_VALID_C64_OUT_BEATS * BCONV_INT8_VALID_C64_OUT_BYTES bytes. */
static inline void bconv_int8_valid_c64_unpack(const unsigned char *bytes, unsigned char *levels) {
    for (long i = 0; i < BCONV_INT8_VALID_C64_OUT_ELEMENTS; i++) {
        long at = i / BCONV_INT8_VALID_C64_OUT_LANES * BCONV_INT8_VALID_C64_OUT_BYTES * 8 + i % BCONV_INT8_VALID_C64_OUT_LANES * BCONV_INT8_VALID_C64_OUT_BITS;
        long v = 0;
        for (int b = 0; b < BCONV_INT8_VALID_C64_OUT_BITS; b++)
            v |= (long)(bytes[(at + b) / 8] >> (at + b) % 8 & 1) << b;
        levels[i] = (unsigned char)(v ^ 128);
    }
}

#endif
