package main

import (
	"bufio"
	"context"
	"encoding/binary"
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
	"ripc/lower/layout"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// limitOf is the limit of the machine that a layer has: by the algorithm of its sums where that says it, otherwise by the numbers that
// are multiplied. Bytes that are multiplied as f32 are measured by what bytes could take. It is "" for an algorithm that is not known.
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
func serve(ctx context.Context, model string, threads int, in io.Reader, out io.Writer) error {
	answer := json.NewEncoder(out)
	s, d, err := session(ctx, model, threads)
	if err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	if err := s.Run(ctx); err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	g := greeting{Version: "ripc " + ripc.Version, Products: products(d), MACs: d.MACs()}
	for _, t := range d.Inputs {
		g.Inputs = append(g.Inputs, t.Shape)
	}
	for _, t := range d.Outputs {
		g.Outputs = append(g.Outputs, t.Shape)
	}
	if g.Sample, err = sample(d.Outputs[0], s.Output(0)); err != nil {
		return answer.Encode(greeting{Error: err.Error()})
	}
	if err := answer.Encode(g); err != nil {
		return err
	}
	orders := bufio.NewScanner(in)
	for orders.Scan() {
		var o order
		if err := json.Unmarshal(orders.Bytes(), &o); err != nil {
			return err
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
		if err := answer.Encode(r); err != nil {
			return err
		}
	}
	return orders.Err()
}

// session compiles and loads a model, with the picture as its input.
func session(ctx context.Context, model string, threads int) (*runtime.Session, *describe.Artifact, error) {
	c, err := ripc.Compile(ctx, model, ripc.Options{Emit: []codegen.Kind{codegen.SO}})
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ripc-bench-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir) // mapped files stay
	file := filepath.Join(dir, "model.so")
	if err := os.WriteFile(file, c.Files[codegen.SO], 0o600); err != nil {
		return nil, nil, err
	}
	m, err := runtime.Load(file)
	if err != nil {
		return nil, nil, err
	}
	s, err := m.NewSession(threads)
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	for i, t := range m.Description().Inputs {
		if err := fillInput(t, s.Input(i)); err != nil {
			return nil, nil, errors.Join(err, s.Close(), m.Close())
		}
	}
	return s, m.Description(), nil
}

// products counts the multiply-adds of a network by the limit that they have: products of bits
// where they are computed as such.
func products(d *describe.Artifact) map[string]int64 {
	p := map[string]int64{}
	for _, s := range d.Stages {
		if s.MACs == 0 {
			continue
		}
		limit, planes := limitOf(s.Layer), int64(1)
		if limit == "bits" {
			planes = int64(s.Layer.ActivationBits) * int64(max(1, s.Layer.WeightBits))
		}
		p[limit] += s.MACs * planes
	}
	return p
}

// picture is the number at index i of every input, in the order of NHWC: from -1 to 1, and as if
// random. networks.py has the same.
func picture(i int) float32 { return float32(uint32(uint64(i)*2654435761))/(1<<31) - 1 }

// fillInput writes the picture to an input; whole numbers get all of their range.
func fillInput(t describe.Tensor, data []byte) error {
	put, size, err := codec(t)
	if err != nil {
		return err
	}
	for i := range len(data) / size {
		put.put(data[i*size:], picture(indexNHWC(t, i)))
	}
	return nil
}

// sample takes numbers of an output, in the order of NHWC.
func sample(t describe.Tensor, data []byte) ([]float64, error) {
	c, size, err := codec(t)
	if err != nil {
		return nil, err
	}
	n := len(data) / size
	at := make([]int, n) // the index of each number in memory, by its index in NHWC
	for i := range n {
		at[indexNHWC(t, i)] = i
	}
	const count = 32
	var out []float64
	for k := range count {
		i := int(float64(k) * (float64(n-1) / (count - 1)))
		if k == count-1 {
			i = n - 1
		}
		out = append(out, c.get(data[at[i]*size:]))
	}
	return out, nil
}

// indexNHWC is where the number at index i of a tensor would be if its layout were NHWC.
func indexNHWC(t describe.Tensor, i int) int {
	if t.Layout != "NCHW" || len(t.Shape) != 4 {
		return i
	}
	c, h, w := t.Shape[1], t.Shape[2], t.Shape[3]
	n, y, x := i/(c*h*w), i/w%h, i%w
	return ((n*h+y)*w+x)*c + i/(h*w)%c
}

// number reads and writes one number of a type.
type number struct {
	put func(to []byte, x float32)
	get func(from []byte) float64
}

// codec returns conversions for a tensor's type, and its size in bytes.
func codec(t describe.Tensor) (number, int, error) {
	whole := func(low, high float64) func(x float32) float64 {
		return func(x float32) float64 {
			return min(max(math.RoundToEven((float64(x)+1)/2*(high-low))+low, low), high)
		}
	}
	switch t.DType {
	case "f32":
		return number{
			func(to []byte, x float32) { binary.LittleEndian.PutUint32(to, math.Float32bits(x)) },
			func(from []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(from))) },
		}, 4, nil
	case "i32":
		w := whole(math.MinInt32, math.MaxInt32)
		return number{
			func(to []byte, x float32) { binary.LittleEndian.PutUint32(to, uint32(int32(w(x)))) },
			func(from []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(from))) },
		}, 4, nil
	case "u32":
		w := whole(0, math.MaxUint32)
		return number{
			func(to []byte, x float32) { binary.LittleEndian.PutUint32(to, uint32(w(x))) },
			func(from []byte) float64 { return float64(binary.LittleEndian.Uint32(from)) },
		}, 4, nil
	case "i8":
		w := whole(math.MinInt8, math.MaxInt8)
		return number{
			func(to []byte, x float32) { to[0] = byte(int8(w(x))) },
			func(from []byte) float64 { return float64(int8(from[0])) },
		}, 1, nil
	case "u8":
		w := whole(0, math.MaxUint8)
		return number{
			func(to []byte, x float32) { to[0] = byte(w(x)) },
			func(from []byte) float64 { return float64(from[0]) },
		}, 1, nil
	}
	return number{}, 0, fmt.Errorf("tensor %s: no numbers of type %s", t.Title(), t.DType)
}
