package lower_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/fusedglue"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
)

// net builds graphs; x is its only input.
type net struct {
	*graph.Graph
	b *graph.Builder // of Graph
	t *rapid.T
	r *rand.Rand
}

func newNet(t *rapid.T, x graph.Value) *net {
	g := &graph.Graph{Name: "net", File: "net.json"}
	b := graph.NewBuilder(g)
	b.Input(&x)
	return &net{g, b, t, rand.New(rand.NewPCG(1, 2))}
}

// levels is an input of levels.
func levels(packed bool, bits int, enc ir.EncodingKind, shape ...int) graph.Value {
	v := graph.Value{Name: "x", Shape: shape, Layout: "NHWC", LevelType: scalar.LevelType{Enc: enc, Bits: bits, Scale: 1}}
	if packed {
		v.View = graph.Planes
	}
	return v
}

// add appends a node called out, which makes the tensor of that name.
func (n *net) add(out, op string, attrs any, w map[string]*graph.Tensor, inputs ...string) string {
	node := &graph.Node{Name: out, Op: op, Inputs: inputs, Output: out, Attrs: attrs, Weights: w}
	if _, err := n.b.Append(node); err != nil {
		n.t.Fatal(err)
	}
	return out
}

func (n *net) plain(out, op string, inputs ...string) string {
	return n.add(out, op, graph.OpNamed(op).NewAttrs(), nil, inputs...)
}

func (n *net) pool(out, x string) string {
	return n.add(out, "max_pool", &graph.PoolAttrs{Kernel: [2]int{1, 1}, Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadValid}}, nil, x)
}

func (n *net) tensor(shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), float32(n.r.NormFloat64())))
	}
	return t
}

// binary is a 3x3 layer and its quantizer.
func (n *net) binary(out, x string, filters int) string {
	w := map[string]*graph.Tensor{"w": n.tensor(3, 3, n.Value(x).Channels(), filters)}
	a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadSame}, Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleMean, PadValue: graph.PadOnes}}
	n.add(out+".sum", "bitserial_conv2d", a, w, x)
	return n.add(out, "quantize", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}}, nil, out+".sum")
}

// program lowers n; lower.Program verifies what it makes.
func (n *net) program(outputs ...string) *ir.Program { return n.programBy(lower.Options{}, outputs...) }

func (n *net) programBy(o lower.Options, outputs ...string) *ir.Program {
	n.Outputs = outputs
	g, err := fusedglue.Fuse(n.t.Context(), n.Graph, nil, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	p, err := lower.Program(n.t.Context(), g, o)
	if err != nil {
		n.t.Fatalf("%v\n%s", err, g)
	}
	if err := ir.VerifyProgram(p); err != nil {
		n.t.Fatalf("%v\n%s", err, p)
	}
	return p
}

func (n *net) run(p *ir.Program, x []byte) [][]byte {
	out, err := interp.RunProgram(n.t.Context(), p, [][]byte{x}, interp.Options{Checks: interp.All()})
	if err != nil {
		n.t.Fatalf("%v\n%s", err, p)
	}
	return out
}

// outputNames lists the outputs as the caller sees them.
func outputNames(p *ir.Program) []string {
	var names []string
	for _, b := range p.Buffers {
		if b.Kind == ir.OutputBuf {
			names = append(names, b.Name)
		}
	}
	return names
}

// pack puts levels [pixels, c] into words [bits, pixels, ceil(c/32)].
func pack(levels []byte, bits, c int) []byte {
	pixels, row := len(levels)/c, (c+31)/32
	out := make([]byte, 4*bits*pixels*row)
	for i, v := range levels {
		for n := range bits {
			out[4*(n*pixels+i/c)*row+i%c/8] |= v >> n & 1 << (i % c % 8)
		}
	}
	return out
}

func between(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func drawLevels(t *rapid.T, n, bits int) []byte {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.IntN(1 << bits))
	}
	return out
}

func channels(t *rapid.T) int { return rapid.SampledFrom([]int{1, 3, 31, 32, 33, 40, 64}).Draw(t, "c") }

