#pragma OPENCL FP_CONTRACT OFF
typedef char int8_t, rc_i8;
typedef short int16_t, rc_i16;
typedef int int32_t, rc_i32;
typedef long int64_t, rc_i64;
typedef uchar uint8_t, rc_u8, rc_bool;
typedef ushort uint16_t, rc_u16;
typedef uint uint32_t, rc_u32;
typedef ulong uint64_t, rc_u64;
typedef float rc_f32;
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807L - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615UL
#define RIPC_COND(c) (c)
#define RIPC_FLUSHES 0

