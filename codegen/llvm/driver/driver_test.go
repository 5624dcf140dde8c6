package driver_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets"
)

func tools(t testing.TB) *toolchain.Tools {
	t.Helper()
	ts, err := toolchain.Find()
	need.OK(t, err)
	return ts
}

// step is a kernel by hand: each thread adds the sum of all threads' slots of src to its slot of dst, so that a thread
// that leaves a barrier early, or a kernel that gets a wrong pointer, shows.
const step = `
define hidden void @step(ptr %w, ptr %src, ptr %dst, ptr %scratch, i32 %tid, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %sum1, %loop ]
  %p = getelementptr i32, ptr %src, i32 %i
  %v = load i32, ptr %p
  %sum1 = add i32 %sum, %v
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %loop, label %end
end:
  %k = load i32, ptr %w
  %r = add i32 %sum1, %k
  store i32 %r, ptr %scratch
  %back = load i32, ptr %scratch
  %q = getelementptr i32, ptr %dst, i32 %tid
  store i32 %back, ptr %q
  ret void
}
; a unit adds 1 to its slot of dst if that of src is greater by 1, else a lot
define hidden void @count(ptr %src, ptr %dst, ptr %scratch, i32 %part, i32 %parts) {
  %p = getelementptr i32, ptr %src, i32 %part
  %v = load i32, ptr %p
  %q = getelementptr i32, ptr %dst, i32 %part
  %old = load i32, ptr %q
  %more = sub i32 %v, %old
  %ok = icmp eq i32 %more, 1
  %step = select i1 %ok, i32 1, i32 1000000
  %new = add i32 %old, %step
  store i32 %new, ptr %q
  ret void
}
; one unit makes 255 slots of dst greater by 1 than those of src, and adds 1 to the next
define hidden void @ahead(ptr %src, ptr %dst, ptr %scratch, i32 %part, i32 %parts) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %p = getelementptr i32, ptr %src, i32 %i
  %v = load i32, ptr %p
  %v1 = add i32 %v, 1
  %q = getelementptr i32, ptr %dst, i32 %i
  store i32 %v1, ptr %q
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, 255
  br i1 %more, label %loop, label %end
end:
  %r = getelementptr i32, ptr %dst, i32 255
  %old = load i32, ptr %r
  %new = add i32 %old, 1
  store i32 %new, ptr %r
  ret void
}
; y = x * 2^-100 * 2^50, which is zero where subnormals are
define hidden void @flush(ptr %x, ptr %y, ptr %scratch, i32 %tid, i32 %n) {
  %v = load volatile float, ptr %x
  %a = fmul float %v, %v
  %b = fdiv float %a, %v
  store float %b, ptr %y
  ret void
}
@weights = hidden constant [2 x i32] [i32 99, i32 1], align 64
@about = hidden constant [3 x i8] c"{}\00", align 64
`

const stages = 100

// chain is a Program of many steps between two arena buffers.
func chain() (*ir.Program, driver.DriverInfo) {
	b := func(name string, k ir.BufKind, off int64) ir.ProgBuf {
		return ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.I32, Shape: []int{16}}, Kind: k, Offset: off}
	}
	p := &ir.Program{Name: "m", Arena: 192, Buffers: []ir.ProgBuf{b("x", ir.InputBuf, 0), b("y", ir.OutputBuf, 0),
		b("a", ir.ArenaBuf, 64), b("b", ir.ArenaBuf, 128), b("w", ir.ConstBuf, 0)}}
	for i := range stages {
		src, dst := "a", "b"
		if i%2 == 1 {
			src, dst = dst, src
		}
		if i == 0 {
			src = "x"
		}
		if i == stages-1 {
			dst = "y"
		}
		p.Stages = append(p.Stages, ir.Stage{Name: fmt.Sprint("s", i), Func: "step", Args: []string{"w", src, dst}})
	}
	return p, driver.DriverInfo{Name: "m", Run: "m_run_1", Kernels: map[string]string{"step": "step"}, Units: map[string]int{"step": 1}, Scratch: 40,
		Weights: "weights", Offsets: map[string]int64{"w": 0}, Describe: "about", Arena: p.Arena}
}

