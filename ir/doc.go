// Package ir is ripc's tensor IR: typed loops over typed buffers. A Func defines the computation of
// one kernel and, once scheduled, its order. A Program is the list of Funcs that makes up a
// network, with its buffers and stages. Everything here is immutable: a transformation builds new
// nodes and shares the rest.
//
// # Semantics (the interpreter in ir/interp is the definition, and obeys this page)
//
//   - Integers wrap in two's complement at their own width. Both operands of a binary operation
//     have one type. Loop variables and buffer indices are i64.
//   - A sum may not wrap. Sums are "+=", and stored values that continue an element of their own
//     buffer by + and -, or by * and << with constants (Accumulates). A sum is evaluated as a
//     whole, in unbounded integers; operands that do not read that buffer wrap as they do
//     elsewhere. arith.VerifyWidths proves this for all compiled code, and the interpreter can
//     check it (interp.Checks). Intended wrapping, as in a hash, is computed in a wider type and
//     cast, or goes through another buffer.
//   - Integer "/" and "%" are floor division and its remainder; the divisor is a positive constant.
//   - "<<" and ">>" by a count outside 0..width-1 are an error. ">>" on a signed type is arithmetic
//     (floor).
//   - Comparisons give bool. "&", "|", "^" and "~" work on bool as logic.
//   - f32 operations round to nearest even, one by one, in the order written: nothing is
//     reassociated or contracted; fma(a, b, c) rounds once. Subnormal operands and results are
//     flushed to zero of their sign. Load, Store, Select, bitcast, "-x" and abs are exempt: they
//     keep subnormals. A NaN's bits are unspecified.
//   - min and max of floats are a < b ? a : b and a > b ? a : b (so b for a NaN or for two zeros).
//   - cast int -> int wraps or extends by the source's sign; bool -> int gives 0 or 1; int -> f32
//     rounds to nearest even; f32 -> int truncates toward zero, saturates, and gives 0 for NaN.
//     bitcast reinterprets equal widths.
//   - sqrt and "/" on f32 are IEEE, floor and round_even go to integral values, popcount counts one
//     bits.
//   - A Store evaluates indices and value, then writes; "+=", "|=", "min=", "max=" combine with the
//     old element.
//   - Buffers from alloc hold unspecified values at each entry of their scope; reading one before
//     writing it is an error.
//   - An index outside its buffer is an error, except that a Select or If that does not choose it
//     does not evaluate it. (Code generation may evaluate both sides of a Select when both are
//     provably in bounds.)
//   - A loop may have a role (Axis), and so may a buffer (Role). Strategies use roles; results do
//     not depend on them.
//   - A buffer of integers may declare the range of its elements ("from -127 to 127"). Storing a
//     number outside of it, or passing a parameter that holds one, is an error.
//   - The kind of a loop (serial, parallel, vectorize, unroll, block, thread), the space of an
//     alloc and barriers never change the result.
//   - Integer reductions may be reordered by a schedule; float ones never are.
//
// # Encodings
//
// A buffer of bit planes has an Encoding: unipolar (bit = 0 or 1), bipolar (bit 1 = +1, bit 0 = -1)
// or bipolar_inv (bit 1 = -1). Its shape is [planes, ..., words]; channel c is bit c%W of word c/W,
// W the width of the element type, least significant first; bits beyond Encoding.Channels are zero.
package ir
