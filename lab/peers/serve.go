package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"ripc"
	"ripc/codegen"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/lower/layout"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

// limitOf is the limit of the machine that a layer has: by the algorithm of its sums where that
// says it, otherwise by the numbers that are multiplied. The limit of bytes that are multiplied as
// f32 is that of bytes. It is "" for an algorithm that is not known.
func limitOf(l describe.Layer) string {
	if l.Algorithm.Name == "" {
		return "fp32"
	}
	by, err := layout.ParseAlgorithm(l.Algorithm.Name)
	switch {
	case err != nil:
		return ""
	case by.Counts():
		return "bits"
	case by == layout.Dot, by == layout.Float && l.ActivationBits < 32 && l.WeightBits < 32:
		return "int8"
	case by == layout.Float:
		return "fp32"
	}
	return "table" // all else looks up
}

// serve is ripc's worker: it compiles a model for this machine and runs it as orders say.
func serve(ctx context.Context, model string, threads int, in io.Reader, out io.Writer) (err error) {
	defer stop.Catch(&err)
	answer := json.NewEncoder(out)
	s, d, err := session(ctx, model, threads)
	if err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	if err := s.Run(ctx); err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	shape := func(t describe.Tensor) []int { return t.Shape }
	dtype := func(t describe.Tensor) string { return t.DType }
	g := greeting{Version: "ripc " + ripc.Version, Products: productsOf(d), MACs: d.MACs(),
		Inputs: lists.Map(d.Inputs, shape), Types: lists.Map(d.Inputs, dtype), Outputs: lists.Map(d.Outputs, shape)}
	if g.Sample, err = sample(d.Outputs[0], s.Output(0)); err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	stop.Check(answer.Encode(g))
	orders := bufio.NewScanner(in)
	for orders.Scan() {
		var o order
		stop.Check(json.Unmarshal(orders.Bytes(), &o))
		if len(o.Inputs) > 0 {
			var r report
			if err := apply(ctx, s, d, o); err != nil {
				r.Error = err.Error()
			}
			stop.Check(answer.Encode(r))
			continue
		}
		r := report{NS: make([]int64, o.Runs)}
		for i := range r.NS {
			start := time.Now()
			err := s.Run(ctx)
			r.NS[i] = time.Since(start).Nanoseconds()
			if err != nil {
				return err
			}
		}
		stop.Check(answer.Encode(r))
	}
	return orders.Err()
}

// session compiles and loads a model, with the picture as its input.
func session(ctx context.Context, model string, threads int) (_ *runtime.Session, _ *describe.Artifact, err error) {
	defer stop.Catch(&err)
	c := stop.Must(ripc.Compile(ctx, model, ripc.Options{Emit: []codegen.Kind{codegen.SO}}))
	dir := stop.Must(os.MkdirTemp("", "ripc-bench-"))
	defer os.RemoveAll(dir) // mapped files stay
	file := filepath.Join(dir, "model.so")
	stop.Check(os.WriteFile(file, c.Files[codegen.SO], 0o600))
	m := stop.Must(runtime.Load(file))
	s, err := m.NewSession(threads)
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	for i, t := range m.Description().Inputs {
		if err := fill(t, s.Input(i)); err != nil {
			return nil, nil, errors.Join(err, s.Close(), m.Close())
		}
	}
	return s, m.Description(), nil
}

// productsOf counts the multiply-adds of a network by the limit that they have.
func productsOf(d *describe.Artifact) map[string]int64 {
	p := map[string]int64{}
	for _, s := range d.Stages {
		if limit, n := Products(s); n > 0 {
			p[limit] += n
		}
	}
	return p
}

// Products returns the limit of a stage's multiply-adds, a name of package limits, and their
// number: products of bits where they are computed as such.
func Products(s describe.Stage) (limit string, n int64) {
	if s.MACs == 0 {
		return "", 0
	}
	limit, planes := limitOf(s.Layer), int64(1)
	if limit == "bits" {
		planes = int64(s.Layer.ActivationBits) * int64(max(1, s.Layer.WeightBits))
	}
	return limit, s.MACs * planes
}

// picture is the number at index i of every input, in the order of NHWC: from -1 to 1, and as if
// random. networks.py has the same.
func picture(i int) float32 { return float32(uint32(uint64(i)*2654435761))/(1<<31) - 1 }

