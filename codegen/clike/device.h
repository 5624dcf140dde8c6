//// rc_bits
uint rc_bits(float x) { return as_uint(x); }
//// rc_float
float rc_float(uint x) { return as_float(x); }
//// rc_popcount32
uint rc_popcount32(uint x) { return popcount(x); }
//// rc_unseen
/* Compilers take -0 > x ? -0 : x for an instruction that does not see the sign, unless they cannot see the 0. */
#define rc_unseen(x) as_float(as_uint(x) + none)
//// rc_scaled
/* x * 2^-64, or zero of x's sign if that is subnormal. */
float rc_scaled(float x) { return fabs(x) < 0x1p-62f ? rc_float(rc_bits(x) & 0x80000000u) : x * 0x1p-64f; }
//// rc_fmul
/* Near 2^-126 the product is computed as if exponents had no end, whatever the device does with subnormals. */
float rc_fmul(float a, float b)
{
    const float r = a * b;
    if ((rc_bits(r) & 0x7fffffffu) > 0x00800000u || a == 0.0f || b == 0.0f) {
        return r;
    }
    return rc_scaled(fabs(a) < fabs(b) ? (a * 0x1p64f) * b : a * (b * 0x1p64f));
}
//// rc_fma
/* As rc_fmul. With a large c, a result near zero is zero, and exact. The fma of libclc takes -0 + 0 for -0. */
float rc_fma(float a, float b, float c)
{
    const float r = fma(a, b, c);
    if ((rc_bits(r) & 0x7fffffffu) > 0x00800000u || (r == 0.0f && fabs(c) > 0x1p-60f)) {
        return r;
    }
    if (a == 0.0f || b == 0.0f) {
        return a * b + c;
    }
    return rc_scaled(fabs(a) < fabs(b) ? fma(a * 0x1p64f, b, c * 0x1p64f) : fma(a, b * 0x1p64f, c * 0x1p64f));
}
//// rc_fdiv
/* The quotient, digit by digit: OpenCL lets "/" be wrong by 2.5 units of the last place. */
float rc_fdiv(float a, float b)
{
    const uint sign = (rc_bits(a) ^ rc_bits(b)) & 0x80000000u, x = rc_bits(a) & 0x7fffffffu, y = rc_bits(b) & 0x7fffffffu;
    int e = (int)(x >> 23) - (int)(y >> 23) + 127;
    ulong n = (x & 0x007fffffu) | 0x00800000u;
    const ulong d = (y & 0x007fffffu) | 0x00800000u;
    uint q;
    if (x > 0x7f800000u || y > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u))) {
        return rc_float(0x7fc00000u);
    }
    if (x == 0x7f800000u || y == 0u) {
        return rc_float(sign | 0x7f800000u);
    }
    if (x == 0u || y == 0x7f800000u) {
        return rc_float(sign);
    }
    if (n < d) {
        n *= 2u;
        e -= 1;
    }
    n <<= 24; /* one bit more than the result has */
    q = (uint)(n / d);
    q = q / 2u + ((q & 1u) & ((q / 2u & 1u) | (n % d != 0u ? 1u : 0u)));
    if (q == 0x01000000u) {
        q /= 2u;
        e += 1;
    }
    return rc_float(sign | (e >= 255 ? 0x7f800000u : e <= 0 ? 0u : ((uint)e << 23) | (q & 0x007fffffu)));
}
