package onnx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/ir"
)

// evaluate computes a graph of plain ops as their doc comments say, in naive f32 loops. Levels are kept as their numbers.
func evaluate(g *graph.Graph, inputs map[string][]float32) map[string][]float32 {
	vals := map[string][]float32{}
	for k, v := range inputs {
		vals[k] = v
	}
	for _, n := range g.Nodes {
		var in []*graph.Value
		var x [][]float32
		for _, name := range n.Inputs {
			in, x = append(in, g.Value(name)), append(x, vals[name])
		}
		vals[n.Output] = evalNode(n, in, x, g.Value(n.Output))
	}
	return vals
}

// naive is an Evaluator.
func naive(_ context.Context, g *graph.Graph, inputs [][]float32) ([][]float32, error) {
	in := map[string][]float32{}
	for i, name := range g.Inputs {
		in[name] = inputs[i]
	}
	vals, out := evaluate(g, in), [][]float32{}
	for _, name := range g.Outputs {
		out = append(out, vals[name])
	}
	return out, nil
}

func evalNode(n *graph.Node, in []*graph.Value, x [][]float32, out *graph.Value) []float32 {
	y := make([]float32, out.Elems())
	each := func(f func(v float32, c int) float32) []float32 {
		ch := in[0].Channels()
		for i, v := range x[0] {
			y[i] = f(v, i%ch)
		}
		return y
	}
	w := func(key string, c int) float32 {
		t := n.Weights[key]
		return t.Data.At(c % t.Data.Len())
	}
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		return evalConv(n, a, in[0], x[0], out)
	case *graph.PoolAttrs:
		return evalPool(n.Op, a, in[0], x[0], out)
	case *graph.DenseAttrs:
		o := out.Shape[1]
		for i := range y {
			var acc float32
			for k := range in[0].Shape[1] {
				acc = f32.Fma(x[0][i/o*in[0].Shape[1]+k], n.Weights["w"].Data.At(k*o+i%o), acc)
			}
			if n.Weights["b"] != nil {
				acc = f32.Add(acc, w("b", i%o))
			}
			y[i] = acc
		}
		return y
	case *graph.BatchNormAttrs:
		return each(func(v float32, c int) float32 {
			s := float64(w("gamma", c)) / math.Sqrt(float64(w("var", c))+a.Epsilon)
			return f32.Fma(v, float32(s), float32(float64(w("beta", c))-float64(w("mean", c))*s))
		})
	case *graph.BinaryOpAttrs:
		if b := n.Weights["b"]; b != nil {
			in, x = append(in, &graph.Value{Shape: b.Shape}), append(x, b.Data.Floats())
		}
		if a.Reverse {
			slices.Reverse(in)
			slices.Reverse(x)
		}
		return evalElements(n.Op, in, x, out)
	case *graph.WhereAttrs:
		for i, key := range []string{"a", "b"} {
			if t := n.Weights[key]; t != nil {
				in, x = slices.Insert(in, min(1+i, len(in)), &graph.Value{Shape: t.Shape}), slices.Insert(x, min(1+i, len(x)), t.Data.Floats())
			}
		}
		return evalElements(n.Op, in, x, out)
	case *graph.ArgAttrs:
		c := in[0].Channels()
		for k := range y {
			row := x[0][k*c : (k+1)*c]
			for i, v := range row {
				best := row[int(y[k])]
				if n.Op == "argmin" {
					v, best = -v, -best
				}
				if v > best || a.Last && v == best {
					y[k] = float32(i)
				}
			}
		}
		return y
	case *graph.TopKAttrs:
		c := in[0].Channels()
		for k := range len(y) / a.K {
			row := x[0][k*c : (k+1)*c]
			at := kit.Identity(c)
			slices.SortStableFunc(at, func(i, j int) int {
				if a.Least {
					i, j = j, i
				}
				return cmp.Compare(row[j], row[i])
			})
			for i, p := range at[:a.K] {
				if y[k*a.K+i] = row[p]; out.Whole {
					y[k*a.K+i] = float32(p)
				}
			}
		}
		return y
	case *graph.HardSigmoidAttrs:
		return each(func(v float32, _ int) float32 {
			return f32.Min(f32.Max(f32.Add(f32.Mul(v, float32(a.Alpha)), float32(a.Beta)), 0), 1)
		})
	case *graph.EluAttrs:
		return each(func(v float32, _ int) float32 {
			if v > 0 {
				return v
			}
			return float32(a.Alpha * math.Expm1(float64(v)))
		})
	case *graph.NoAttrs:
		if n.Op == "matmul" {
			return evalMatMul(in, x, out)
		}
	}
	switch a := n.Attrs.(type) {
	case *graph.ConstantAttrs:
		return n.Weights["value"].Data.Floats()
	case *graph.ReshapeAttrs:
		return x[0]
	case *graph.TransposeAttrs:
		s := strides(in[0].Shape)
		step := make([]int, len(s))
		for d, p := range a.Perm {
			step[d] = s[p]
		}
		eachOffset(out.Shape, 0, step, func(k, o int) { y[k] = x[0][o] })
		return y
	case *graph.SliceAttrs:
		s, base := strides(in[0].Shape), 0
		for d := range s {
			base += a.Begin[d] * s[d]
			s[d] *= a.Stride[d]
		}
		eachOffset(out.Shape, base, s, func(k, o int) { y[k] = x[0][o] })
		return y
	case *graph.ConvTranspose2DAttrs:
		return evalConvTranspose(n, a, in[0], x[0], out)
	case *graph.BlockAttrs:
		return evalBlock(n.Op, a, in[0], x[0], out)
	case *graph.ResizeAttrs:
		s := out.Shape
		for k := range y {
			c, w, h, b := k%s[3], k/s[3]%s[2]/a.Factor[1], k/s[3]/s[2]%s[1]/a.Factor[0], k/s[3]/s[2]/s[1]
			y[k] = x[0][((b*in[0].Shape[1]+h)*in[0].Shape[2]+w)*s[3]+c]
		}
		return y
	case *graph.GatherAttrs:
		return evalPositions(asFloats(a.Rows), asFloats(a.Columns), in[0], x[0], out)
	case *graph.InterpolateAttrs:
		return evalPositions(a.Rows, a.Columns, in[0], x[0], out)
	case *graph.SpatialPadAttrs:
		s := in[0].Shape
		for k := range y {
			c, q := k%s[3], k/s[3]
			h, v := q/out.Shape[2]%out.Shape[1]-a.Pad.Top, q%out.Shape[2]-a.Pad.Left
			if y[k] = float32(a.Value); h >= 0 && h < s[1] && v >= 0 && v < s[2] {
				y[k] = x[0][((q/out.Shape[2]/out.Shape[1]*s[1]+h)*s[2]+v)*s[3]+c]
			}
		}
		return y
	case *graph.ConcatAttrs:
		at, total := 0, out.Channels()
		for i, v := range in {
			c := v.Channels()
			for k, e := range x[i] {
				y[k/c*total+at+k%c] = e
			}
			at += c
		}
		return y
	case *graph.PReluAttrs:
		return each(func(v float32, c int) float32 { return f32.Fma(f32.Min(v, 0), w("alpha", c), f32.Max(v, 0)) })
	case *graph.ClipAttrs:
		return each(func(v float32, _ int) float32 { return f32.Min(f32.Max(v, float32(a.Min)), float32(a.Max)) })
	case *graph.RoundAttrs:
		return each(func(v float32, _ int) float32 { return graphRound(a.Mode, v) })
	case *graph.FakeQuantAttrs:
		return each(func(v float32, c int) float32 {
			zp := float32(0)
			if n.Weights["zero_point"] != nil {
				zp = w("zero_point", c)
			}
			v = f32.Add(f32.Div(v, w("scale", c)), zp)
			v = graphRound(a.Rounding, f32.Min(f32.Max(v, float32(a.Min)), float32(a.Max)))
			return f32.Mul(f32.Sub(v, zp), w("scale", c))
		})
	case *graph.QuantizeAttrs:
		return each(func(v float32, _ int) float32 {
			v = f32.Div(v, float32(a.Scale))
			if a.Range != nil {
				v = f32.Add(v, float32(a.Zero+a.Range.Min))
				return graphRound(a.Rounding, f32.Min(f32.Max(v, float32(a.Range.Min)), float32(a.Range.Max))) - float32(a.Range.Min)
			}
			m := float32(int(1)<<a.Bits - 1)
			return graphRound(a.Rounding, f32.Min(f32.Max(v, -float32(a.Zero)), m-float32(a.Zero))) + float32(a.Zero)
		})
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		return each(func(v float32, c int) float32 {
			level := float32(0)
			for i := range t.Shape[0] {
				limit := t.Data.At(i*t.Shape[1] + c%t.Shape[1])
				if v >= limit || a.NotLess && !(v < limit) {
					level++
				}
			}
			return level
		})
	}
	switch n.Op {
	case "logical_not", "logical_and", "logical_or", "logical_xor":
		return evalElements(n.Op, in, x, out)
	case "abs":
		return each(func(v float32, _ int) float32 { return f32.Abs(v) })
	case "sigmoid":
		return each(func(v float32, _ int) float32 { return float32(1 / (1 + math.Exp(-float64(v)))) })
	case "tanh":
		return each(func(v float32, _ int) float32 { return float32(math.Tanh(float64(v))) })
	case "exp":
		return each(func(v float32, _ int) float32 { return float32(math.Exp(float64(v))) })
	case "log":
		return each(func(v float32, _ int) float32 { return float32(math.Log(float64(v))) })
	case "sqrt":
		return each(func(v float32, _ int) float32 { return float32(math.Sqrt(float64(v))) })
	case "erf":
		return each(func(v float32, _ int) float32 { return float32(math.Erf(float64(v))) })
	case "silu":
		return each(func(v float32, _ int) float32 { return float32(float64(v) / (1 + math.Exp(-float64(v)))) })
	case "hard_swish":
		return each(func(v float32, _ int) float32 { return v * min(max(v/6+0.5, 0), 1) })
	case "relu":
		return each(func(v float32, _ int) float32 { return f32.Max(v, 0) })
	case "sign":
		return each(func(v float32, _ int) float32 { return float32(cmp.Compare(f32.Flush(v), 0)) })
	case "relu6":
		return each(func(v float32, _ int) float32 { return f32.Min(f32.Max(v, 0), 6) })
	case "hard_tanh":
		return each(func(v float32, _ int) float32 { return f32.Min(f32.Max(v, -1), 1) })
	case "dequantize":
		return each(func(v float32, _ int) float32 {
			if in[0].Whole {
				return v
			}
			l := int(v)
			switch m := 1<<in[0].Bits - 1; in[0].Enc {
			case ir.Bipolar:
				l = 2*l - m
			case ir.BipolarInv:
				l = m - 2*l
			default:
				l -= in[0].Zero
			}
			return f32.Mul(float32(in[0].Scale), float32(l))
		})
	case "log_softmax":
		c := out.Channels()
		for k := 0; k < len(y); k += c {
			sum := 0.0
			for _, v := range x[0][k : k+c] {
				sum += math.Exp(float64(v))
			}
			for i := range c {
				y[k+i] = float32(float64(x[0][k+i]) - math.Log(sum))
			}
		}
		return y
	case "global_avg_pool":
		s := in[0].Shape
		for k, v := range x[0] {
			y[k/(s[1]*s[2]*s[3])*s[3]+k%s[3]] += v
		}
		for k := range y {
			y[k] /= float32(s[1] * s[2])
		}
		return y
	case "softmax":
		c := out.Channels()
		for k := 0; k < len(y); k += c {
			top, sum := slices.Max(x[0][k:k+c]), float32(0)
			for i := range c {
				y[k+i] = float32(math.Exp(float64(x[0][k+i] - top)))
				sum += y[k+i]
			}
			for i := range c {
				y[k+i] /= sum
			}
		}
		return y
	}
	panic(fmt.Sprintf("no evaluation of %s", n.Op))
}

