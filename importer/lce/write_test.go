package lce

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tt "ripc/internal/tflitetest"
)

var writeTo = flag.String("write", "", "folder for the files that TestWrite makes, to be run by another interpreter")

// TestWrite writes the made models and random binary convolutions as files. It does nothing without -write.
func TestWrite(t *testing.T) {
	if *writeTo == "" {
		t.Skip("give a folder with -write")
	}
	write := func(name string, m tt.Model) {
		data := m.Bytes()
		if _, err := Parse(name, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(*writeTo, name+".tflite"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range append(goodModels(), elementModels()...) {
		write("op_"+strings.NewReplacer(" ", "_", ",", "").Replace(c.name), c.model)
	}
	write("op_sparse", sparseModel(0))
	write("op_sparse_blocks", sparseModel(1))
	write("streaming", streaming(false))
	write("streaming_int8", streaming(true))
	for i := range 300 {
		write(fmt.Sprintf("random_%03d", i), randomBConv(rand.New(rand.NewPCG(uint64(i), 5))))
	}
}

// randomBConv is a quantizer, a binary convolution with random options, and, for bits, sometimes a pool and a second one.
func randomBConv(r *rand.Rand) tt.Model {
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	groups, c, o := 1, pick(1, 3, 31, 32, 33, 64, 70, 100), pick(1, 2, 5, 31, 33, 40)
	if r.IntN(6) == 0 {
		groups = 2
		c, o = pick(64, 128), pick(2, 6, 34)
	}
	kh, kw, sh, sw, dh, dw := pick(1, 2, 3, 5), pick(1, 2, 3), pick(1, 1, 2, 3), pick(1, 1, 2), pick(1, 1, 2), pick(1, 1, 2)
	pad, ones, act := r.IntN(2), r.IntN(2), pick(0, 0, 1, 2, 3)
	eh, ew := (kh-1)*dh+1, (kw-1)*dw+1
	h, w := eh+r.IntN(7), ew+r.IntN(7)
	if pad == 0 && r.IntN(4) == 0 {
		h, w = 1+r.IntN(4), 1+r.IntN(4) // smaller than the filter
	}
	oh, ow := (h+sh-1)/sh, (w+sw-1)/sw
	if pad == 1 {
		oh, ow = (h-eh)/sh+1, (w-ew)/sw+1
	}
	i := func(v ...int) []int32 {
		var s []int32
		for _, n := range v {
			s = append(s, int32(n))
		}
		return s
	}
	words32 := func(n, channels int) []int32 { // unused bits are zero
		var s []int32
		for range n {
			for q := 0; q < channels; q += 32 {
				word := r.Uint32()
				if channels-q < 32 {
					word &= 1<<(channels-q) - 1
				}
				s = append(s, int32(word))
			}
		}
		return s
	}
	in := tt.Tensor{Name: "x", Shape: i(1, h, w, c)}
	if r.IntN(4) == 0 {
		in.Type, in.Scales, in.Zeros = tt.I8, []float32{0.05}, []int64{int64(r.IntN(20) - 10)}
	}
	filter := tt.Tensor{Name: "w", Type: tt.I32, Shape: i(o, kh, kw, (c/groups+31)/32), Data: tt.Data(words32(o*kh*kw, c/groups))}
	out := tt.Tensor{Name: "y", Shape: i(1, oh, ow, o)}
	opts := map[string]int{"channels_in": c, "padding": pad, "pad_values": ones, "stride_height": sh, "stride_width": sw,
		"dilation_height_factor": dh, "dilation_width_factor": dw, "fused_activation_function": act}
	inputs := []int32{1, 2, 3, 4, -1}
	var mul, bias []float32
	var tau []int32
	for range o {
		mul, bias = append(mul, float32(r.IntN(2001)-1000)/777), append(bias, float32(r.IntN(2001)-1000)/99)
		tau = append(tau, int32(kh*kw*c/groups/2+r.IntN(9)-4))
	}
	if r.IntN(3) == 0 {
		tau[r.IntN(o)] = int32(pick(-1<<31, 1<<31-1))
	}
	tensors := []tt.Tensor{in, {Name: "bits", Type: tt.I32, Shape: i(1, h, w, (c+31)/32)}, filter,
		{Name: "m", Shape: i(o), Data: tt.Data(mul)}, {Name: "b", Shape: i(o), Data: tt.Data(bias)}}
	switch kind := r.IntN(3); {
	case kind == 0:
		out.Type, out.Shape = tt.I32, i(1, oh, ow, (o+31)/32)
		tensors[3] = tt.Tensor{Name: "tau", Type: tt.I32, Shape: i(o), Data: tt.Data(tau)}
		tensors[4] = tt.Tensor{Name: "unused", Shape: i(1), Data: tt.Data([]float32{0})}
		inputs, opts["fused_activation_function"] = []int32{1, 2, -1, -1, 3}, 0
	case kind == 1:
		out.Type, out.Scales, out.Zeros = tt.I8, []float32{0.11}, []int64{int64(r.IntN(200) - 100)}
	}
	return tt.Model{Tensors: append(tensors, out), Inputs: []int32{0}, Outputs: []int32{5}, Ops: []tt.Op{
		{Custom: opQuantize, Inputs: []int32{0}, Outputs: []int32{1}},
		{Custom: opBConv, Flex: tt.Flex(opts, 2), Inputs: inputs, Outputs: []int32{5}}}}
}
