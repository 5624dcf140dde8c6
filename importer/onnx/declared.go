package onnx

import (
	"strconv"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// declared is the type that the file says the values of a tensor have, in the words of QONNX and FINN: BIPOLAR, UINT8; "" if it says
// nothing.
func (b *builder) declared(name string) string {
	for _, a := range b.model.Graph.GetQuantizationAnnotation() {
		if a.GetTensorName() != name {
			continue
		}
		for _, p := range a.GetQuantParameterTensorNames() {
			if p.GetKey() == "finn_datatype" {
				return p.GetValue()
			}
		}
	}
	return ""
}

// declaredLevels is the quantizer that gives each of a declared type's values back; ok is false for types of real numbers, and of
// more than 8 bits.
func declaredLevels(name string) (a *graph.QuantizeAttrs, ok bool) {
	levels := func(bits, lo, hi int) (*graph.QuantizeAttrs, bool) {
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: bits, Scale: 1, Zero: -lo}}
		if lo != 0 || hi != a.Top() {
			a.Range = &scalar.Range{Min: lo, Max: hi}
		}
		return a, true
	}
	switch name {
	case "BIPOLAR":
		return &graph.QuantizeAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 1, Scale: 1}, Rounding: scalar.HalfUp}, true
	case "BINARY":
		return levels(1, 0, 1)
	case "TERNARY":
		return levels(2, -1, 1)
	}
	digits, unsigned := strings.CutPrefix(name, "UINT")
	if !unsigned {
		var signed bool
		if digits, signed = strings.CutPrefix(name, "INT"); !signed {
			return nil, false
		}
	}
	bits, err := strconv.Atoi(digits)
	switch {
	case err != nil || bits < 1 || bits > 8 || !unsigned && bits < 2:
		return nil, false
	case unsigned:
		return levels(bits, 0, 1<<bits-1)
	}
	return levels(bits, -1<<(bits-1), 1<<(bits-1)-1)
}

// trusted is input t as levels of the type that the file declares, if it is asked to be; the caller brings f32 numbers all the same.
func (b *builder) trusted(t *tensor, gv *graph.Value) *tensor {
	gv.Declared = b.declared(gv.Name)
	a, ok := declaredLevels(gv.Declared)
	if !ok {
		gv.Declared = ""
	}
	if !ok || !b.options.TrustTypes {
		return t
	}
	t = b.elementwise(t, "quantize", a, nil)
	return b.pipe(t, "dequantize")
}
