uint rc_bits(float x) { return as_uint(x); }

float rc_float(uint x) { return as_float(x); }

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

/* Zero of x's sign for a subnormal x. */
float rc_flush(float x)
{
    const uint32_t u = rc_bits(x);
    return (u & 0x7f800000u) != 0 ? x : rc_float(u & 0x80000000u);
}

/* x * 2^-64, or zero of x's sign if that is subnormal. */
float rc_scaled(float x) { return fabs(x) < 0x1p-62f ? rc_float(rc_bits(x) & 0x80000000u) : x * 0x1p-64f; }

/* Near 2^-126 the product is computed as if exponents had no end, whatever the device does with subnormals. */
float rc_fmul(float a, float b)
{
    const float r = a * b;
    if ((rc_bits(r) & 0x7fffffffu) > 0x00800000u || a == 0.0f || b == 0.0f) {
        return r;
    }
    return rc_scaled(fabs(a) < fabs(b) ? (a * 0x1p64f) * b : a * (b * 0x1p64f));
}

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

float rc_fmax(float a, float b) { return a > b ? a : b; }

/* A float as an operand of what the float unit computes. */
#if RIPC_FLUSHES
float rc_operand(float x) { return x; }
#else
float rc_operand(float x) { return rc_flush(x); }
#endif

uint rc_popcount32(uint x) { return popcount(x); }

/* The square root, digit by digit. */
float rc_sqrt(float x)
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

/* Compilers take -0 > x ? -0 : x for an instruction that does not see the sign, unless they cannot see the 0. */
#define rc_unseen(x) as_float(as_uint(x) + none)

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void f_0(__global const uchar *restrict p0, const ulong at0, __global const uchar *restrict p1, const ulong at1, __global uchar *restrict p2, const ulong at2, __global uchar *restrict scratch, const ulong at)
{
    __global const rc_f32 *const v_x = (__global const rc_f32 *)(p0 + at0);
    __global const rc_u32 *const v_w = (__global const rc_u32 *)(p1 + at1);
    __global rc_f32 *const v_y = (__global rc_f32 *)(p2 + at2);
    __global rc_i32 *const v_s = (__global rc_i32 *)(scratch + at + 0);
    const int tid = (int)get_local_id(0);
    const uint none = (uint)(at >> 63); /* 0, but no compiler knows */
    {
        const int v_i = tid;
        v_s[v_i] = (int32_t)(uint32_t)rc_popcount32((uint32_t)v_w[v_i]);
    }
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void f_1(__global const uchar *restrict p0, const ulong at0, __global const uchar *restrict p1, const ulong at1, __global uchar *restrict p2, const ulong at2, __global uchar *restrict scratch, const ulong at)
{
    __global const rc_f32 *const v_x = (__global const rc_f32 *)(p0 + at0);
    __global const rc_u32 *const v_w = (__global const rc_u32 *)(p1 + at1);
    __global rc_f32 *const v_y = (__global rc_f32 *)(p2 + at2);
    __global rc_i32 *const v_s = (__global rc_i32 *)(scratch + at + 0);
    __local rc_f32 v_t[64];
    const int tid = (int)get_local_id(0);
    const uint none = (uint)(at >> 63); /* 0, but no compiler knows */
    const int v_b = (int)get_group_id(0);
    for (int32_t v_r = 0; v_r < 2; v_r++) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        {
            const int v_a = tid;
            if (tid < 32) {
                v_t[v_r * 32 + v_a] = rc_fdiv(rc_sqrt(rc_flush(v_x[v_b * 64 + v_r * 32 + v_a])), (float)v_s[v_a]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    {
        const int v_c = tid;
        {
            rc_f32 v_m[2];
            #pragma unroll 2
            for (int32_t v_k = 0; v_k < 2; v_k++) {
                v_m[v_k] = rc_fma(v_t[63 - v_c], 0x1p+01f, rc_operand(v_x[v_b * 64 + v_c]));
            }
            v_y[v_b * 64 + v_c] = rc_fmax(rc_unseen(v_m[0]), rc_unseen(v_m[1]));
        }
    }
}

