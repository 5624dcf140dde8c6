package runtime

import (
	"fmt"

	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

// maxTensor bounds one buffer, in bytes; it keeps all sums of sizes within int64.
const maxTensor = 1 << 40

// elementSize returns the bytes of one element of dtype ("f32", "i32", "u32", "i16", "u8", "i8"),
// or 0.
func elementSize(dtype string) int64 {
	switch dtype {
	case "f32", "i32", "u32":
		return 4
	case "i16":
		return 2
	case "u8", "i8":
		return 1
	}
	return 0
}

// operandSize is elementSize for the operands of stages, which have further types.
func operandSize(dtype string) int64 {
	switch dtype {
	case "u16":
		return 2
	case "i64", "u64":
		return 8
	case "bool":
		return 1
	}
	return elementSize(dtype)
}

// TensorBytes returns the size of t in memory, in bytes: the product of its shape times the
// element's size. A packed tensor's shape counts words already. It fails if dtype or shape is
// unusable.
func TensorBytes(t describe.Tensor) (int, error) {
	n := elementSize(t.DType)
	if n == 0 {
		return 0, fmt.Errorf("tensor %q: dtype %q is not f32, i32, u32, i16, u8 or i8", t.Name, t.DType)
	}
	return shapeBytes(t, n)
}

// OperandBytes is TensorBytes for a stage's operand, which may have further types.
func OperandBytes(t describe.Tensor) (int, error) {
	n := operandSize(t.DType)
	if n == 0 {
		return 0, fmt.Errorf("tensor %q has the unknown dtype %q", t.Name, t.DType)
	}
	return shapeBytes(t, n)
}

// shapeBytes is the size of t, of elements of n bytes.
func shapeBytes(t describe.Tensor, n int64) (int, error) {
	empty := false
	for i, d := range t.Shape {
		switch {
		case d < 0:
			return 0, fmt.Errorf("tensor %q: extent %d of axis %d is negative", t.Name, d, i)
		case d == 0:
			empty = true
		case int64(d) > maxTensor/n:
			return 0, fmt.Errorf("tensor %q: shape %v of %s exceeds %d bytes", t.Name, t.Shape, t.DType,
				int64(maxTensor))
		default:
			n *= int64(d)
		}
	}
	if empty {
		return 0, nil
	}
	if int64(int(n)) != n {
		return 0, fmt.Errorf("tensor %q: shape %v of %s does not fit this machine's address space", t.Name, t.Shape,
			t.DType)
	}
	return int(n), nil
}

// ToArray makes a .npy array of t's bytes; data is used, not copied. It fails if data has another
// size than t.
func ToArray(t describe.Tensor, data []byte) (*npy.Array, error) {
	n, err := TensorBytes(t)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, fmt.Errorf("tensor %q: shape %v of %s needs %d bytes, there are %d", t.Name, t.Shape, t.DType, n,
			len(data))
	}
	return &npy.Array{DType: t.DType, Shape: t.Shape, Data: data}, nil
}

// FromArray is for programs that have their inputs as .npy files (npy.ReadFile): it checks that a
// has exactly t's element type and shape, and returns its bytes, not copied, for an input of a
// Session. (A leading 1 may be absent from a: one picture for a batch of one.)
func FromArray(t describe.Tensor, a *npy.Array) ([]byte, error) {
	n, err := TensorBytes(t)
	if err != nil {
		return nil, err
	}
	same := func(x, y []int) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	fits := same(t.Shape, a.Shape) || (len(t.Shape) > 1 && t.Shape[0] == 1 && same(t.Shape[1:], a.Shape))
	if a.DType != t.DType || !fits || len(a.Data) != n {
		return nil, fmt.Errorf("tensor %q is %s %v, the array is %s %v; convert it (astype, reshape)", t.Name, t.DType,
			t.Shape, a.DType, a.Shape)
	}
	return a.Data, nil
}
