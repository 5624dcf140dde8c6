package codegen_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets"
)

func host(t testing.TB) targets.Target {
	t.Helper()
	tg, err := targets.Host()
	need.OK(t, err)
	return tg
}

// small doubles 70 numbers and then adds a constant to each.
func small() *ir.Program {
	const n = 70
	buf := func(name string) ir.Buffer { return ir.Buffer{Name: name, Type: ir.I32, Shape: []int{1, n}} }
	x, c, y := buf("x"), ir.Buffer{Name: "c", Type: ir.I32, Shape: []int{n}}, buf("y")
	loop := func(s ir.Stmt) ir.Stmt { return &ir.For{Var: "i", Extent: n, Kind: ir.Parallel, Body: s} }
	i := ir.V("i")
	double := &ir.Func{Name: "double", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}},
		Body: loop(&ir.Store{Buf: "y", Idx: []ir.Expr{ir.Int(0), i}, Val: ir.Bin(ir.Add, ir.At(x, ir.Int(0), i), ir.At(x, ir.Int(0), i))})}
	add := &ir.Func{Name: "add", Params: []ir.Param{{Buffer: x}, {Buffer: c}, {Buffer: y, Out: true}},
		Body: loop(&ir.Store{Buf: "y", Idx: []ir.Expr{ir.Int(0), i}, Val: ir.Bin(ir.Add, ir.At(x, ir.Int(0), i), ir.At(c, i))})}
	one := bytes.Repeat([]byte{1, 0, 0, 0}, n)
	two := bytes.Repeat([]byte{2, 0, 0, 0}, n)
	tmp := buf("tmp")
	return &ir.Program{
		Name: "small.net", Arena: 320, Funcs: []*ir.Func{double, add},
		Buffers: []ir.ProgBuf{
			{Buffer: buf("in"), Kind: ir.InputBuf, Layout: "NC"}, {Buffer: tmp, Kind: ir.ArenaBuf},
			{Buffer: ir.Buffer{Name: "one", Type: ir.I32, Shape: []int{n}}, Kind: ir.ConstBuf, Data: one},
			{Buffer: ir.Buffer{Name: "two", Type: ir.I32, Shape: []int{n}}, Kind: ir.ConstBuf, Data: two},
			{Buffer: buf("out"), Kind: ir.OutputBuf, Layout: "NC"}, {Buffer: buf("more"), Kind: ir.OutputBuf},
		},
		Stages: []ir.Stage{
			{Name: "d", Op: "scale", Func: "double", Args: []string{"in", "tmp"}, MACs: 7},
			{Name: "a1", Op: "add", Func: "add", Args: []string{"tmp", "one", "out"}},
			{Name: "a2", Op: "add", Func: "add", Args: []string{"tmp", "two", "more"}, Note: "why"},
		},
	}
}

// input is everything there is to build of small.
func input(t testing.TB, tg targets.Target) codegen.Input {
	t.Helper()
	return codegen.Input{Program: small(), Traces: map[string][]string{"add": {"parallel i"}}, Target: tg, Version: "1.2.3",
		Emit: append(slices.DeleteFunc(llvm.Backend{}.Kinds(), func(k codegen.Kind) bool {
			return llvm.Backend{}.Accepts(tg, k) != nil
		}), codegen.Header, codegen.Ripir)}
}

// runName is the name that the header has for small_net_run.
func runName(t testing.TB, files map[codegen.Kind][]byte) string {
	t.Helper()
	found := regexp.MustCompile(`\n#define small_net_run (small_net_run_[0-9a-f]{16})\n`).FindSubmatch(files[codegen.Header])
	if found == nil {
		t.Fatalf("the header has no hash:\n%s", files[codegen.Header])
	}
	return string(found[1])
}