func link(t testing.TB, p *ir.Program, d driver.DriverInfo, tg targets.Target) string {
	t.Helper()
	ts := tools(t)
	ll, err := driver.Driver(p, d, tg)
	if err != nil {
		t.Fatal(err)
	}
	var objs []toolchain.Object
	for i, text := range []string{string(ll), fmt.Sprintf("target triple = %q\n%s", triple(tg), step)} {
		o, err := ts.Compile(context.Background(), nil, []byte(text), tg, toolchain.Obj)
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, toolchain.Object{Name: fmt.Sprint("o", i), Data: o})
	}
	check, base, err := driver.CPU(d.Name, tg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ts.Compile(context.Background(), nil, check, base, toolchain.Obj)
	if err != nil {
		t.Fatal(err)
	}
	objs = append(objs, toolchain.Object{Name: "cpu", Data: o})
	out := filepath.Join(t.TempDir(), "m.so")
	if err := ts.LinkShared(context.Background(), tg, objs, append(abi.Exports(d.Name), d.Run), "m.so", out); err != nil {
		t.Fatal(err)
	}
	return out
}

func load(t testing.TB, p *ir.Program, d driver.DriverInfo) func(name string, args ...uintptr) uintptr {
	t.Helper()
	tg, err := targets.Host()
	need.OK(t, err)
	h, err := purego.Dlopen(link(t, p, d, tg), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, args ...uintptr) uintptr {
		fn, err := purego.Dlsym(h, d.Name+name)
		if err != nil {
			t.Fatal(err)
		}
		r, _, _ := purego.SyscallN(fn, args...)
		return r
	}
}

// block is n zero bytes, 64-byte aligned, and their address.
func block(n int) ([]byte, uintptr) {
	b := make([]byte, n+64)
	at := uintptr(unsafe.Pointer(&b[0]))
	skip := int(-at & 63)
	return b[skip : skip+n : skip+n], at + uintptr(skip)
}

func i32s(b []byte) []int32 { return unsafe.Slice((*int32)(unsafe.Pointer(&b[0])), len(b)/4) }

func TestThreads(t *testing.T) {
	p, d := chain()
	call := load(t, p, d)
	_, sync0 := block(abi.SyncBytes)
	for _, n := range []int{1, 2, 3, 4, 2, 7} {
		x, xAt := block(64)
		y, yAt := block(64)
		if got := call("_workspace_size", uintptr(n)); got != uintptr(192+64*n) {
			t.Errorf("workspace of %d threads: %d", n, got)
		}
		_, ws := block(192 + 64*n)
		in, out := []uintptr{xAt}, []uintptr{yAt}
		i32s(x)[0] = 1
		want := int32(1)
		for range stages {
			want = want*int32(n) + 99
		}
		// The first step sums over slots of which only the first is set.
		want = 1 + 99
		for range stages - 1 {
			want = want*int32(n) + 99
		}
		start := time.Now()
		for range 3 {
			var wg sync.WaitGroup
			for tid := range n {
				wg.Go(func() {
					goruntime.LockOSThread()
					defer goruntime.UnlockOSThread()
					if r := call("_run", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), ws, uintptr(tid), uintptr(n), sync0); r != 0 {
						t.Errorf("thread %d: %d", tid, r)
					}
				})
			}
			wg.Wait()
		}
		t.Logf("%d threads: %v for 3 runs of %d stages", n, time.Since(start), stages)
		for tid := range n {
			if got := i32s(y)[tid]; got != want {
				t.Errorf("%d threads: thread %d gives %d, want %d", n, tid, got, want)
			}
		}
		goruntime.KeepAlive(x)
	}
}

