package emit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/targets"
)

// tools finds LLVM.
func tools(t testing.TB) (*toolchain.Tools, *toolchain.Cache) {
	t.Helper()
	ts, err := toolchain.Find()
	need.OK(t, err)
	cache, err := toolchain.DefaultCache()
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
	m, err := emit.Kernel(f, f.Name, tg)
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

// library holds Funcs built for this machine, each as a one-stage Program of its own.
type library struct {
	handle uintptr
	funcs  map[string]*ir.Func
	size   map[string]int64
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

// build compiles funcs, with distinct names, into one library for this machine.
func build(t testing.TB, funcs ...*ir.Func) *library {
	t.Helper()
	return buildFor(t, host(t), funcs...)
}

// buildFor does so for a target that runs here.
func buildFor(t testing.TB, tg targets.Target, funcs ...*ir.Func) *library {
	t.Helper()
	ts, _ := tools(t)
	lib := &library{funcs: map[string]*ir.Func{}, size: map[string]int64{}}
	var exports []string
	objs, mods := objects(t, tg, funcs)
	for i, f := range funcs {
		exports = append(exports, f.Name+"_run")
		lib.funcs[f.Name], lib.size[f.Name] = f, mods[i].Scratch
	}
	out := filepath.Join(t.TempDir(), "test.so")
	if err := ts.LinkShared(context.Background(), tg, objs, exports, "test.so", out); err != nil {
		t.Fatal(err)
	}
	var err error
	if lib.handle, err = purego.Dlopen(out, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		t.Fatal(err)
	}
	return lib
}

// objects compiles each Func and the driver of the one-stage Program that it makes.
func objects(t testing.TB, tg targets.Target, funcs []*ir.Func) (objs []toolchain.Object, mods []emit.Module) {
	t.Helper()
	ts, cache := tools(t)
	var jobs []toolchain.Job
	for i, f := range funcs {
		name := fmt.Sprintf("k%d_%s", i, f.Name)
		m, err := emit.Kernel(f, name, tg)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		p := &ir.Program{Name: f.Name, Funcs: []*ir.Func{f}}
		st := ir.Stage{Name: "only", Func: f.Name}
		for _, q := range f.Params {
			kind := ir.InputBuf
			if q.Out {
				kind = ir.OutputBuf
			}
			p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: q.Buffer, Kind: kind})
			st.Args = append(st.Args, q.Name)
		}
		p.Stages = []ir.Stage{st}
		d, err := driver.Driver(p, driver.DriverInfo{Name: f.Name,
			Kernels: map[string]string{f.Name: name}, Scratch: m.Scratch}, tg)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, toolchain.Job{Name: name, LL: m.LL, Target: tg}, toolchain.Job{Name: f.Name, LL: d, Target: tg})
		mods = append(mods, m)
	}
	out, err := ts.CompileAll(context.Background(), cache, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out {
		objs = append(objs, toolchain.Object{Name: jobs[i].Name, Data: o})
	}
	return objs, mods
}

// fenced is size bytes, 64-byte aligned, as near before an unmapped page as that allows.
func fenced(t testing.TB, size int) []byte {
	t.Helper()
	page := os.Getpagesize()
	n := (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mprotect(m[n:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	start := n - (size+63)/64*64
	return m[start : start+size : start+size]
}

// run calls the driver of a Func with arguments in the order of its parameters, from n threads.
func (l *library) run(t testing.TB, name string, n int, args [][]byte) {
	t.Helper()
	f := l.funcs[name]
	var in, out []uintptr
	var mems [][]byte
	for i, p := range f.Params {
		m := fenced(t, len(args[i]))
		copy(m, args[i])
		mems = append(mems, m)
		at := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		if p.Out {
			out = append(out, at)
		} else {
			in = append(in, at)
		}
	}
	ws, sync0 := fenced(t, max(int(l.size[name])*n, 64)), fenced(t, 128)
	fn, err := purego.Dlsym(l.handle, name+"_run")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for tid := range n {
		wg.Go(func() {
			r, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(unsafe.SliceData(in))), uintptr(unsafe.Pointer(unsafe.SliceData(out))),
				uintptr(unsafe.Pointer(&ws[0])), uintptr(tid), uintptr(n), uintptr(unsafe.Pointer(&sync0[0])))
			if int32(r) != 0 {
				t.Errorf("%s_run returns %d", name, r)
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
