package runtime_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

func random(t *testing.T, x describe.Tensor, seed uint64, index int) []byte {
	t.Helper()
	b, err := runtime.FillRandom(x, seed, index)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The numbers are part of the interface: stored results depend on them.
func TestFillRandomIsFixed(t *testing.T) {
	f := random(t, describe.Tensor{DType: "f32", Shape: []int{1, 4}}, 1, 0)
	var got [4]float32
	for i := range got {
		got[i] = math.Float32frombits(binary.LittleEndian.Uint32(f[4*i:]))
	}
	want := fixedF32()
	if got != want {
		t.Errorf("f32: %v, want %v", got, want)
	}
	if b := random(t, describe.Tensor{DType: "u8", Shape: []int{8}}, 1, 0); !bytes.Equal(b, fixedU8()) {
		t.Errorf("u8: %v, want %v", b, fixedU8())
	}
}

func TestFillRandomDependsOn(t *testing.T) {
	base := describe.Tensor{Name: "a", DType: "u8", Shape: []int{2, 32}}
	ref := random(t, base, 1, 0)
	renamed := base
	renamed.Name, renamed.Layout = "b", "NC"
	if !bytes.Equal(ref, random(t, renamed, 1, 0)) {
		t.Error("the name matters")
	}
	shaped := base
	shaped.Shape = []int{64}
	typed := base
	typed.DType = "i8"
	for name, b := range map[string][]byte{"seed": random(t, base, 2, 0), "index": random(t, base, 1, 1),
		"shape": random(t, shaped, 1, 0), "dtype": random(t, typed, 1, 0)} {
		if bytes.Equal(ref, b) {
			t.Errorf("%s does not matter", name)
		}
	}
}

func TestFillRandomRanges(t *testing.T) {
	for bits := 1; bits <= 8; bits++ {
		seen := map[byte]bool{}
		for _, v := range random(t, describe.Tensor{DType: "u8", Shape: []int{1 << 14}, Encoding: "unipolar", Bits: bits}, 3, 0) {
			seen[v] = true
			if int(v) >= 1<<bits {
				t.Fatalf("level %d of %d bits", v, bits)
			}
		}
		if len(seen) != 1<<bits {
			t.Errorf("%d bits: %d levels occur", bits, len(seen))
		}
	}
	sum := 0.0
	f := random(t, describe.Tensor{DType: "f32", Shape: []int{1 << 14}}, 3, 0)
	for i := 0; i < len(f); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(f[i:]))
		if v < 0 || v >= 1 {
			t.Fatalf("f32 %v", v)
		}
		sum += float64(v)
	}
	if mean := sum / (1 << 14); math.Abs(mean-0.5) > 0.01 {
		t.Errorf("mean %v", mean)
	}
	for _, v := range asInts(random(t, describe.Tensor{DType: "i32", Shape: []int{4096}}, 3, 0)) {
		if v < -128 || v > 127 {
			t.Fatalf("i32 %d", v)
		}
	}
}

// 40 channels take two words a pixel; the upper 24 bits of the second are padding.
func TestFillRandomPadding(t *testing.T) {
	var or [2]uint32
	for i, v := range asInts(random(t, describe.Tensor{DType: "u32", Shape: []int{2, 1, 64, 2}, Encoding: "bipolar", Bits: 2, Channels: 40, Packed: true}, 3, 0)) {
		or[i%2] |= uint32(v)
	}
	if or != [2]uint32{0xffffffff, 0xff} {
		t.Errorf("bits that occur: %x", or)
	}
}

func asInts(b []byte) []int32 {
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func TestArrays(t *testing.T) {
	x := describe.Tensor{Name: "x", DType: "u8", Shape: []int{1, 2, 2}}
	a, err := runtime.ToArray(x, []byte{1, 2, 3, 4})
	if err != nil || a.DType != "u8" || len(a.Shape) != 3 {
		t.Fatalf("%v, %v", a, err)
	}
	for _, shape := range [][]int{{1, 2, 2}, {2, 2}} {
		if _, err := runtime.FromArray(x, &npy.Array{DType: "u8", Shape: shape, Data: a.Data}); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []*npy.Array{{DType: "i8", Shape: x.Shape, Data: a.Data}, {DType: "u8", Shape: []int{4}, Data: a.Data}, {DType: "u8", Shape: x.Shape, Data: a.Data[:3]}} {
		if _, err := runtime.FromArray(x, bad); err == nil {
			t.Errorf("%s %v with %d bytes was accepted", bad.DType, bad.Shape, len(bad.Data))
		}
	}
	if _, err := runtime.ToArray(x, []byte{1}); err == nil {
		t.Error("one byte was accepted")
	}
}

// fixedF32 and fixedU8 were computed by another program, from the doc comment of FillRandom.
func fixedF32() [4]float32 {
	return [4]float32{1870071.0 / (1 << 24), 5101000.0 / (1 << 24), 13108155.0 / (1 << 24), 220653.0 / (1 << 24)}
}

func fixedU8() []byte { return []byte{44, 11, 99, 59, 65, 195, 201, 156} }