// TestUnits: each unit of each stage runs once, behind all units of the stage before it, whichever thread takes it: with threads
// that come back at once for the next run, with more threads than cores, and beside other processes that keep all cores busy.
func TestUnits(t *testing.T) {
	const slots, runs = 256, 60
	p := &ir.Program{Name: "m"}
	for name, kind := range map[string]ir.BufKind{"x": ir.InputBuf, "y": ir.OutputBuf} {
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.I32, Shape: []int{slots}}, Kind: kind})
	}
	for _, name := range []string{"ahead", "count4", "ahead", "ahead", "count1", "ahead", "count2"} {
		args := []string{"x", "y"}
		if name == "ahead" {
			args = []string{"y", "x"}
		}
		p.Stages = append(p.Stages, ir.Stage{Name: name, Func: name, Args: args})
	}
	units := map[string]int{"count4": 4, "count1": 1, "count2": 2}
	call := load(t, p, driver.DriverInfo{Name: "m", Run: "m_run_1", Units: units,
		Kernels: map[string]string{"ahead": "ahead", "count4": "count", "count1": "count", "count2": "count"}})
	for range goruntime.NumCPU() {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = busy.Process.Kill(), busy.Wait() }()
	}
	_, sync0 := block(abi.SyncBytes)
	for _, n := range []int{2, 3, 1, 5, 2, 16} {
		x, xAt := block(4 * slots)
		y, yAt := block(4 * slots)
		in, out := []uintptr{xAt}, []uintptr{yAt}
		var wg sync.WaitGroup
		for tid := range n {
			wg.Go(func() {
				goruntime.LockOSThread()
				defer goruntime.UnlockOSThread()
				for range runs {
					if r := call("_run", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), 0, uintptr(tid), uintptr(n), sync0); r != 0 {
						t.Errorf("thread %d: %d", tid, r)
					}
				}
			})
		}
		wg.Wait()
		want := make([]int32, slots)
		for _, k := range units {
			if n == 1 {
				k = 1
			}
			for i := range n * k {
				want[i] += runs
			}
		}
		if got := i32s(y); !slices.Equal(got, want) {
			t.Errorf("%d threads: units ran %v times, want %v", n, got, want)
		}
		if got := i32s(x)[slots-1]; got != 4*runs {
			t.Errorf("%d threads: one unit ran %d times, want %d", n, got, 4*runs)
		}
	}
}

// counter is a Program of one stage that makes n slots of y greater by 1 if those of x are greater by 1.
func counter(n int) (*ir.Program, driver.DriverInfo) {
	p := &ir.Program{Name: "m", Stages: []ir.Stage{{Name: "s", Func: "count", Args: []string{"x", "y"}}}}
	for name, kind := range map[string]ir.BufKind{"x": ir.InputBuf, "y": ir.OutputBuf} {
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.I32, Shape: []int{n}}, Kind: kind})
	}
	return p, driver.DriverInfo{Name: "m", Run: "m_run_1", Units: map[string]int{"count": 1},
		Kernels: map[string]string{"count": "count"}}
}

// TestSeats makes the calls of several threads one after the other: the first one runs all units, and the last one ends the run.
func TestSeats(t *testing.T) {
	const most = 256
	p, d := counter(most)
	call := load(t, p, d)
	_, sync0 := block(abi.SyncBytes)
	for _, n := range []int{17, 2, 64, 31, 256, 33, 256} {
		x, xAt := block(4 * most)
		y, yAt := block(4 * most)
		in, out := []uintptr{xAt}, []uintptr{yAt}
		want := make([]int32, most)
		for range 3 {
			for i := range n {
				want[i]++
			}
			copy(i32s(x), want)
			for k := range n {
				tid := n - 1 - k
				if r := call("_run", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), 0, uintptr(tid), uintptr(n), sync0); r != 0 {
					t.Errorf("thread %d of %d: %d", tid, n, r)
				}
				if got := i32s(y); !slices.Equal(got, want) {
					t.Fatalf("thread %d of %d returns %v, want %v", tid, n, got, want)
				}
			}
		}
	}
}

