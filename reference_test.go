package ripc_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/ir/graph"
	"ripc/ir/interp"
)

var references = flag.Int("references", 300, "random networks that TestReference computes")

// TestReference computes random networks layer by layer as the model states them, in plain arithmetic on integers and
// rounded floats, and compares with the interpreter of what fusedglue and lower made of them. It knows no bit planes,
// thresholds or popcounts.
func TestReference(t *testing.T) {
	for i := range *references {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 78))
			path := filepath.Join(t.TempDir(), "net.json")
			text := randomModel(r)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := compareWithReference(path, r); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

func compareWithReference(path string, r *rand.Rand) error {
	g, err := ripc.Load(path)
	if err != nil {
		return err
	}
	c, err := ripc.Compile(context.Background(), path, ripc.Options{})
	if err != nil {
		return err
	}
	vals := map[string]*refTensor{}
	var inputs [][]byte
	for _, name := range g.Inputs {
		v := g.Value(name)
		x := newRef(v)
		for i := range x.f {
			if v.Encoded() {
				x.f[i] = float32(integerOf(v, r.IntN(1<<v.Bits)))
			} else {
				x.f[i] = float32(r.IntN(4001)-2000) / 512
			}
		}
		vals[name] = x
		inputs = append(inputs, x.bytes(v))
	}
	for _, n := range g.Nodes {
		vals[n.Outputs[0]] = refNode(g, n, vals)
	}
	outs, err := interp.RunProgram(context.Background(), c.Program, inputs, interp.Options{Checked: true})
	if err != nil {
		return err
	}
	for i, name := range g.Outputs {
		if want := vals[name].bytes(g.Value(name)); !bytes.Equal(outs[i], want) && !vals[name].near(g.Value(name), outs[i]) {
			return fmt.Errorf("output %s differs from the reference:\ngot  %v\nwant %v", name, outs[i], want)
		}
	}
	return nil
}

// refTensor is a tensor of the graph as its author sees it: floats, or the integers that levels stand for.
type refTensor struct {
	shape []int
	f     []float32
	// loose marks what a softmax made: it is compared with a tolerance.
	loose bool
}

func newRef(v *graph.Value) *refTensor {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return &refTensor{shape: v.Shape, f: make([]float32, n)}
}

// integerOf is the integer that a level of v's encoding stands for.
func integerOf(v *graph.Value, level int) int {
	m := 1<<v.Bits - 1
	switch v.Enc {
	case ir.Bipolar:
		return 2*level - m
	case ir.BipolarInv:
		return m - 2*level
	}
	return level - v.Zero
}

// levelOf is the inverse of integerOf.
func levelOf(v *graph.Value, integer int) int {
	for l := range 1 << v.Bits {
		if integerOf(v, l) == integer {
			return l
		}
	}
	panic(fmt.Sprintf("BUG: %d is no integer of %s", integer, v))
}

// bytes is x at the interface.
func (x *refTensor) bytes(v *graph.Value) []byte {
	var b bytes.Buffer
	switch {
	case !v.Encoded():
		_ = binary.Write(&b, binary.LittleEndian, x.f)
	case !v.Packed:
		for _, f := range x.f {
			l := levelOf(v, int(f))
			if v.DType == ir.I8 {
				l -= 128
			}
			b.WriteByte(byte(l))
		}
	default:
		c := v.Channels()
		for n := range v.Bits {
			for row := 0; row < len(x.f); row += c {
				words := make([]uint32, (c+31)/32)
				for k := range c {
					words[k/32] |= uint32(levelOf(v, int(x.f[row+k]))>>n&1) << (k % 32)
				}
				_ = binary.Write(&b, binary.LittleEndian, words)
			}
		}
	}
	return b.Bytes()
}

