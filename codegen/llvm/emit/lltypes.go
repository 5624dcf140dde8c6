package emit

import (
	"fmt"
	"math"
	"strconv"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
)

// opaquePtr is the pointer type of LLVM 15 and later; llir has only typed pointers.
type opaquePtr struct{}

func (opaquePtr) Equal(u types.Type) bool { _, ok := u.(opaquePtr); return ok }
func (opaquePtr) String() string          { return "ptr" }
func (opaquePtr) LLString() string        { return "ptr" }
func (opaquePtr) Name() string            { return "" }
func (opaquePtr) SetName(string)          {}

// literal is a constant with its text.
type literal struct {
	typ  types.Type
	text string
}

func (l literal) String() string   { return l.typ.String() + " " + l.text }
func (l literal) Type() types.Type { return l.typ }
func (l literal) Ident() string    { return l.text }

// regType returns the type of a value of type t in a register.
func regType(t ir.Type) types.Type {
	if t.IsFloat() {
		return types.Float
	}
	return types.NewInt(uint64(t.Bits()))
}

// memType returns the type of an element in memory: a bool takes a byte there.
func memType(t ir.Type) types.Type {
	if t == ir.Bool {
		return types.I8
	}
	return regType(t)
}

// vectorOf returns a vector type of n elements.
func vectorOf(n int, t types.Type) types.Type { return types.NewVector(uint64(n), t) }

// suffix returns t as in names of intrinsics: i32, f32, v16i32.
func suffix(t types.Type) string {
	switch t := t.(type) {
	case *types.VectorType:
		return fmt.Sprintf("v%d%s", t.Len, suffix(t.ElemType))
	case *types.FloatType:
		return "f32"
	}
	return t.String()
}

// intText formats v as a constant of type t: signed at the type's own width.
func intText(t ir.Type, v int64) string {
	if t == ir.Bool {
		return strconv.FormatBool(v != 0)
	}
	shift := 64 - t.Bits()
	return strconv.FormatInt(v<<shift>>shift, 10)
}

// floatText formats v: the bits of the double of the same value.
func floatText(v float32) string {
	return fmt.Sprintf("0x%016X", math.Float64bits(float64(v)))
}

// indexOf returns an i64 constant, for indices of elements and lanes.
func indexOf(i int64) value.Value { return literal{types.I64, strconv.FormatInt(i, 10)} }

// poison returns an undefined vector.
func poison(t types.Type) value.Value { return literal{t, "poison"} }
