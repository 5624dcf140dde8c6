//// rc_bits
static inline uint32_t rc_bits(float x)
{
    union { float f; uint32_t u; } p;
    p.f = x;
    return p.u;
}
//// rc_float
static inline float rc_float(uint32_t u)
{
    union { float f; uint32_t u; } p;
    p.u = u;
    return p.f;
}
//// rc_flush
/* Zero of x's sign for a subnormal x. */
static inline float rc_flush(float x)
{
    const uint32_t u = rc_bits(x);
    return (u & 0x7f800000u) != 0 ? x : rc_float(u & 0x80000000u);
}
//// rc_operand
/* A float as an operand of what the float unit computes. */
#if RIPC_FLUSHES
static inline float rc_operand(float x) { return x; }
#else
static inline float rc_operand(float x) { return rc_flush(x); }
#endif
//// rc_bits64
static inline uint64_t rc_bits64(double x)
{
    union { double f; uint64_t u; } p;
    p.f = x;
    return p.u;
}
//// rc_double
static inline double rc_double(uint64_t u)
{
    union { double f; uint64_t u; } p;
    p.u = u;
    return p.f;
}
//// rc_narrow
/* Rounds to float. What would be below 2^-126 if exponents had no end becomes zero. */
static inline float rc_narrow(double x)
{
    if (x < 0x1.ffffffp-127 && x > -0x1.ffffffp-127) {
        return rc_float((uint32_t)(rc_bits64(x) >> 32) & 0x80000000u);
    }
    return (float)x;
}
//// rc_fadd
static inline float rc_fadd(float a, float b) { return rc_operand(a + b); }
//// rc_fsub
static inline float rc_fsub(float a, float b) { return rc_operand(a - b); }
//// rc_fmul
/* Near 2^-126 it matters how a result was rounded, and whether the processor flushes by itself. */
static inline float rc_fmul(float a, float b)
{
    float r = a * b;
#if RIPC_FLUSHES
    __asm__("" : "+w"(r)); /* or compilers may fuse it with a sum */
    return r;
#endif
    if ((rc_bits(r) & 0x7fffffffu) > 0x00800000u || a == 0.0f || b == 0.0f) {
        return r;
    }
    return rc_narrow((double)a * (double)b);
}
//// rc_fdiv
static inline float rc_fdiv(float a, float b)
{
    const float r = a / b;
#if RIPC_FLUSHES
    return r;
#endif
    if ((rc_bits(r) & 0x7fffffffu) > 0x00800000u || a == 0.0f) {
        return r;
    }
    return rc_narrow((double)a / (double)b);
}
//// rc_unseen
/* Clang takes x < 0 ? x : 0 for an instruction of Arm that orders zeros, and -0 > x ? -0 : x for one of x86 that does not
 * see the sign, unless it cannot see the 0. */
#if defined(__clang__)
static inline float rc_unseen(float x)
{
    uint32_t none = 0;
    __asm__("" : "+r"(none));
    return rc_float(rc_bits(x) + none);
}
#else
static inline float rc_unseen(float x) { return x; }
#endif
//// rc_fmin
static inline float rc_fmin(float a, float b) { return a < b ? a : b; }
//// rc_fmax
static inline float rc_fmax(float a, float b) { return a > b ? a : b; }
//// rc_exact_fma
/* a * b + c, rounded once: the product is exact in double; the sum is rounded to odd where rounding it again to float could
 * go wrong (Boldo and Melquiond 2008). */