// near allows for zeros of the other sign, and for the polynomial of a softmax.
func (x *refTensor) near(v *graph.Value, got []byte) bool {
	if v.Encoded() || len(got) != 4*len(x.f) {
		return false
	}
	for i, want := range x.f {
		f := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))
		if f != want && !(x.loose && math.Abs(float64(f-want)) <= 1e-4*math.Abs(float64(want))+1e-6) && (f == f || want == want) {
			return false
		}
	}
	return true
}

func (x *refTensor) dims() (b, h, w, c int) {
	if len(x.shape) == 4 {
		return x.shape[0], x.shape[1], x.shape[2], x.shape[3]
	}
	c = x.shape[len(x.shape)-1]
	return len(x.f) / c, 1, 1, c // others are rows of channels
}

func (x *refTensor) at(b, h, w, c int) *float32 {
	_, hh, ww, cc := x.dims()
	return &x.f[((b*hh+h)*ww+w)*cc+c]
}

// inside is at, or nil outside the image.
func (x *refTensor) inside(b, h, w, c int) *float32 {
	if _, hh, ww, _ := x.dims(); h < 0 || w < 0 || h >= hh || w >= ww {
		return nil
	}
	return x.at(b, h, w, c)
}

// each calls f for every element of x in order.
func (x *refTensor) each(f func(b, h, w, c int, v *float32)) {
	bb, hh, ww, cc := x.dims()
	for b := range bb {
		for h := range hh {
			for w := range ww {
				for c := range cc {
					f(b, h, w, c, x.at(b, h, w, c))
				}
			}
		}
	}
}

// refNode computes one layer of the graph as imported.
func refNode(g *graph.Graph, n *graph.Node, vals map[string]*refTensor) *refTensor {
	out := g.Value(n.Outputs[0])
	if _, ok := n.Attrs.(*graph.ConstantAttrs); ok {
		return &refTensor{shape: out.Shape, f: n.Weights["value"].Data}
	}
	v := g.Value(n.Inputs[0])
	x, y := vals[n.Inputs[0]], newRef(g.Value(n.Outputs[0]))
	y.loose = x.loose
	each := func(f func(c int, x float32) float32) {
		x.each(func(b, h, w, c int, e *float32) { *y.at(b, h, w, c) = f(c, *e) })
	}
	weight := func(key string) []float32 { return n.Weights[key].Data }
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		refConv(n, v, x, y, a, n.Weights["w"].Shape, true)
	case *graph.DenseAttrs:
		w := n.Weights["w"].Shape
		refConv(n, v, x, y, &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Binary: a.Binary}, []int{1, 1, w[0], w[1]}, false)
	case *graph.PoolAttrs:
		refPool(n.Op, x, y, a)
	case *graph.BatchNormAttrs:
		each(func(c int, e float32) float32 {
			s := float32(float64(weight("gamma")[c]) / math.Sqrt(float64(weight("var")[c])+a.Epsilon))
			return f32.Fma(e, s, float32(float64(weight("beta")[c])-float64(weight("mean")[c])*float64(s)))
		})
	case *graph.PReluAttrs:
		each(func(c int, e float32) float32 {
			if e < 0 {
				return f32.Mul(e, weight("alpha")[c])
			}
			return e
		})
	case *graph.ClipAttrs:
		each(func(_ int, e float32) float32 { return min(max(e, float32(a.Min)), float32(a.Max)) })
	case *graph.RoundAttrs:
		each(func(_ int, e float32) float32 { return f32.Round(a.Mode, e) })
	case *graph.FakeQuantAttrs:
		each(func(c int, e float32) float32 { return refFakeQuant(a, n.Weights, c, e) })
	case *graph.QuantizeAttrs:
		each(func(_ int, e float32) float32 { return float32(refQuantize(a, out, e)) })
	case *graph.ShiftNormAttrs:
		refShiftNorm(g, n, a, x, y)
	case *graph.BinaryOpAttrs:
		refBinary(n, a, vals, y)
	case *graph.ThresholdAttrs:
		each(func(c int, e float32) float32 { return float32(refThreshold(a, n.Weights["thresholds"], out, c, e)) })
	case *graph.TransposeAttrs:
		for i := range y.f {
			p, q := position(i, y.shape), make([]int, len(y.shape))
			for d := range p {
				q[a.Perm[d]] = p[d]
			}
			y.f[i] = x.f[index(q, x.shape)]
		}
	case *graph.SpatialPadAttrs:
		y.each(func(b, h, w, c int, e *float32) {
			if p := x.inside(b, h-a.Pad.Top, w-a.Pad.Left, c); p != nil {
				*e = *p
			} else if *e = float32(a.Value); v.Encoded() {
				*e = float32(math.Round(a.Value / v.Scale))
			}
		})
	case *graph.SliceAttrs:
		for i := range y.f {
			p := position(i, y.shape)
			for d := range p {
				p[d] = a.Begin[d] + p[d]*a.Stride[d]
			}
			y.f[i] = x.f[index(p, x.shape)]
		}
	case *graph.BitpackAttrs, *graph.ReshapeAttrs:
		copy(y.f, x.f)
	case *graph.ConcatAttrs:
		off := 0
		for _, name := range n.Inputs {
			z := vals[name]
			z.each(func(b, h, w, c int, e *float32) { *y.at(b, h, w, off+c) = *e })
			off += z.shape[len(z.shape)-1]
		}
	default:
		refPlain(n.Op, v, x, y, each)
	}
	return y
}