func build(t testing.TB, in codegen.Input) map[codegen.Kind][]byte {
	t.Helper()
	tools, err := toolchain.Find()
	need.OK(t, err)
	files, err := codegen.Build(context.Background(), in, llvm.Backend{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestBuild builds every kind of file for several targets, twice: without a cache in between, the bytes are the same.
func TestBuild(t *testing.T) {
	for _, name := range []string{"x86-64-v3", "rpi3", "rpi2"} {
		tg, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		in := input(t, tg)
		in.Progress = func(done, total int) {
			if calls++; done > total || total != 4 {
				t.Errorf("progress %d of %d", done, total)
			}
		}
		files := build(t, in)
		if calls == 0 {
			t.Error("no progress")
		}
		again := build(t, input(t, tg))
		for _, k := range in.Emit {
			if len(files[k]) == 0 || !bytes.Equal(files[k], again[k]) {
				t.Errorf("%s: .%s: %d bytes, then %d others", name, k, len(files[k]), len(again[k]))
			}
		}
		exports := []string{"small_net_run", "small_net_run_stages", "small_net_workspace_size", "small_net_describe", "small_net_cpu_ok", runName(t, files)}
		if err := toolchain.CheckShared(bytes.NewReader(files[codegen.SO]), exports); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// What only ripc loads is linked without a tool, and ld.lld would leave its name.
		if e, err := elf.NewFile(bytes.NewReader(files[codegen.Runnable])); err != nil || e.Section(".text") == nil || e.Section(".comment") != nil {
			t.Errorf("%s: what runs was linked by a tool, or is no library: %v", name, err)
		}
		if err := toolchain.CheckObject(bytes.NewReader(files[codegen.Object]), exports); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for k, want := range map[codegen.Kind]string{codegen.LL: "; module ripc_double\n", codegen.Asm: " module small_net_driver\n",
			codegen.Ripir: "program @small.net {"} {
			if !strings.Contains(string(files[k]), want) {
				t.Errorf("%s: .%s does not contain %q", name, k, want)
			}
		}
	}
}

func TestDescription(t *testing.T) {
	tg, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, tg)
	in.Emit = []codegen.Kind{codegen.SO}
	file := filepath.Join(t.TempDir(), "x.so")
	if err := os.WriteFile(file, build(t, in)[codegen.SO], 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := runtime.ReadDescription(file)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "small_net" || d.Target != "rpi3" || d.Compiler != "1.2.3" || d.ArenaBytes != 320 || d.WeightBytes != 320+280 ||
		!slices.Equal(d.Features, tg.Features) || d.QemuCPU != tg.QemuCPU {
		t.Errorf("%+v", d)
	}
	if len(d.Inputs) != 1 || len(d.Outputs) != 2 || d.Outputs[1].Offset != 1 || d.Outputs[0].Layout != "NC" {
		t.Errorf("inputs %+v, outputs %+v", d.Inputs, d.Outputs)
	}
	got, err := json.Marshal(d.Stages[2])
	want := `{"name":"a2","op":"add","kernel":"ripc_add","trace":["parallel i"],"macs":0,"reads":[` +
		`{"name":"tmp","dtype":"i32","shape":[1,70],"where":"arena","offset":0},` +
		`{"name":"two","dtype":"i32","shape":[70],"where":"const","offset":320}],"writes":[` +
		`{"name":"more","dtype":"i32","shape":[1,70],"where":"output","offset":1}],"note":"why"}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if len(d.Stages) != 3 || d.Stages[1].Kernel != d.Stages[2].Kernel || d.Stages[0].MACs != 7 {
		t.Errorf("%+v", d.Stages)
	}
	e, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Section(describe.Section) == nil {
		t.Error("no section ", describe.Section)
	}
}

func TestParseKinds(t *testing.T) {
	got, err := codegen.ParseKinds("so, a,so,h")
	if err != nil || !slices.Equal(got, []codegen.Kind{codegen.SO, codegen.Archive, codegen.Header}) {
		t.Errorf("%v, %v", got, err)
	}
	var ke *codegen.KindError
	for _, s := range []string{"", "so,,a", "exe", "SO"} {
		if _, err := codegen.ParseKinds(s); !errors.As(err, &ke) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if want := `cannot emit "SO"; there are so, wasm, npm, html, a, h, hpp, rs, zip, o, ll, s, c, cl, ptx, wgsl, ripc, ripir`; ke.Error() != want {
		t.Errorf("%q", ke.Error())
	}
}

func TestIdentifier(t *testing.T) {
	for in, want := range map[string]string{
		"net": "net", "my-net.v2": "my_net_v2", "2nd": "_2nd", "int": "_int", "class": "_class", "": "_", "größe": "gr__e",
	} {
		if got := codegen.Identifier(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	tg := host(t)
	for what, change := range map[string]func(p *ir.Program){
		"type of input":  func(p *ir.Program) { p.Buffers[0].Type = ir.I64; p.Buffers[0].Data = nil },
		"no outputs":     func(p *ir.Program) { p.Buffers, p.Stages = p.Buffers[:4], p.Stages[:1] },
		"short constant": func(p *ir.Program) { p.Buffers[2].Data = p.Buffers[2].Data[1:] },
		"no func":        func(p *ir.Program) { p.Funcs = p.Funcs[:1] },
	} {
		in := codegen.Input{Program: small(), Target: tg, Emit: []codegen.Kind{codegen.Header}}
		change(in.Program)
		var e *ir.Error
		if _, err := codegen.Build(context.Background(), in, llvm.Backend{}); !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
	in := codegen.Input{Program: small(), Target: tg, Emit: []codegen.Kind{"exe"}}
	var ke *codegen.KindError
	if _, err := codegen.Build(context.Background(), in, llvm.Backend{}); !errors.As(err, &ke) {
		t.Errorf("an unknown kind: %v", err)
	}
	var te *codegen.TargetError
	in.Emit = []codegen.Kind{codegen.SO}
	in.Target.Arch = "vax"
	if _, err := codegen.Build(context.Background(), in, llvm.Backend{}); !errors.As(err, &te) {
		t.Errorf("a target that no back end knows: %v", err)
	}
}