// TestRepresentations: tensors reach the caller as levels, packed or as numbers, whether they are made by a layer, are the
// caller's own input, are read by others too, or are one tensor seen twice.
func TestRepresentations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, h, w, c, bits := between(t, 1, 2, "batch"), between(t, 1, 3, "h"), between(t, 1, 3, "w"), channels(t), between(t, 1, 3, "bits")
		packed := rapid.Bool().Draw(t, "packed")
		input := levels(packed, bits, ir.Unipolar, b, h, w, c)
		if packed && bits == 1 && rapid.Bool().Draw(t, "int32 words") {
			input.View = graph.IntWords // the bytes are those of one plane
		}
		n := newNet(t, input)
		data := drawLevels(t, b*h*w*c, bits)
		var numbers []byte
		for _, v := range data {
			numbers, _ = binary.Append(numbers, binary.LittleEndian, float32(v))
		}
		x := "x"
		if rapid.Bool().Draw(t, "made by a layer") {
			x = n.pool("made", "x")
		}
		names := []string{x, n.plain("bits", "bitpack", x), n.plain("bits2", "bitpack", "bits"), n.plain("levels", "unpack", "bits"),
			n.plain("levels2", "unpack", x), n.plain("numbers", "dequantize", x), n.pool("copy", "levels"), n.plain("flat", "flatten", x),
			n.plain("flat.numbers", "dequantize", "flat"), n.plain("flat.of.numbers", "flatten", "numbers"), n.plain("flat.bits", "bitpack", "flat")}
		if bits == 1 {
			names = append(names, n.add("words", "bitpack", &graph.BitpackAttrs{Int32: true}, nil, x), n.add("flat.words", "bitpack", &graph.BitpackAttrs{Int32: true}, nil, "flat"),
				n.pool("copied.words", "words"))
		}
		want := func(tensor string) []byte {
			switch v := n.Value(tensor); {
			case v.View != graph.Bytes:
				return pack(data, bits, v.Channels())
			case v.Encoded():
				return data
			}
			return numbers
		}
		outs := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID).Draw(t, "outputs")
		p := n.program(outs...)
		in := data
		if packed {
			in = pack(data, bits, c)
		}
		got := n.run(p, in)
		for i, name := range outputNames(p) {
			tensor := name
			if name == "x_out" { // the input has the name
				tensor = "x"
			}
			if i >= len(outs) || tensor != outs[i] || !bytes.Equal(got[i], want(tensor)) {
				t.Fatalf("output %d of %v, %s, is %v, want %v\n%s", i, outs, name, got[i], want(tensor), p)
			}
		}
		if len(got) != len(outs) {
			t.Fatalf("outputs %v, want %v\n%s", outputNames(p), outs, p)
		}
	})
}

// TestConcat: whether layers write into their concatenation or are copied there, it is the same.
func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := rapid.SliceOfN(rapid.SampledFrom([]int{3, 32, 40, 64}), 2, 3).Draw(t, "channels")
		batch, total := between(t, 1, 2, "batch"), 0
		build := func() (n *net, parts []string) {
			n = newNet(t, levels(false, 1, ir.Bipolar, batch, 3, 3, 5))
			for i, c := range cs {
				parts = append(parts, n.binary(fmt.Sprint("part", i), "x", c))
			}
			n.add("all", "concat", &graph.ConcatAttrs{}, nil, parts...)
			n.binary("last", "all", 2)
			return n, parts
		}
		x := drawLevels(t, batch*9*5, 1)
		n, parts := build()
		whole := n.program("last")
		aligned := true
		for _, c := range cs {
			total += c
			aligned = aligned && c%32 == 0
		}
		copies := 0
		for _, s := range whole.Stages {
			if s.Op == "concat" {
				copies++
			}
		}
		if aligned != (copies == 0) || !aligned && copies != len(cs) {
			t.Fatalf("%d copies for channels %v\n%s", copies, cs, whole)
		}
		n, _ = build()
		outs := n.program(append([]string{"last", "all"}, parts...)...)
		got := map[string][]byte{}
		for i, b := range n.run(outs, x) {
			got[outputNames(outs)[i]] = b
		}
		if last := n.run(whole, x)[0]; !bytes.Equal(last, got["last"]) {
			t.Fatalf("in place %v, copied %v\n%s%s", last, got["last"], whole, outs)
		}
		n, _ = build()
		shared := n.program("last", n.pool("extra", parts[0])) // a part that somebody else reads is not in place
		if both := n.run(shared, x); !bytes.Equal(both[0], got["last"]) || !bytes.Equal(both[1], got[parts[0]]) {
			t.Fatalf("got %v, want %v and %v\n%s", both, got["last"], got[parts[0]], shared)
		}
		off := 0
		for i, c := range cs {
			for p := range batch * 9 {
				if !bytes.Equal(got["all"][p*total+off:][:c], got[parts[i]][p*c:][:c]) {
					t.Fatalf("part %d is not in its place\n%s", i, outs)
				}
			}
			off += c
		}
	})
}