// evalElements is op of single elements of x, broadcast.
func evalElements(op string, in []*graph.Value, x [][]float32, out *graph.Value) []float32 {
	truth := func(is bool) float32 {
		if is {
			return 1
		}
		return 0
	}
	f := map[string]func(v []float32) float32{
		"add": func(v []float32) float32 { return f32.Add(v[0], v[1]) }, "sub": func(v []float32) float32 { return f32.Sub(v[0], v[1]) },
		"mul": func(v []float32) float32 { return f32.Mul(v[0], v[1]) }, "div": func(v []float32) float32 { return f32.Div(v[0], v[1]) },
		"minimum": func(v []float32) float32 { return min(v[0], v[1]) }, "maximum": func(v []float32) float32 { return max(v[0], v[1]) },
		"greater": func(v []float32) float32 { return truth(v[0] > v[1]) }, "greater_equal": func(v []float32) float32 { return truth(v[0] >= v[1]) },
		"less": func(v []float32) float32 { return truth(v[0] < v[1]) }, "less_equal": func(v []float32) float32 { return truth(v[0] <= v[1]) },
		"equal": func(v []float32) float32 { return truth(v[0] == v[1]) }, "not_equal": func(v []float32) float32 { return truth(v[0] != v[1]) },
		"logical_not": func(v []float32) float32 { return 1 - v[0] }, "logical_and": func(v []float32) float32 { return v[0] * v[1] },
		"logical_or": func(v []float32) float32 { return max(v[0], v[1]) }, "logical_xor": func(v []float32) float32 { return truth(v[0] != v[1]) },
		"where": func(v []float32) float32 { return v[0]*v[1] + (1-v[0])*v[2] },
	}[op]
	var walks []func() int
	for _, v := range in {
		walks = append(walks, strideWalk(&array{shape: v.Shape}, out.Shape))
	}
	y := make([]float32, out.Elems())
	for k := range y {
		var args []float32
		for i := range walks {
			args = append(args, x[i][walks[i]()])
		}
		y[k] = f(args)
	}
	return y
}

// asFloats is a list of numbers as f32.
func asFloats(list []int) (out []float32) {
	for _, v := range list {
		out = append(out, float32(v))
	}
	return out
}

// evalPositions weighs the four pixels around each position.
func evalPositions(rows, columns []float32, in *graph.Value, x []float32, out *graph.Value) []float32 {
	position := func(at []float32, i int) (low int, share float64) {
		if len(at) == 0 {
			return i, 0
		}
		f := math.Floor(float64(at[i]))
		return int(f), float64(at[i]) - f
	}
	s, t := in.Shape, out.Shape
	y := make([]float32, t[0]*t[1]*t[2]*t[3])
	for k := range y {
		c, w, h, b := k%t[3], k/t[3]%t[2], k/t[3]/t[2]%t[1], k/t[3]/t[2]/t[1]
		top, down := position(rows, h)
		left, right := position(columns, w)
		sum := 0.0
		for i, dy := range []float64{1 - down, down} {
			for j, dx := range []float64{1 - right, right} {
				p := x[((b*s[1]+min(top+i, s[1]-1))*s[2]+min(left+j, s[2]-1))*s[3]+c]
				sum += dy * dx * float64(p)
			}
		}
		y[k] = float32(sum)
	}
	return y
}
