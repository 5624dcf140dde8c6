/* {{.Name}}.c: the network "{{comment .Program.Name}}", compiled by ripc {{comment .Version}} for {{comment .Target.Name}}. Generated; do not edit.
 *
 * One file of C99 that calls no library: the functions at its end are declared, and their use is shown, in the header
 * that goes with it. Build it with any compiler, for any little-endian chip whose float and double are IEEE's:
 *
 *     cc -std=c99 -O2 -c {{.Name}}.c
 *
 * It computes the same bits with every compiler and every option, but for those that let floats be less exact
 * (-ffast-math), and in the float environment that programs start with. What can be defined before it is compiled:
 *
 * RIPC_FLUSH_TO_ZERO leaves out the code that flushes subnormal floats, on an Arm float unit that does it: FPSCR.FZ (or FPCR.FZ)
 *                    has to be set in each thread that calls; results are then those of ripc's libraries for Arm
 * RIPC_DSP           0 leaves out what Arm's DSP extension does; 1 asks for it where the compiler does not say that it is there
 * RIPC_NO_DESCRIBE   leaves the description out, which {{.Name}}_describe returns
 * RIPC_NO_THREADS    leaves the barrier out, so that nthreads must be 1
 * RIPC_YIELD()       gives the processor away while a thread waits for others
 * RIPC_UNROLL(n)     goes before loops that are to be unrolled n times
 * RIPC_VECTOR        goes before loops whose iterations do not depend on each other, one for each lane of a vector
 * RIPC_LANES(n)      goes before such loops of few lanes; where a chip has no vectors they are unrolled
 */
#if defined(__cplusplus)
#error "this is C, not C++: compile it as C and include the header in C++"
#endif
#include <float.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors and weights are little-endian, and this machine is not"
#endif
#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || DBL_MANT_DIG != 53
#error "float and double must have 32 and 64 bits (IEEE 754)"
#endif
#if !defined(FLT_EVAL_METHOD) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
#error "floats must be computed as floats: on x86, compile with -msse2 -mfpmath=sse"
#endif
#if defined(__FAST_MATH__)
#error "floats must be exact: compile without -ffast-math"
#endif
#if !defined(RIPC_FLUSH_TO_ZERO)
#define RIPC_FLUSHES 0
#elif defined(__GNUC__) && defined(__ARM_FEATURE_FMA)
#define RIPC_FLUSHES 1
#else
#error "RIPC_FLUSH_TO_ZERO is for Arm float units that have fused multiply-adds: compile without it"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* This pass of GCC reads elements that another thread writes, and writes them back. */
#pragma GCC push_options
#pragma GCC optimize("no-predictive-commoning")
#if defined(__ARM_ARCH) && __ARM_ARCH_PROFILE == 'M'
/* Few registers: what is loaded long before it is used is spilled. */
#pragma GCC optimize("no-schedule-insns")
#endif
#endif

{{common}}
#ifndef RIPC_C_DEFINED
#define RIPC_C_DEFINED
/* Elements in memory: the same bytes hold tensors of several types, one after the other, and words are read as bytes.
 * Compilers other than GCC and Clang that reason by types must be told not to (-fno-strict-aliasing). */
#if defined(__GNUC__)
#define RIPC_ELEMENT __attribute__((__may_alias__))
#else
#define RIPC_ELEMENT
#endif
#if defined(__GNUC__)
#define RIPC_USED __attribute__((__used__))
/* A function of its own, whose loops do not share registers with other layers. */
#define RIPC_KERNEL __attribute__((__noinline__))
#else
#define RIPC_USED
#define RIPC_KERNEL
#endif
typedef int8_t RIPC_ELEMENT rc_i8;
typedef int16_t RIPC_ELEMENT rc_i16;
typedef int32_t RIPC_ELEMENT rc_i32;
typedef int64_t RIPC_ELEMENT rc_i64;
typedef uint8_t RIPC_ELEMENT rc_u8;
typedef uint16_t RIPC_ELEMENT rc_u16;
typedef uint32_t RIPC_ELEMENT rc_u32;
typedef uint64_t RIPC_ELEMENT rc_u64;
typedef uint8_t RIPC_ELEMENT rc_bool;
typedef float RIPC_ELEMENT rc_f32;
#endif
#ifndef RIPC_UNROLL
#if defined(__clang__)
#define RIPC_UNROLL(n) _Pragma("unroll")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define RIPC_PRAGMA(text) _Pragma(#text)
#define RIPC_UNROLL(n) RIPC_PRAGMA(GCC unroll n)
#else
#define RIPC_UNROLL(n)
#endif
#endif
#ifndef RIPC_VECTOR
#if defined(__GNUC__) && !defined(__clang__)
#define RIPC_VECTOR _Pragma("GCC ivdep")
#else
#define RIPC_VECTOR
#endif
#endif
#ifndef RIPC_LANES
#if defined(__ARM_ARCH) && !defined(__ARM_NEON) && !defined(__ARM_FEATURE_MVE)
#define RIPC_LANES(n) RIPC_UNROLL(n)
#else
#define RIPC_LANES(n) RIPC_VECTOR
#endif
#endif
#ifndef RIPC_COND
#if defined(__GNUC__) && !defined(__clang__) && \
    (__GNUC__ < 12 || (__GNUC__ == 12 && __GNUC_MINOR__ < 4) || (__GNUC__ == 13 && __GNUC_MINOR__ < 3))
/* These versions make vectors of conditional loads with lanes in the wrong order (GCC's bug 114375), unless they cannot see
 * through the condition. */
static inline int rc_opaque(int c)
{
    __asm__("" : "+r"(c));
    return c;
}
#define RIPC_COND(c) rc_opaque(c)
#else
#define RIPC_COND(c) (c)
#endif
#endif

