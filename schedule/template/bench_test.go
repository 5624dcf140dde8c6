package template_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/difftest"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/runtime"
	"ripc/schedule"
	"ripc/schedule/template"
	"ripc/targets"
	"ripc/targets/isa"
)

// layers are typical of SqueezeNet.
func layers() map[string]*ir.Func {
	conv := func(h, in, out, k, stride int, bits int) *ir.Func {
		a := &graph.FusedConv{KH: k, KW: k, SH: stride, SW: stride, In: in, Out: out}
		a.Pad = graph.Padding{Top: k / 2, Bottom: k / 2, Left: k / 2, Right: k / 2}
		if bits > 0 {
			a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, out)}}
		} else {
			a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul}}
		}
		return testlayer.Integers(a, layout.Popcount, ir.Unipolar, 1, 1, h, h, ops.Slice{})
	}
	first := &graph.FusedConv{KH: 3, KW: 3, SH: 2, SW: 2, In: 3, Out: 64, Bias: make([]float32, 64)}
	first.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Levels: []float32{0.5}}
	return map[string]*ir.Func{
		"3x3_64":    conv(13, 64, 256, 3, 1, 1),
		"1x1_512":   conv(13, 512, 64, 1, 1, 1),
		"dense":     conv(1, 4096, 1000, 1, 1, 0),
		"float_3x3": testlayer.Reals(first, 1, 112, 112, ops.Slice{}),
		"maxpool":   ops.MaxPoolBits(&graph.PoolAttrs{Kernel: [2]int{3, 3}, Strides: [2]int{2, 2}}, 1, []int{1, 55, 55, 128}, ir.Unipolar, ops.Slice{}),
	}
}

// variants is a library with one stage for each schedule of f.
func variants(b *testing.B, f *ir.Func, traces []schedule.Trace, t targets.Target) *runtime.Module {
	tools, err := toolchain.Find()
	if err != nil {
		b.Fatal(err)
	}
	p := &ir.Program{Name: "variants"}
	args := difftest.RandomArgs(f, 1)
	var names []string
	for i, q := range f.Params {
		buf := ir.ProgBuf{Buffer: q.Buffer, Kind: ir.ConstBuf, Data: args[i]}
		switch {
		case i == 0:
			buf.Kind, buf.Data = ir.InputBuf, nil
		case q.Out:
			buf.Kind, buf.Data = ir.OutputBuf, nil
		}
		p.Buffers, names = append(p.Buffers, buf), append(names, q.Name)
	}
	for i, tr := range traces {
		r, err := tr.ApplyAll(f, schedule.WithInstrs(isa.For(t)))
		if err != nil {
			b.Fatalf("%v\n%s", err, tr)
		}
		h := *r.Func
		h.Name = fmt.Sprint("v", i)
		p.Funcs = append(p.Funcs, &h)
		p.Stages = append(p.Stages, ir.Stage{Name: h.Name, Op: "variant", Func: h.Name, Args: packed(b, p, names, h.Name, r)})
	}
	files, err := codegen.Build(b.Context(), codegen.Input{Program: p, Target: t, Emit: []codegen.Kind{codegen.SO}}, llvm.Backend{Tools: tools})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "variants.so")
	if err := os.WriteFile(path, files[codegen.SO], 0o600); err != nil {
		b.Fatal(err)
	}
	m, err := runtime.Load(path)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// packed is args with the parameters that a trace packs packed, as constants of p.
func packed(b *testing.B, p *ir.Program, args []string, variant string, r schedule.Result) []string {
	args = slices.Clone(args)
	for n, k := range r.Packs {
		if k.View {
			continue
		}
		run, err := interp.CompileChecked(k.Func)
		if err != nil {
			b.Fatal(err)
		}
		at := slices.IndexFunc(r.Func.Params, func(q ir.Param) bool { return q.Name == k.Param })
		to := k.Func.Params[1].Buffer
		data := make([]byte, to.Bytes())
		if err := run.Run(b.Context(), [][]byte{p.BufferByName(args[at]).Data, data}); err != nil {
			b.Fatal(err)
		}
		to.Name = fmt.Sprintf("%s.%s.%d", k.Param, variant, n)
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: to, Kind: ir.ConstBuf, Data: data})
		args[at] = to.Name
	}
	return args
}

// fastest is the shortest of many runs of one stage.
func fastest(b *testing.B, s *runtime.Session, stage int) time.Duration {
	best := time.Hour
	for begin, n := time.Now(), 0; n < 5 || time.Since(begin) < 5*time.Millisecond; n++ {
		start := time.Now()
		if err := s.RunStages(context.Background(), stage, stage+1); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkDefaultAgainstRandom measures what a tuner that only draws knobs could gain: the time of the default schedule
// over that of the best of 20 or 200 random ones, on this machine and one thread.
func BenchmarkDefaultAgainstRandom(b *testing.B) {
	host, err := targets.Host()
	if err != nil {
		b.Skip("skipped: ", err)
	}
	all := layers()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		for _, n := range []int{20, 200} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				traces := []schedule.Trace{template.Default(f, host)}
				seen := map[string]bool{traces[0].String(): true}
				r := rand.New(rand.NewPCG(1, 2))
				for range n {
					if tr := template.Random(f, host, r); !seen[tr.String()] {
						seen[tr.String()] = true
						traces = append(traces, tr)
					}
				}
				m := variants(b, f, traces, host)
				defer m.Close()
				s, err := m.NewSession(1)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				copy(s.Input(0), difftest.RandomArgs(f, 1)[0])
				usual, best, at := fastest(b, s, 0), time.Hour, 0
				for i := range traces {
					if d := fastest(b, s, i); d < best {
						best, at = d, i
					}
				}
				usual = min(usual, fastest(b, s, 0))
				for b.Loop() {
					if err := s.RunStages(context.Background(), 0, 1); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(usual)/float64(best), "default/best")
				b.ReportMetric(float64(best.Nanoseconds()), "best-ns")
				b.ReportMetric(float64(len(traces)), "traces")
				b.Logf("the best schedule:\n%s", traces[at])
			})
		}
	}
}