// pictures writes the picture as a file for each of ripc's inputs, in the order of their own axes.
func (w *worker) pictures(folder string) (files []string, err error) {
	defer stop.Catch(&err)
	for i, shape := range w.Inputs {
		t := describe.Tensor{DType: w.Types[i], Shape: shape}
		size := npy.Size(t.DType)
		for _, n := range shape {
			size *= n
		}
		data := make([]byte, size)
		stop.Check(fill(t, data))
		files = append(files, filepath.Join(folder, fmt.Sprintf("input_%d.npy", i)))
		stop.Check((&npy.Array{DType: t.DType, Shape: append([]int{1}, shape...), Data: data}).WriteFile(files[i]))
	}
	return files, nil
}

// fill writes the picture to an input; whole numbers get all of their range.
func fill(t describe.Tensor, data []byte) error {
	ends, isWhole := map[string][2]float64{
		"i32": {math.MinInt32, math.MaxInt32}, "u32": {0, math.MaxUint32}, "i8": {math.MinInt8, math.MaxInt8},
		"u8": {0, math.MaxUint8},
	}[t.DType]
	if !isWhole && t.DType != "f32" {
		return fmt.Errorf("tensor %s: no numbers of type %s", t.Title(), t.DType)
	}
	size := npy.Size(t.DType)
	for i := range len(data) / size {
		x := picture(nhwc(t, i))
		bits := uint64(math.Float32bits(x))
		if isWhole {
			v := math.RoundToEven((float64(x)+1)/2*(ends[1]-ends[0])) + ends[0]
			bits = uint64(int64(min(max(v, ends[0]), ends[1])))
		}
		for k := range size {
			data[i*size+k] = byte(bits >> (8 * k))
		}
	}
	return nil
}

// sample takes numbers of an output, in the order of NHWC.
func sample(t describe.Tensor, data []byte) ([]float64, error) {
	all, err := (&npy.Array{DType: t.DType, Data: data}).Float64s()
	if err != nil {
		return nil, err
	}
	n := len(all)
	at := make([]int, n) // the index of each number in memory, by its index in NHWC
	for i := range n {
		at[nhwc(t, i)] = i
	}
	const count = 32
	var out []float64
	for k := range count {
		i := int(float64(k) * (float64(n-1) / (count - 1)))
		if k == count-1 {
			i = n - 1
		}
		out = append(out, all[at[i]])
	}
	return out, nil
}

// nhwc is where the number at index i of a tensor would be if its layout were NHWC.
func nhwc(t describe.Tensor, i int) int {
	if t.Layout != "NCHW" || len(t.Shape) != 4 {
		return i
	}
	c, h, w := t.Shape[1], t.Shape[2], t.Shape[3]
	n, y, x := i/(c*h*w), i/w%h, i%w
	return ((n*h+y)*w+x)*c + i/(h*w)%c
}

// apply runs the session on each element of the files o.Inputs, and writes its first output for
// each.
func apply(ctx context.Context, s *runtime.Session, d *describe.Artifact, o order) (err error) {
	defer stop.Catch(&err)
	if len(o.Inputs) != len(d.Inputs) {
		return fmt.Errorf("the network has %d inputs, and there are %d files", len(d.Inputs), len(o.Inputs))
	}
	var files []*npy.Array
	for i, name := range o.Inputs {
		x := stop.Must(npy.ReadFile(name))
		if x.DType != d.Inputs[i].DType || len(x.Shape) == 0 || len(x.Data) != x.Shape[0]*len(s.Input(i)) {
			return fmt.Errorf("%s has %s %v, and the network reads %s %v", name, x.DType, x.Shape, d.Inputs[i].DType,
				d.Inputs[i].Shape)
		}
		if files = append(files, x); x.Shape[0] != files[0].Shape[0] {
			return fmt.Errorf("%s has %d elements, and %s has %d", name, x.Shape[0], o.Inputs[0], files[0].Shape[0])
		}
	}
	var all []float32
	rows := files[0].Shape[0]
	for row := range rows {
		for i, x := range files {
			n := len(s.Input(i))
			copy(s.Input(i), x.Data[row*n:][:n])
		}
		stop.Check(s.Run(ctx))
		numbers := stop.Must((&npy.Array{DType: d.Outputs[0].DType, Data: s.Output(0)}).Float64s())
		for _, v := range numbers {
			all = append(all, float32(v))
		}
	}
	return npy.FromFloat32([]int{rows, len(all) / max(1, rows)}, all).WriteFile(o.Outputs)
}