// TestPartlyInPlace: of floats, a layer writes its part of a concatenation even if another part, which somebody else reads, is copied
// there, as in the blocks of DenseNets.
func TestPartlyInPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := between(t, 1, 70, "first"), between(t, 1, 70, "second")
		build := func() *net {
			n := newNet(t, levels(false, 1, ir.Bipolar, 1, 3, 3, 5))
			n.binary("a", "x", first)
			n.binary("b", "a", second)
			parts := []string{"a.sum", "b.sum"}
			if rapid.Bool().Draw(t, "turned") {
				slices.Reverse(parts)
			}
			n.add("all", "concat", &graph.ConcatAttrs{}, nil, parts...)
			return n
		}
		x := drawLevels(t, 9*5, 1)
		n := build()
		inPlace := n.program("all")
		copies := 0
		for _, s := range inPlace.Stages {
			if s.Op == "concat" {
				copies++
			}
		}
		if copies != 1 {
			t.Fatalf("%d copies\n%s", copies, inPlace)
		}
		copied := n.program("all", "a.sum", "b.sum")
		if got, want := n.run(inPlace, x)[0], n.run(copied, x)[0]; !bytes.Equal(got, want) {
			t.Fatalf("in place %v, copied %v\n%s%s", got, want, inPlace, copied)
		}
	})
}

// TestFlattenDense: a dense layer on a flattened map is a convolution with a kernel as large as the map.
func TestFlattenDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, h, w, c, bits := between(t, 1, 2, "batch"), between(t, 1, 3, "h"), between(t, 1, 3, "w"), channels(t), between(t, 1, 2, "bits")
		x, bin := drawLevels(t, b*h*w*c, bits), &graph.BinaryAttrs{WeightScale: graph.ScaleNone}
		build := func() (*net, *graph.Tensor) {
			n := newNet(t, levels(false, bits, ir.Bipolar, b, h, w, c))
			return n, n.tensor(h, w, c, 5)
		}
		n, weights := build()
		n.add("y", "bitserial_conv2d", &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadValid}, Binary: bin}, map[string]*graph.Tensor{"w": weights}, n.pool("p", "x"))
		want := n.run(n.program("y"), x)[0]
		n, weights = build()
		weights.Shape = []int{h * w * c, 5}
		n.add("y", "bitserial_dense", &graph.DenseAttrs{Binary: bin}, map[string]*graph.Tensor{"w": weights}, n.plain("f", "flatten", n.pool("p", "x")))
		p := n.program("y")
		if got := n.run(p, x)[0]; !bytes.Equal(got, want) {
			t.Fatalf("got %v, want %v\n%s", got, want, p)
		}
	})
}

