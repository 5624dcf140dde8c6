package verify

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"testing"

	"ripc/ir"
	"ripc/runtime/describe"
)

// words32 is memory of 32-bit words.
func words32(w ...uint32) []byte {
	var b []byte
	for _, x := range w {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// A picture of 2 bits and 40 channels, of which one is wrong in both planes at one place and another in one plane elsewhere. Bits
// behind the last channel are counted apart.
func TestWhereOfPlanes(t *testing.T) {
	b := ir.Buffer{Name: "y", Type: ir.U32, Shape: []int{2, 1, 2, 3, 2}}
	tensor := describe.Tensor{Packed: true, DType: "u32", Bits: 2, Channels: 40, Shape: b.Shape, Encoding: "unipolar"}
	want, got := make([]uint32, 24), make([]uint32, 24)
	got[2*5] = 1 << 7       // plane 0, row 1, column 2, channel 7
	got[12+2*5] = 1 << 7    // the same level's other plane
	got[12+2*1+1] = 1 << 3  // row 0, column 1, channel 35
	got[12+2*1+1] |= 1 << 9 // channel 41, which there is not
	w := locate(tensor, b, words32(got...), words32(want...))
	if w.Wrong != 2 || w.Elems != 2*3*40 || w.Padding != 1 {
		t.Errorf("%+v", w)
	}
	axes := []WhereAxis{{"batch", 1, []int{0}}, {"row", 2, []int{0, 1}}, {"column", 3, []int{1, 2}}, {"channel", 40, []int{7, 35}}}
	if !reflect.DeepEqual(w.Axes, axes) {
		t.Errorf("axes %+v", w.Axes)
	}
	if m := w.Map; m.Down != "row" || m.Across != "column" || !reflect.DeepEqual(m.Wrong, [][]int{{0, 1, 0}, {0, 0, 1}}) || !reflect.DeepEqual(m.Elems, [][]int{{40, 40, 40}, {40, 40, 40}}) {
		t.Errorf("map %+v", m)
	}
}

// Large pictures are mapped by parts, outputs in NCHW by their own axes, and NaNs are alike.
func TestWhereOfFloats(t *testing.T) {
	b := ir.Buffer{Name: "y", Type: ir.F32, Shape: []int{1, 2, 50, 130}}
	want := make([]uint32, b.Elems())
	got := slices.Clone(want)
	want[0], got[0] = math.Float32bits(float32(math.NaN())), 0xffffffff
	got[130*50+49*130+129] = 1 // channel 1, row 49, column 129
	w := locate(describe.Tensor{DType: "f32", Shape: b.Shape, Layout: "NCHW"}, b, words32(got...), words32(want...))
	m := w.Map
	if w.Wrong != 1 || !slices.Equal(w.Axes[1].Wrong, []int{1}) || !slices.Equal(w.Axes[2].Wrong, []int{49}) || m.Rows != 3 || m.Columns != 3 || len(m.Wrong) != 17 || len(m.Wrong[0]) != 44 {
		t.Errorf("%+v", w)
	}
	if last := m.Wrong[16][43]; last != 1 || m.Elems[16][43] != 2*2*1 {
		t.Errorf("the last cell has %d wrong of %d", last, m.Elems[16][43])
	}
	// What is no picture is a row.
	row := ir.Buffer{Name: "fc", Type: ir.F32, Shape: []int{1, 10}}
	w = locate(describe.Tensor{DType: "f32", Shape: row.Shape, Layout: "NC"}, row, words32(0, 0, 5, 0, 0, 0, 0, 0, 0, 0), words32(make([]uint32, 10)...))
	if w.Map.Down != "" || w.Map.Across != "channel" || !slices.Equal(w.Map.Wrong[0], []int{0, 0, 1, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("%+v", w.Map)
	}
	one := ir.Buffer{Name: "s", Type: ir.F32, Shape: []int{1}}
	if w = locate(describe.Tensor{DType: "f32", Shape: one.Shape}, one, words32(1), words32(0)); w.Map != nil || w.Wrong != 1 {
		t.Errorf("%+v", w)
	}
}