// refPlain computes the ops that have no attributes.
func refPlain(op string, v *graph.Value, x, y *refTensor, each func(func(int, float32) float32)) {
	switch op {
	case "relu":
		each(func(_ int, e float32) float32 { return max(e, 0) })
	case "sign":
		each(func(_ int, e float32) float32 { return float32(cmp.Compare(e, 0)) })
	case "relu6":
		each(func(_ int, e float32) float32 { return min(max(e, 0), 6) })
	case "hard_tanh":
		each(func(_ int, e float32) float32 { return min(max(e, -1), 1) })
	case "dequantize":
		each(func(_ int, e float32) float32 { return f32.Mul(e, float32(v.Scale)) })
	case "flatten", "unpack":
		copy(y.f, x.f)
	case "global_avg_pool":
		x.each(func(b, h, w, c int, e *float32) { y.f[b*y.shape[1]+c] = f32.Add(y.f[b*y.shape[1]+c], *e) })
		for i := range y.f {
			y.f[i] = f32.Div(y.f[i], float32(x.shape[1]*x.shape[2]))
		}
	case "softmax":
		c := x.shape[len(x.shape)-1]
		for i := 0; i < len(x.f); i += c {
			top, sum := x.f[i], 0.0
			for _, e := range x.f[i : i+c] {
				top = max(top, e)
			}
			for _, e := range x.f[i : i+c] {
				sum += math.Exp(float64(e) - float64(top))
			}
			for j, e := range x.f[i : i+c] {
				y.f[i+j] = float32(math.Exp(float64(e)-float64(top)) / sum)
			}
		}
		y.loose = true
	default:
		panic("BUG: no reference for " + op)
	}
}

func refPool(op string, x, y *refTensor, a *graph.PoolAttrs) {
	y.each(func(b, h, w, c int, e *float32) {
		n, best := 0, float32(math.Inf(-1))
		for i := range a.Kernel[0] {
			for j := range a.Kernel[1] {
				if p := x.inside(b, h*a.Strides[0]+i-a.Pad.Top, w*a.Strides[1]+j-a.Pad.Left, c); p != nil {
					n++
					*e, best = f32.Add(*e, *p), max(best, *p)
				}
			}
		}
		if *e = f32.Div(*e, float32(n)); op == "max_pool" {
			*e = best
		}
	})
}