static inline float rc_exact_fma(float a, float b, float c)
{
    const double p = (double)a * (double)b, d = (double)c;
    double s = p + d;
    const uint64_t u = rc_bits64(s);
    if ((u & 0x1fffffffu) == 0x10000000u) {
        const double t = s - p, e = (p - (s - t)) + (d - t); /* p + d is s + e */
        if (e > 0.0) {
            s = rc_double(s > 0.0 ? u + 1u : u - 1u);
        } else if (e < 0.0) {
            s = rc_double(s > 0.0 ? u - 1u : u + 1u);
        }
    }
    return rc_narrow(s);
}
//// rc_fma
#if defined(__GNUC__) && (defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#if !RIPC_FLUSHES
/* A result r that is near 2^-126 or zero: out of line, so that loops keep their numbers in registers. */
static __attribute__((__noinline__, __cold__)) float rc_near_fma(float a, float b, float c, float r)
{
    return (a == 0.0f || b == 0.0f) && c == 0.0f ? r : rc_exact_fma(a, b, c);
}
#endif
static inline float rc_fma(float a, float b, float c)
{
    float r = __builtin_fmaf(a, b, c); /* an instruction */
#if defined(__clang__) && (defined(__arm__) || defined(__aarch64__))
    __asm__("" : "+w"(r)); /* Clang would take another one for -r, which gives 0 for -0 */
#endif
#if RIPC_FLUSHES
    return r;
#else
    return __builtin_expect(rc_bits(r) << 1 > 0x01000000u, 1) ? r : rc_near_fma(a, b, c, r);
#endif
}
#else
static inline float rc_fma(float a, float b, float c) { return rc_exact_fma(a, b, c); }
#endif
//// rc_sqrt
/* The square root, digit by digit. */
static inline float rc_sqrt(float x)
{
    const uint32_t u = rc_bits(x);
    uint32_t m, root = 0, bit;
    uint64_t n;
    int32_t e;
    if ((u & 0x7fffffffu) == 0 || u == 0x7f800000u) {
        return x;
    }
    if (u > 0x7f800000u) {
        return rc_float(0x7fc00000u); /* of a negative number, or NaN */
    }
    e = (int32_t)(u >> 23) - 127;
    m = (u & 0x007fffffu) | 0x00800000u;
    if ((u >> 23) % 2u == 0) { /* e is odd */
        m *= 2u;
        e -= 1;
    }
    n = (uint64_t)m << 25;
    for (bit = 0x01000000u; bit != 0; bit /= 2u) {
        if ((uint64_t)(root + bit) * (root + bit) <= n) {
            root += bit;
        }
    }
    return rc_float(((uint32_t)(e / 2 + 127) << 23) + ((root + 1u) / 2u - 0x00800000u));
}
//// rc_floor
static inline float rc_floor(float x)
{
    const uint32_t u = rc_bits(x);
    float f;
    if ((u & 0x7fffffffu) >= 0x4b000000u) { /* integral, infinite or NaN */
        return x;
    }
    f = (float)(int32_t)x;
    if (f > x) {
        f -= 1.0f;
    }
    return rc_float(rc_bits(f) | (u & 0x80000000u));
}
//// rc_round_even
static inline float rc_round_even(float x)
{
    const uint32_t u = rc_bits(x), m = u & 0x7fffffffu;
    if (m >= 0x4b000000u) { /* integral, infinite or NaN */
        return x;
    }
    return rc_float(rc_bits((rc_float(m) + 8388608.0f) - 8388608.0f) | (u & 0x80000000u));
}
//// rc_popcount32
static inline uint32_t rc_popcount32(uint32_t x)
{
#if defined(__GNUC__) && (defined(__POPCNT__) || defined(__aarch64__))
    return (uint32_t)__builtin_popcount(x);
#else
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (x * 0x01010101u) >> 24;
#endif
}
//// rc_popcount8
static inline uint32_t rc_popcount8(uint32_t x)
{
    x -= (x >> 1) & 0x55u;
    x = (x & 0x33u) + ((x >> 2) & 0x33u);
    return (x + (x >> 4)) & 0x0fu;
}
//// rc_popcount64
static inline uint32_t rc_popcount64(uint64_t x)
{
    return rc_popcount32((uint32_t)x) + rc_popcount32((uint32_t)(x >> 32));
}
//// rc_share
/* Where the part of thread i of a loop begins. */
static inline int32_t rc_share(uint32_t i, uint32_t nthreads, int32_t extent)
{
    uint32_t each = (uint32_t)extent / nthreads, rest = (uint32_t)extent % nthreads;
    return (int32_t)(each * i + (i < rest ? i : rest)); /* 64 bits would call a library on 32-bit chips */
}
//// rc_dsp
/* Arm's DSP extension works on two halves of a register. */
#ifndef RIPC_DSP
#if defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32)
#define RIPC_DSP 1
#else
#define RIPC_DSP 0
#endif
#endif
#if RIPC_DSP
typedef struct { uint32_t u; } __attribute__((__packed__, __may_alias__)) rc_unaligned;
static inline uint32_t rc_four(const void *p) { return ((const rc_unaligned *)p)->u; }

/* Bytes 0 and 2, or 1 and 3, of a word, as halves. */
static inline uint32_t rc_uxtb16(uint32_t x)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_uxtb16_odd(uint32_t x)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_sxtb16(uint32_t x)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_sxtb16_odd(uint32_t x)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(x));
    return r;
}

/* acc and the products of the halves of a and b, modulo 2^32. */
static inline int32_t rc_smlad(uint32_t a, uint32_t b, int32_t acc)
{
    int32_t r;
    __asm__("smlad %0, %1, %2, %3" : "=r"(r) : "r"(a), "r"(b), "r"(acc));
    return r;
}
#endif
