package emit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/caches"
	"ripc/codegen"
	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/abi"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/targets"
)

// found is LLVM, found once: each finding has processes of its own.
var found = sync.OnceValues(toolchain.Find)

// tools finds LLVM.
func tools(t testing.TB) (*toolchain.Tools, *caches.Cache) {
	t.Helper()
	ts, err := found()
	need.OK(t, err)
	cache, err := caches.Objects()
	if err != nil {
		cache = nil
	}
	return ts, cache
}

func host(t testing.TB) targets.Target {
	t.Helper()
	tg, err := targets.Host()
	need.OK(t, err)
	return tg
}

func target(t testing.TB, name string) targets.Target {
	t.Helper()
	tg, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// generate makes code and shows the Func if that fails.
func generate(t testing.TB, f *ir.Func, tg targets.Target) emit.Module {
	t.Helper()
	m, err := emit.Kernel(f, f.Name, tg, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return m
}

// assembly is what LLVM makes of f.
func assembly(t testing.TB, f *ir.Func, tg targets.Target) string {
	t.Helper()
	ts, cache := tools(t)
	asm, err := ts.Compile(context.Background(), cache, generate(t, f, tg).LL, tg, toolchain.Asm)
	if err != nil {
		t.Fatal(err)
	}
	return string(asm)
}

// library holds Funcs built for this machine, as the stages of one Program.
type library struct {
	handle  uintptr
	funcs   map[string]*ir.Func
	stage   map[string]int
	scratch int64
}

// natives are this machine as it is, and the baseline that ripc makes code for on its architecture.
func natives(t testing.TB) []targets.Target {
	t.Helper()
	out := []targets.Target{host(t)}
	if base := target(t, "x86-64"); base.Native() {
		out = append(out, base)
	}
	return out
}

// ieee is what the names of natives end in whose processor is taken for one that flushes no subnormals.
const ieee = "-ieee"

// floatNatives are natives, and the same without a mode that flushes.
func floatNatives(t testing.TB) []targets.Target {
	t.Helper()
	out := natives(t)
	if len(out) > 1 {
		for _, tg := range out {
			tg.Name += ieee
			out = append(out, tg)
		}
	}
	return out
}

// kernel is f's code for tg.
func kernel(f *ir.Func, symbol string, tg targets.Target) (emit.Module, error) {
	return kernelWith(f, symbol, tg, nil)
}

// kernelWith is f's code in the Program that floats describes.
func kernelWith(f *ir.Func, symbol string, tg targets.Target, floats *codegen.Floats) (emit.Module, error) {
	row, _ := rows.Of(tg)
	row.Facts.Flushes = row.Facts.Flushes && !strings.HasSuffix(tg.Name, ieee)
	return emit.KernelFor(f, symbol, tg, row, floats)
}

// build compiles funcs, with distinct names, into one library for this machine.
func build(t testing.TB, funcs ...*ir.Func) *library {
	t.Helper()
	return buildFor(t, host(t), funcs...)
}

// buildFor does so for a target that runs here.
func buildFor(t testing.TB, tg targets.Target, funcs ...*ir.Func) *library {
	t.Helper()
	return buildWith(t, tg, kernel, funcs...)
}

// emitter makes the code of a Func, such as kernel.
type emitter func(f *ir.Func, symbol string, tg targets.Target) (emit.Module, error)

// buildWith does so with code that e makes.
func buildWith(t testing.TB, tg targets.Target, e emitter, funcs ...*ir.Func) *library {
	t.Helper()
	ts, _ := tools(t)
	objs, scratch := objects(t, tg, e, funcs)
	lib := &library{funcs: map[string]*ir.Func{}, stage: map[string]int{}, scratch: scratch}
	for i, f := range funcs {
		lib.funcs[f.Name], lib.stage[f.Name] = f, i
	}
	out := filepath.Join(t.TempDir(), "test.so")
	if err := ts.LinkShared(context.Background(), tg, objs, []string{"test_run", "test_run_stages"}, "test.so", out); err != nil {
		t.Fatal(err)
	}
	var err error
	if lib.handle, err = purego.Dlopen(out, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		t.Fatal(err)
	}
	return lib
}

// objects compiles each Func, and one driver, called test, whose stages they are: a driver of its own would take as long to compile
// as a small Func. The k-th input of a Func is the k-th of the Program, and so are outputs. scratch is what the largest needs.
func objects(t testing.TB, tg targets.Target, e emitter, funcs []*ir.Func) (objs []toolchain.Object, scratch int64) {
	t.Helper()
	ts, cache := tools(t)
	var jobs []toolchain.Job
	p := &ir.Program{Name: "test"}
	buffers := func(kind ir.BufKind, format string, n int) {
		for i := range n {
			p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: buf(fmt.Sprintf(format, i), ir.U8, 1), Kind: kind})
		}
	}
	symbols, units := map[string]string{}, map[string]int{}
	mostIn, mostOut := 0, 0
	for i, f := range funcs {
		name := fmt.Sprintf("k%d_%s", i, f.Name)
		m, err := e(f, name, tg)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		jobs = append(jobs, toolchain.Job{Name: name, LL: m.LL, Target: tg})
		scratch = max(scratch, m.Scratch)
		symbols[name], units[name] = name, codegen.Units(f)
		st := ir.Stage{Name: name, Func: name}
		ins, outs := 0, 0
		for _, q := range f.Params {
			if q.Out {
				st.Args = append(st.Args, fmt.Sprintf("out%d", outs))
				outs++
			} else {
				st.Args = append(st.Args, fmt.Sprintf("in%d", ins))
				ins++
			}
		}
		mostIn, mostOut = max(mostIn, ins), max(mostOut, outs)
		g := *f
		g.Name = name
		p.Funcs, p.Stages = append(p.Funcs, &g), append(p.Stages, st)
	}
	buffers(ir.InputBuf, "in%d", mostIn)
	buffers(ir.OutputBuf, "out%d", mostOut)
	d, err := driver.Driver(p, driver.DriverInfo{Name: p.Name, Kernels: symbols, Units: units, Scratch: scratch}, tg)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(tg.Name, ieee) { // the same mode, but for subnormals
		d = bytes.Replace(d, []byte("store i32 40896"), []byte("store i32 8064"), 1)
	}
	jobs = append(jobs, toolchain.Job{Name: "driver", LL: d, Target: tg})
	out, err := ts.CompileAll(context.Background(), cache, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out {
		objs = append(objs, toolchain.Object{Name: jobs[i].Name, Data: o})
	}
	return objs, scratch
}

// arguments is a full array of pointers for the driver of objects: those of a Func, and the first one where the Func has no more.
func arguments[P any](own []P, other P) []P {
	const most = 16 // of any Func
	for len(own) < most {
		own = append(own, other)
	}
	return own
}

// fenced is size bytes, 64-byte aligned, as near before an unmapped page as that allows, until free gives them back.
func fenced(t testing.TB, size int) (m []byte, free func()) {
	t.Helper()
	page := os.Getpagesize()
	n := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mprotect(all[n:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	start := n - (size+63)/64*64
	return all[start : start+size : start+size], func() { _ = syscall.Munmap(all) }
}

// run calls the driver of a Func with arguments in the order of its parameters, from n threads.
func (l *library) run(t testing.TB, name string, n int, args [][]byte) {
	t.Helper()
	f := l.funcs[name]
	var in, out []uintptr
	var mems [][]byte
	for i, p := range f.Params {
		m, free := fenced(t, len(args[i]))
		defer free()
		copy(m, args[i])
		mems = append(mems, m)
		at := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		if p.Out {
			out = append(out, at)
		} else {
			in = append(in, at)
		}
	}
	ws, freeWorkspace := fenced(t, max(int(l.scratch)*n, 64))
	defer freeWorkspace()
	sync0, freeSync := fenced(t, abi.SyncBytes)
	defer freeSync()
	fn, err := purego.Dlsym(l.handle, "test_run_stages")
	if err != nil {
		t.Fatal(err)
	}
	other := uintptr(unsafe.Pointer(&ws[0]))
	in, out = arguments(in, other), arguments(out, other)
	stage := uintptr(l.stage[name])
	var wg sync.WaitGroup
	for tid := range n {
		wg.Go(func() {
			r, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(unsafe.SliceData(in))), uintptr(unsafe.Pointer(unsafe.SliceData(out))),
				uintptr(unsafe.Pointer(&ws[0])), uintptr(tid), uintptr(n), uintptr(unsafe.Pointer(&sync0[0])), stage, stage+1)
			if int32(r) != 0 {
				t.Errorf("%s returns %d", name, r)
			}
		})
	}
	wg.Wait()
	for i := range mems {
		copy(args[i], mems[i])
	}
}

// same fails unless f, compiled, does what the interpreter says, on random data.
func (l *library) same(t testing.TB, name string, seeds ...uint64) {
	t.Helper()
	f := l.funcs[name]
	for _, seed := range append([]uint64{1, 2, 3}, seeds...) {
		l.sameOn(t, name, difftest.RandomArgs(f, seed))
		if t.Failed() {
			t.Logf("seed %d\n%s", seed, f)
			return
		}
	}
}

// sameOn does so on given data.
func (l *library) sameOn(t testing.TB, name string, args [][]byte) {
	t.Helper()
	f := l.funcs[name]
	want := interpret(t, f, args)
	for _, n := range []int{1, 3} {
		got := difftest.Clone(args)
		l.run(t, name, n, got)
		for i, p := range f.Params {
			if d := difftest.Diff(want[i], got[i], p.Buffer); d != "" {
				t.Errorf("%s with %d threads: interpreter and native code differ: %s", name, n, d)
			}
		}
	}
}

// interpret is what f makes of args.
func interpret(t testing.TB, f *ir.Func, args [][]byte) [][]byte {
	t.Helper()
	want := difftest.Clone(args)
	c, err := interp.CompileChecked(f)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	if err := c.Run(context.Background(), want); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return want
}