// refConv is a convolution. Binary ones sum integers exactly and multiply by the scales once.
func refConv(n *graph.Node, v *graph.Value, x, y *refTensor, a *graph.Conv2DAttrs, ws []int, perChannel bool) {
	w := n.Weights["w"].Data
	var scale []float64
	var integers []int
	if a.Binary != nil {
		integers, scale = refWeights(n, a.Binary, ws, perChannel)
	}
	var bias []float32
	if b := n.Weights["b"]; b != nil {
		bias = b.Data
	}
	dil, groups := a.Dilation(), a.GroupCount()
	perGroup := ws[3] / groups
	outside := 0
	if v.Enc != ir.Unipolar && a.Binary != nil && a.Binary.PadValue == "one" {
		outside = 1<<v.Bits - 1
	}
	y.each(func(b, oh, ow, o int, e *float32) {
		sum := 0
		if bias != nil {
			*e = bias[o]
		}
		for i := range ws[0] {
			for j := range ws[1] {
				for c := range ws[2] {
					p := x.inside(b, oh*a.Strides[0]+i*dil[0]-a.Pad.Top, ow*a.Strides[1]+j*dil[1]-a.Pad.Left, o/perGroup*ws[2]+c)
					k := ((i*ws[1]+j)*ws[2]+c)*ws[3] + o
					switch {
					case a.Binary != nil && p != nil:
						sum += int(*p) * integers[k]
					case a.Binary != nil:
						sum += outside * integers[k]
					case p != nil:
						*e = f32.Fma(*p, w[k], *e)
					}
				}
			}
		}
		if a.Binary != nil {
			*e = f32.Mul(float32(sum), float32(v.Scale*scale[o]))
		}
	})
}

// refWeights gives the integers that w stands for, and the real value of 1 for each output channel.
func refWeights(n *graph.Node, b *graph.BinaryAttrs, ws []int, perChannel bool) (integers []int, scale []float64) {
	w := n.Weights["w"].Data
	outs := ws[3]
	integers, scale = make([]int, len(w)), make([]float64, outs)
	if b.Enc != "" {
		refIntegers(n, b, outs, perChannel, integers, scale)
		return integers, scale
	}
	for i, f := range w {
		if integers[i] = 1; f < 0 {
			integers[i] = -1
		}
	}
	for o := range scale {
		switch b.WeightScale {
		case "tensor":
			scale[o] = float64(n.Weights["scale"].Data[o])
		case "none":
			scale[o] = 1
		case "mean":
			for i, f := range w {
				if i%outs == o {
					scale[o] += math.Abs(float64(f))
				}
			}
			scale[o] /= float64(len(w) / outs)
		}
	}
	if b.WeightScale == "mean" && !perChannel {
		all := 0.0
		for _, s := range scale {
			all += s
		}
		for o := range scale {
			scale[o] = all / float64(outs)
		}
	}
	return integers, scale
}

// refIntegers finds the integers of ternary and few-bit weights by trying all of them: the nearest, on a tie the one that
// rounding half to even takes.
func refIntegers(n *graph.Node, b *graph.BinaryAttrs, outs int, perChannel bool, integers []int, scale []float64) {
	w := n.Weights["w"].Data
	abs := func(i int) float64 { return math.Abs(float64(w[i])) }
	for o := range outs {
		of := func(i int) bool { return i%outs == o }
		all := func(i int) bool { return of(i) || !perChannel }
		lo, hi, step := -b.Zero, 1<<b.Bits-1-b.Zero, 1
		if b.Enc == "bipolar" {
			lo, hi, step = -(1<<b.Bits - 1), 1<<b.Bits-1, 2
		}
		most, sum, count, mean := 0.0, 0.0, 0.0, make([]float64, outs)
		for i := range w {
			mean[i%outs] += abs(i) / float64(len(w)/outs)
		}
		for i := range w {
			if all(i) {
				most = max(most, abs(i))
				if abs(i) > 0.7*mean[i%outs] {
					sum, count = sum+abs(i), count+1
				}
			}
		}
		switch scale[o] = 1; b.WeightScale {
		case "tensor":
			scale[o] = float64(n.Weights["scale"].Data[o])
		case "mean":
			scale[o] = sum / max(1, count)
		case "max":
			scale[o] = most / float64(max(-lo, hi))
		}
		for i := range w {
			switch {
			case !of(i):
			case b.Enc != "ternary":
				best := lo
				for k := lo; k <= hi; k += step {
					d, old := math.Abs(float64(w[i])/scale[o]-float64(k)), math.Abs(float64(w[i])/scale[o]-float64(best))
					if even := (k-lo)/step%2 == 0; d < old || d == old && (step == 1 && k%2 == 0 || step == 2 && even) {
						best = k
					}
				}
				integers[i] = best
			case w[i] > 0 && abs(i) > 0.7*mean[o]:
				integers[i] = 1
			case w[i] < 0 && abs(i) > 0.7*mean[o]:
				integers[i] = -1
			}
		}
	}
}