// TestBack calls as thread 0 again before thread 1 has called: the second call waits, and runs on the new input.
func TestBack(t *testing.T) {
	p, d := counter(2)
	call := load(t, p, d)
	_, sync0 := block(abi.SyncBytes)
	x, xAt := block(64)
	y, yAt := block(64)
	in, out := []uintptr{xAt}, []uintptr{yAt}
	run := func(tid uintptr) {
		if r := call("_run", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), 0, tid, 2, sync0); r != 0 {
			t.Errorf("thread %d: %d", tid, r)
		}
	}
	i32s(x)[0], i32s(x)[1] = 1, 1
	run(0)
	i32s(x)[0], i32s(x)[1] = 2, 2
	back := make(chan struct{})
	go func() {
		defer close(back)
		run(0)
	}()
	select {
	case <-back:
		t.Fatal("thread 0 returns twice in one run")
	case <-time.After(50 * time.Millisecond):
	}
	if got := i32s(y)[:2]; !slices.Equal(got, []int32{1, 1}) {
		t.Errorf("the first run gives %v", got)
	}
	run(1)
	<-back
	run(1)
	if got := i32s(y)[:2]; !slices.Equal(got, []int32{2, 2}) {
		t.Errorf("the second run gives %v", got)
	}
}

func TestRunStages(t *testing.T) {
	p, d := chain()
	call := load(t, p, d)
	x, xAt := block(64)
	y, yAt := block(64)
	_, ws := block(256)
	in, out := []uintptr{xAt}, []uintptr{yAt}
	run := func(first, last int) {
		if r := call("_run_stages", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), ws, 0, 1, 0, uintptr(first), uintptr(last)); r != 0 {
			t.Errorf("run_stages: %d", r)
		}
	}
	i32s(x)[0] = 5
	run(0, 40)
	run(40, 40)
	run(40, 99)
	if got := i32s(y)[0]; got != 0 {
		t.Errorf("the last stage ran: %d", got)
	}
	run(99, stages)
	if got := i32s(y)[0]; got != 5+99*stages {
		t.Errorf("got %d", got)
	}
}

func TestStatus(t *testing.T) {
	p, d := chain()
	call := load(t, p, d)
	_, a := block(256)
	_, s := block(abi.SyncBytes)
	in, bad, null := []uintptr{a}, []uintptr{a + 4}, []uintptr{0}
	at := func(p []uintptr) uintptr { return uintptr(unsafe.Pointer(&p[0])) }
	for i, c := range []struct {
		in, out, ws, tid, n, sync, want uintptr
	}{
		{at(in), at(in), a, 0, 1, 0, 0},
		{at(in), at(in), a, 0, 0, s, 1},
		{at(in), at(in), a, 1, 1, s, 1},
		{at(in), at(in), a, 0, 2, 0, 1},
		{at(bad), at(in), a, 0, 1, 0, 2},
		{at(in), at(bad), a, 0, 1, 0, 2},
		{at(in), at(null), a, 0, 1, 0, 2},
		{at(in), at(in), a + 32, 0, 1, 0, 2},
		{at(in), at(in), a, 0, 2, a + 32, 2},
		{at(in), at(in), 0, 0, 1, 0, 2},
		{0, at(in), a, 0, 1, 0, 2},
		{at(in), 0, a, 0, 1, 0, 2},
	} {
		if got := call("_run", c.in, c.out, c.ws, c.tid, c.n, c.sync); got != c.want {
			t.Errorf("case %d: %d, want %d", i, got, c.want)
		}
	}
	for _, c := range []struct{ first, last, want uintptr }{
		{0, stages, 0}, {stages, stages, 0}, {3, 3, 0}, {0, stages + 1, 3}, {4, 3, 3}, {stages + 1, stages + 1, 3}, {1<<32 - 1, 1<<32 - 1, 3}, {1, 1<<32 - 1, 3},
	} {
		if got := call("_run_stages", at(in), at(in), a, 0, 1, 0, c.first, c.last); got != c.want {
			t.Errorf("stages %d to %d: %d, want %d", c.first, c.last, got, c.want)
		}
	}
	for n, want := range map[uintptr]uintptr{17: 0, 64: 0, 256: 0, 257: 1} {
		for _, tid := range []uintptr{0, 16, n - 1} {
			if got := call("_run_stages", at(in), at(in), a, tid, n, s, 3, 3); got != want {
				t.Errorf("thread %d of %d: %d, want %d", tid, n, got, want)
			}
		}
		if got := call("_run_stages", at(in), at(in), a, n, n, s, 3, 3); got != 1 {
			t.Errorf("thread %d of %d: %d, want 1", n, n, got)
		}
	}
	if got := call("_run_1", at(in), at(in), a, 0, 1, 0); got != 0 {
		t.Errorf("by its other name: %d", got)
	}
	if s := *(*[2]byte)(unsafe.Add(unsafe.Pointer(nil), call("_describe"))); string(s[:]) != "{}" {
		t.Errorf("describe: %q", s)
	}
}