// TestBatch: two pictures at once give what they give one by one.
func TestBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, x := channels(t), []byte(nil)
		run := func(batch int, x []byte) []byte {
			n := newNet(t, levels(false, 2, ir.Unipolar, batch, 4, 3, c))
			n.binary("a", "x", 33)
			n.add("b", "concat", &graph.ConcatAttrs{}, nil, "a", n.binary("a2", "a", 7))
			n.plain("s", "softmax", n.plain("g", "global_avg_pool", n.plain("d", "dequantize", "b")))
			return n.run(n.program("s"), x)[0]
		}
		x = drawLevels(t, 2*4*3*c, 2)
		if got, want := run(2, x), append(run(1, x[:len(x)/2]), run(1, x[len(x)/2:])...); !bytes.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestVectors: layers without windows give each vector of a batch, or of a signal, what they give it alone, also where their stage adds
// another tensor. The vectors are the pixels of a row.
func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, batch, long, dense := channels(t), between(t, 2, 4, "batch"), between(t, 1, 3, "vectors"), rapid.Bool().Draw(t, "dense")
		build := func(batch int) *net {
			n := newNet(t, levels(false, 2, ir.Unipolar, batch, long, 1, c))
			if dense {
				n = newNet(t, levels(false, 2, ir.Unipolar, batch*long, c))
			}
			layer := func(name string) string {
				bits := &graph.BinaryAttrs{WeightScale: graph.ScaleMean}
				if dense {
					return n.add(name, "bitserial_dense", &graph.DenseAttrs{Binary: bits}, map[string]*graph.Tensor{"w": n.tensor(c, 9)}, "x")
				}
				a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadValid}, Binary: bits}
				return n.add(name, "bitserial_conv2d", a, map[string]*graph.Tensor{"w": n.tensor(1, 1, c, 9)}, "x")
			}
			n.plain("y", "add", layer("d"), layer("e"))
			return n
		}
		x := drawLevels(t, batch*long*c, 2)
		n := build(batch)
		p := n.program("y")
		got, want := n.run(p, x)[0], []byte(nil)
		for part := range slices.Chunk(x, long*c) {
			one := build(1)
			want = append(want, one.run(one.program("y"), part)[0]...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got %v, want %v\n%s", got, want, p)
		}
		row := 1
		if dense || long == 1 {
			row = batch * long
		}
		for _, s := range p.Stages {
			f := p.FuncByName(s.Func)
			if y := f.Params[len(f.Params)-1]; (s.Name == "d" || s.Name == "e") && y.Shape[len(y.Shape)-2] != row {
				t.Fatalf("rows of %d vectors expected:\n%s", row, f)
			}
		}
	})
}

// TestSharing: equal layers have one Func and equal constants one buffer; names of tensors are the caller's.
func TestSharing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(t, levels(false, 1, ir.Bipolar, 1, 4, 4, 32))
		n.binary("a", "x", 32)
		n.binary("b", "a", 32)
		n.binary("b.wt", "b", 32) // the constant of layer b.sum, or of b, wants a name like this
		n.binary("x.bits", "b.wt", 32)
		n.binary("x.bits.sum.wt", "x.bits", 16)
		p := n.program("x.bits.sum.wt", "x.bits")
		convs := map[string]bool{}
		for _, s := range p.Stages {
			if s.Op == "bconv2d" {
				convs[s.Func] = true
			}
		}
		if len(convs) != 2 {
			t.Fatalf("funcs %v\n%s", convs, p)
		}
		if got := outputNames(p); !slices.Equal(got, []string{"x.bits.sum.wt", "x.bits"}) {
			t.Fatalf("outputs %v", got)
		}
		// The same weights twice are one constant.
		n = newNet(t, levels(false, 1, ir.Bipolar, 1, 4, 4, 32))
		n.binary("a", "x", 32)
		n.r = rand.New(rand.NewPCG(1, 2))
		n.binary("b", "a", 32)
		weights := 0
		for _, b := range n.program("b").Buffers {
			if b.Kind == ir.ConstBuf && b.Type == ir.U32 {
				weights++
			}
		}
		if weights != 1 {
			t.Fatalf("%d buffers of weights", weights)
		}
	})
}