// refQuantize is the integer that a float becomes.
func refQuantize(a *graph.QuantizeAttrs, out *graph.Value, e float32) int {
	m := float32(int(1)<<a.Bits - 1)
	v := f32.Div(e, float32(a.Scale))
	switch {
	case a.Unit && a.Enc == ir.Unipolar:
		v = f32.Mul(min(max(e, 0), 1), m)
	case a.Unit:
		v = f32.Mul(f32.Mul(f32.Add(min(max(e, -1), 1), 1), m), 0.5)
	case a.Range != nil:
		zp := a.Zero + a.Range.Min
		v = f32.Add(v, float32(zp))
		return int(f32.Round(a.Rounding, min(max(v, float32(a.Range.Min)), float32(a.Range.Max)))) - zp
	case a.Enc == ir.Unipolar:
		v = min(max(v, -float32(a.Zero)), m-float32(a.Zero))
	default:
		v = f32.Mul(f32.Add(min(max(v, -m), m), m), 0.5)
	}
	v = f32.Round(a.Rounding, v)
	if a.Enc == ir.Unipolar {
		return int(v)
	}
	return 2*int(v) - int(m)
}

// refShiftNorm applies Riptide's formula (SEMANTICS) to the integer sums, which it gets back from the floats.
func refShiftNorm(g *graph.Graph, n *graph.Node, a *graph.ShiftNormAttrs, x, y *refTensor) {
	p := g.Producer(n.Inputs[0])
	for p.Op == "max_pool" {
		p = g.Producer(p.Inputs[0])
	}
	b, ws := (*graph.BinaryAttrs)(nil), p.Weights["w"].Shape
	switch q := p.Attrs.(type) {
	case *graph.Conv2DAttrs:
		b = q.Binary
	case *graph.DenseAttrs:
		b, ws = q.Binary, []int{1, 1, ws[0], ws[1]}
	}
	_, scale := refWeights(p, b, ws, p.Op == "bitserial_conv2d")
	levels := math.Exp2(float64(a.Bits)) - 1
	log2 := func(v float64) int { return int(math.RoundToEven(math.Log2(v))) }
	x.each(func(bb, h, w, c int, e *float32) {
		wb := -log2(scale[c])
		t := wb + log2(math.Sqrt(float64(n.Weights["var"].Data[c])+a.Epsilon))
		s := 1 + (1-math.Exp2(float64(-wb)))/levels
		mean := math.Max(-s, math.Min(s, float64(n.Weights["mean"].Data[c])))
		sum := math.Round(float64(*e) / float64(float32(g.Value(p.Inputs[0]).Scale*scale[c])))
		sum -= math.RoundToEven(mean * levels * math.Exp2(float64(wb)))
		half := wb
		if a.Mode == "exact_round" {
			half = t
		}
		if half > 0 {
			sum += math.Exp2(float64(half - 1))
		}
		*y.at(bb, h, w, c) = float32(math.Max(0, math.Min(levels, math.Floor(sum*math.Exp2(float64(-t))))))
	})
}
