package verify

import (
	"encoding/binary"
	"testing"

	"ripc/ir"
)

func TestCompare(t *testing.T) {
	words := func(ws ...uint32) (out []byte) {
		for _, w := range ws {
			out = binary.LittleEndian.AppendUint32(out, w)
		}
		return out
	}
	const nan, nan2, one, zero, minus0 = 0x7fc00000, 0xffc00077, 0x3f800000, 0, 0x80000000
	for _, c := range []struct {
		b         ir.Buffer
		got, want []byte
		text      string // "" if they agree
	}{
		{ir.Buffer{Name: "f", Type: ir.F32, Shape: []int{2}}, words(nan, one), words(nan2, one), ""},
		{ir.Buffer{Name: "f", Type: ir.F32, Shape: []int{2}}, words(one, nan), words(one, one),
			"%f[1]: got nan (0x7fc00000), want 1.0 (0x3f800000); 1 of 2 elements differ"},
		{ir.Buffer{Name: "f", Type: ir.F32}, words(zero), words(minus0), "%f: got 0.0 (0x00000000), want -0.0 (0x80000000); 1 of 1 elements differ"},
		{ir.Buffer{Name: "i", Type: ir.I32, Shape: []int{2, 2}}, words(nan, 1, 2, 0xffffffff), words(nan, 1, 3, 4),
			"%i[1, 0]: got 2, want 3; 2 of 4 elements differ"},
		{ir.Buffer{Name: "i", Type: ir.I8, Shape: []int{1}}, []byte{255}, []byte{1}, "%i[0]: got -1, want 1; 1 of 1 elements differ"},
		{ir.Buffer{Name: "u", Type: ir.U32, Shape: []int{1}}, words(10), words(nan2), "%u[0]: got 0xa, want 0xffc00077; 1 of 1 elements differ"},
		{ir.Buffer{Name: "u", Type: ir.U8, Shape: []int{0}}, nil, nil, ""},
	} {
		d, ok := compare(c.b, c.got, c.want, false)
		if ok != (c.text == "") || !ok && d.String() != c.text {
			t.Errorf("%v %q, want %q", ok, d, c.text)
		}
	}
}
