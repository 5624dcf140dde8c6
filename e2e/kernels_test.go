package e2e_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/compile"
	"ripc/internal/golden"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// vpopcnt is a target with AVX-512 and vpopcntd, whatever machine this is.
func vpopcnt(t *testing.T) targets.Target {
	t.Helper()
	m, err := targets.Lookup("x86-64-v4")
	if err != nil {
		t.Fatal(err)
	}
	m.Features, m.CountOps = append(slices.Clone(m.Features), "avx512vpopcntdq"), 1
	return m
}

// forms are the two kernels of docs/kernels.md.
func forms(f *ir.Func, m targets.Target) map[string]schedule.Trace {
	traces, l := map[string]schedule.Trace{}, strategy.LayerOf(f, m)
	for form, name := range map[string]string{"pairs": "pairs", "plain": "words"} {
		for _, s := range strategy.For(l) {
			if s.Name != name {
				continue
			}
			v := strategy.Values{"tile_w": 7}
			for _, k := range s.Knobs(l) {
				switch most := slices.Max(k.Domain); k.Name {
				case "tile_h":
					v[k.Name] = (most + 7) / 8 // rows for each of eight threads
				case "part", "unroll", "filters_outer":
					v[k.Name] = most
				}
			}
			c, err := s.Build(l, v)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			traces[form] = c.Trace
		}
	}
	return traces
}

func convFunc(t *testing.T, path string) *ir.Func {
	t.Helper()
	by := map[string]layout.Algorithm{"conv": layout.Popcount}
	c, err := ripc.Compile(context.Background(), path, ripc.Options{Target: "x86-64-v4", Algorithms: by})
	if err != nil {
		t.Fatal(err)
	}
	return c.Program.Funcs[0]
}

// TestKernelFiles writes the schedules of examples/convs, as strategies make them, and the Funcs that come of them.
func TestKernelFiles(t *testing.T) {
	t.Parallel()
	m := vpopcnt(t)
	for _, name := range []string{"convA", "convB", "convC", "convD"} {
		model := "../examples/convs/" + name + "_n1_unipolar.json"
		f := convFunc(t, model)
		golden.Check(t, "../examples/convs/ripir/"+name+"_n1.ripir", []byte(f.String()))
		for form, tr := range forms(f, m) {
			path := fmt.Sprintf("../examples/convs/%s_n1_%s.schedule", name, form)
			head := fmt.Sprintf("# Written by go test ./e2e -run TestKernelFiles -update; docs/kernels.md explains it.\n#\n#\tripc bench %s --schedule %s --threads 1\nfunc %s:\n", model[len("../"):], path[len("../"):], f.Name)
			golden.Check(t, path, []byte(head+tr.String()))
			u, err := compile.Kernel(t.Context(), f, tr, m, compile.KernelOptions{Emit: []codegen.Kind{codegen.Ripir}})
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			golden.Check(t, fmt.Sprintf("../examples/convs/ripir/%s_n1_%s.ripir", name, form), []byte(u.Scheduled.Funcs[0].String()))
		}
	}
}

// TestKernels: the schedules of examples/convs compute what the plain loops do.
func TestKernels(t *testing.T) {
	t.Parallel()
	host, err := targets.Host()
	if err != nil || !host.Has("avx512vpopcntdq") {
		t.Skip("this machine has no vpopcntd")
	}
	for _, name := range []string{"convA", "convB", "convC", "convD"} {
		model := "../examples/convs/" + name + "_n1_unipolar.json"
		for _, form := range []string{"plain", "pairs"} {
			traces, err := ripc.ReadSchedule(fmt.Sprintf("../examples/convs/%s_n1_%s.schedule", name, form))
			if err != nil {
				t.Fatal(err)
			}
			r, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: model, Options: ripc.Options{Schedules: traces}, Seed: 3, Threads: 2})
			if err != nil || !r.OK {
				t.Errorf("%s, %s: %v, %v", name, form, r, err)
			}
		}
	}
}

// TestKernelsPage: the listings of docs/kernels.md are parts of those files; what follows two blanks on a line of a trace
// is a comment.
func TestKernelsPage(t *testing.T) {
	t.Parallel()
	const page = "../docs/kernels.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := listings(string(text))
	if len(shown) != 3 {
		t.Errorf("%s has %d listings", page, len(shown))
	}
	for name, got := range shown {
		base, form, _ := strings.Cut(name, ".")
		path, whole := fmt.Sprintf("../examples/convs/ripir/%s.ripir", strings.TrimSuffix(base+"_"+form, "_")), false
		if trace, ok := strings.CutSuffix(name, ".trace"); ok {
			base, form, _ = strings.Cut(trace, ".")
			path, whole = fmt.Sprintf("../examples/convs/%s_%s.schedule", base, form), true
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("listing %q: %v", name, err)
		}
		want := string(file)
		if whole {
			_, want, _ = strings.Cut(want, ":\n") // the steps
			var steps strings.Builder
			for line := range strings.Lines(got) {
				step, _, _ := strings.Cut(line, "  ")
				steps.WriteString(strings.TrimSpace(step) + "\n")
			}
			got = steps.String()
		}
		if !excerpt(got, whole).MatchString(unindent(want, false)) && !excerpt(got, whole).MatchString(unindent(want, true)) {
			t.Errorf("%s: listing %q is not in %s; edit the page. There is\n%s", page, name, path, want)
		}
	}
}