// TestFlush wants subnormals to be zero inside and alive again outside.
func TestFlush(t *testing.T) {
	p := &ir.Program{Name: "m", Buffers: []ir.ProgBuf{
		{Buffer: ir.Buffer{Name: "x", Type: ir.F32}, Kind: ir.InputBuf}, {Buffer: ir.Buffer{Name: "y", Type: ir.F32}, Kind: ir.OutputBuf}},
		Stages: []ir.Stage{{Name: "s", Func: "flush", Args: []string{"x", "y"}}}}
	call := load(t, p, driver.DriverInfo{Name: "m", Run: "m_run_1", Kernels: map[string]string{"flush": "flush"}})
	x, xAt := block(64)
	y, yAt := block(64)
	in, out := []uintptr{xAt}, []uintptr{yAt}
	f := func(b []byte) *float32 { return (*float32)(unsafe.Pointer(&b[0])) }
	*f(x), *f(y) = 0x1p-70, 1
	if s := *(*[3]byte)(unsafe.Add(unsafe.Pointer(nil), call("_describe"))); string(s[:]) != "{}\x00" {
		t.Errorf("without a description: %q", s)
	}
	if r := call("_run", uintptr(unsafe.Pointer(&in[0])), uintptr(unsafe.Pointer(&out[0])), 0, 0, 1, 0); r != 0 {
		t.Fatal(r) // no workspace is needed, so null is fine
	}
	if *f(y) != 0 {
		t.Errorf("2^-70 squared is %g: not flushed", *f(y))
	}
	tiny := *f(x)
	if tiny*tiny == 0 {
		t.Error("the caller's subnormals are flushed too")
	}
}

// TestArchitectures links for each target, which also checks that nothing is left undefined.
func TestArchitectures(t *testing.T) {
	p, d := chain()
	for _, name := range []string{"x86-64-v3", "rpi3", "rpi5", "rpi2", "rpi3-armv7", "generic-armv7"} {
		tg, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		link(t, p, d, tg)
	}
}

func TestErrors(t *testing.T) {
	tg, err := targets.Lookup("rpi4")
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*ir.Program, *driver.DriverInfo){
		"no kernel for @step":         func(_ *ir.Program, d *driver.DriverInfo) { d.Kernels = nil },
		"there is no buffer %q":       func(p *ir.Program, _ *driver.DriverInfo) { p.Stages[3].Args[1] = "q" },
		"has no place in the weights": func(_ *ir.Program, d *driver.DriverInfo) { d.Offsets = nil },
		"outside the arena":           func(_ *ir.Program, d *driver.DriverInfo) { d.Arena = 128 },
	} {
		p, d := chain()
		change(p, &d)
		if _, err := driver.Driver(p, d, tg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	small, err := targets.Lookup("rpi2")
	if err != nil {
		t.Fatal(err)
	}
	large, info := chain()
	large.Arena, info.Arena = 3<<30, 3<<30
	if _, err := driver.Driver(large, info, small); err == nil || !strings.Contains(err.Error(), "does not fit the address space of target rpi2") {
		t.Errorf("3 GiB for 32-bit addresses: %v", err)
	}
	tg.Arch = "vax"
	p, d := chain()
	if _, err := driver.Driver(p, d, tg); err == nil {
		t.Error("vax accepted")
	}
}

// triple is what LLVM calls a target.
func triple(tg targets.Target) string {
	r, _ := rows.Of(tg)
	return r.Triple
}
