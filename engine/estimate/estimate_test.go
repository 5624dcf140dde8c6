package estimate

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/engine/simulate"
	"ripc/internal/golden"
	"ripc/internal/need"
)

// assembled is the code that llvm-mc makes of text.
func assembled(t *testing.T, triple, text string) []byte {
	t.Helper()
	mc, err := toolchain.Lookup("llvm-mc")
	need.OK(t, err)
	obj := filepath.Join(t.TempDir(), "code.o")
	cmd := exec.Command(mc, "-triple="+triple, "-mattr="+map[bool]string{true: "+v,+d", false: "+neon"}[strings.HasPrefix(triple, "riscv")], "-filetype=obj", "-o", obj)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// base is where the code of tests lies.
const base = 0x4000

// at returns bytes of code that lies at base.
func at(code []byte) func(a, n uint64) []byte {
	return func(a, n uint64) []byte {
		if a < base || a-base+n > uint64(len(code)) {
			return nil
		}
		return code[a-base : a-base+n]
	}
}

// steps are the sizes of instructions that are all equal.
func steps(uint64) uint64 { return step }

// walk is code that runs: pieces of it, each a number of instructions from an index on, in the order in which they run.
type walk struct{ pieces [][2]int }

func (w *walk) run(first, n int) { w.pieces = append(w.pieces, [2]int{first, n}) }

// profile is what the counter makes of it.
func (w *walk) profile() *simulate.Profile {
	address := func(i int) uint64 { return base + uint64(i)*step }
	pieces, jumps := map[[2]int]uint64{}, map[[2]uint64]uint64{}
	for k, q := range w.pieces {
		pieces[q]++
		if k > 0 {
			before := w.pieces[k-1]
			jumps[[2]uint64{address(before[0] + before[1] - 1), address(q[0])}]++
		}
	}
	p := &simulate.Profile{}
	for q, times := range pieces {
		p.Pieces = append(p.Pieces, simulate.Piece{First: address(q[0]), Last: address(q[0] + q[1] - 1), Instructions: uint64(q[1]), Times: times})
	}
	for j, times := range jumps {
		p.Jumps = append(p.Jumps, simulate.Jump{From: j[0], To: j[1], Times: times})
	}
	return p
}

// trace is all that ran, as one line.
func (w *walk) trace(code []byte) line {
	var l line
	for _, q := range w.pieces {
		l = append(l, code[q[0]*step:(q[0]+q[1])*step]...)
	}
	return l
}

// Two nested loops as kernels have them: 12 rounds of 9 rounds of a sum over popcounts.
const (
	arm64Loops = `
	mov x9, #12
1:	movi v2.2d, #0
	movi v3.2d, #0
	mov x10, #9
2:	ldp q0, q1, [x0], #32
	ldr q4, [x1], #16
	eor v0.16b, v0.16b, v4.16b
	eor v1.16b, v1.16b, v4.16b
	cnt v0.16b, v0.16b
	cnt v1.16b, v1.16b
	uadalp v2.8h, v0.16b
	uadalp v3.8h, v1.16b
	subs x10, x10, #1
	b.ne 2b
	add v2.8h, v2.8h, v3.8h
	str q2, [x2], #16
	subs x9, x9, #1
	b.ne 1b
	ret
`
	armLoops = `
	mov r9, #12
1:	veor q2, q2, q2
	veor q3, q3, q3
	mov r10, #9
2:	vldr d0, [r0]
	vldr d1, [r0, #8]
	vldr d8, [r1]
	veor d0, d0, d8
	veor d1, d1, d8
	vcnt.8 d0, d0
	vcnt.8 d1, d1
	vpadal.u8 d4, d0
	vpadal.u8 d5, d1
	subs r10, r10, #1
	bne 2b
	vadd.i16 q2, q2, q3
	vstr d4, [r2]
	subs r9, r9, #1
	bne 1b
	bx lr
`
	// The vectors of the inner loop are set before the outer one.
	riscvLoops = `
	vsetvli x0, x0, e8, m4, ta, ma
1:	vxor.vv v8, v8, v8
	vxor.vv v12, v12, v12
	li a5, 9
2:	vle8.v v16, (a0)
	vle8.v v20, (a1)
	addi a0, a0, 32
	addi a1, a1, 32
	vxor.vv v16, v16, v20
	vand.vi v20, v16, 15
	vsrl.vi v16, v16, 4
	vadd.vv v8, v8, v20
	vadd.vv v12, v12, v16
	addi a5, a5, -1
	bnez a5, 2b
	vadd.vv v8, v8, v12
	vse8.v v8, (a2)
	addi a4, a4, -1
	bnez a4, 1b
	ret
`
)

// nested is the way through these loops, as qemu translates them: the first round of a loop runs in one piece with what lies before
// it. outer and inner are the sizes of what lies before, in and behind the inner loop.
func nested(before, inner, behind int) *walk {
	w := &walk{}
	start := 1 + before
	for i := range 12 {
		switch i {
		case 0:
			w.run(0, start+inner)
		default:
			w.run(1, before+inner)
		}
		for range 8 {
			w.run(start, inner)
		}
		w.run(start+inner, behind)
	}
	w.run(start+inner+behind, 1)
	return w
}

// TestWholeTrace: what is added up from blocks is what llvm-mca says of all that ran as one straight line.
func TestWholeTrace(t *testing.T) {
	for _, c := range []struct {
		target, triple, text string
		w                    *walk
	}{
		{"rpi3", "aarch64-linux-gnu", arm64Loops, nested(3, 10, 4)},
		{"rpi4", "aarch64-linux-gnu", arm64Loops, nested(3, 10, 4)},
		{"rpi5", "aarch64-linux-gnu", arm64Loops, nested(3, 10, 4)},
		{"jetson-tx2", "aarch64-linux-gnu", arm64Loops, nested(3, 10, 4)},
		{"pixel1", "aarch64-linux-gnu", arm64Loops, nested(3, 10, 4)},
		{"rpi3-armv7", "armv7-linux-gnueabihf", armLoops, nested(3, 11, 4)},
		{"bpi-f3", "riscv64-linux-gnu", riscvLoops, nested(3, 11, 4)},
	} {
		t.Run(c.target, func(t *testing.T) {
			e, err := For(c.target)
			need.OK(t, err)
			e.cache = nil
			code := assembled(t, c.triple, c.text)
			p := c.w.profile()
			got, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{p, p})
			if err != nil {
				t.Fatal(err)
			}
			whole, err := e.cost(context.Background(), []line{c.w.trace(code)})
			if err != nil {
				t.Fatal(err)
			}
			if q := got[0].Cycles / float64(whole[0].cycles); math.Abs(q-1) > 0.05 {
				t.Errorf("%.0f cycles are estimated, the whole is %d", got[0].Cycles, whole[0].cycles)
			}
			if got[0] != got[1] || got[0].Unknown != 0 {
				t.Errorf("twice the same: %+v", got)
			}
			t.Logf("%.1f for %d", got[0].Cycles, whole[0].cycles)
		})
	}
}

// TestLoopIsSteady: many rounds of a loop cost what a round costs once it runs, not its latency from start to end.
func TestLoopIsSteady(t *testing.T) {
	e, err := For("rpi3")
	need.OK(t, err)
	e.cache = nil
	code := assembled(t, "aarch64-linux-gnu", "\tmov x9, #1000\n1:\tldr x1, [x0], #8\n\tsubs x9, x9, #1\n\tb.ne 1b\n\tret\n")
	w := &walk{}
	w.run(0, 4)
	for range 999 {
		w.run(1, 3)
	}
	w.run(4, 1)
	got, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{w.profile()})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := e.cost(context.Background(), []line{w.trace(code), code[step : 4*step]})
	if err != nil {
		t.Fatal(err)
	}
	if c, whole := got[0].Cycles, float64(costs[0].cycles); math.Abs(c/whole-1) > 0.01 || c > 900*float64(costs[1].cycles) {
		t.Errorf("%.0f cycles for 1000 rounds; the whole is %.0f, a round by itself %d", c, whole, costs[1].cycles)
	}
}

// TestCachedEstimates: the same code and counts are costed once; other counts of the same code that lead to other lines are not mixed up.
func TestCachedEstimates(t *testing.T) {
	e, err := For("rpi3")
	need.OK(t, err)
	if e.cache, err = caches.Open(t.TempDir(), 1<<20); err != nil {
		t.Fatal(err)
	}
	code := assembled(t, "aarch64-linux-gnu", arm64Loops)
	var got [2]Cycles
	for k := range got {
		all, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{nested(3, 10, 4).profile()})
		if err != nil {
			t.Fatal(err)
		}
		got[k] = all[0]
	}
	if s := e.cache.Stats(); s.Hits != 1 || s.Misses != 1 || got[0] != got[1] {
		t.Errorf("%+v, %+v", s, got)
	}
	w := &walk{}
	w.run(0, 5)
	if _, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{w.profile()}); err != nil || e.cache.Stats().Misses != 2 {
		t.Errorf("%v, %+v", err, e.cache.Stats())
	}
}

// TestUnknownInstructions: what the model lacks counts a cycle, and is counted.
func TestUnknownInstructions(t *testing.T) {
	e, err := For("rpi3-armv7")
	need.OK(t, err)
	e.cache = nil
	code := assembled(t, "armv7-linux-gnueabihf", "\tvpush {d8}\n\tvpush {d9}\n")
	w := &walk{}
	w.run(0, 2)
	got, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{w.profile()})
	if err != nil || got[0] != (Cycles{2, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestShortInstructions: blocks and lines are right where some instructions have 2 bytes.
func TestShortInstructions(t *testing.T) {
	e, err := For("bpi-f3")
	need.OK(t, err)
	e.cache = nil
	code := []byte{0x7d, 0x15, 0x13, 0x05, 0xf5, 0xff, 0x75, 0xfd, 0x82, 0x80} // addi of 2 and of 4 bytes, bnez to the first, ret
	p := &simulate.Profile{
		Pieces: []simulate.Piece{{First: base, Last: base + 6, Instructions: 3, Times: 100}, {First: base + 8, Last: base + 8, Instructions: 1, Times: 1}},
		Jumps:  []simulate.Jump{{From: base + 6, To: base, Times: 99}, {From: base + 6, To: base + 8, Times: 1}},
	}
	got, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{p})
	if err != nil || got[0].Unknown != 0 || got[0].Cycles < 150 || got[0].Cycles > 450 {
		t.Errorf("%+v, %v", got, err)
	}
	p.Pieces[0].Instructions = 2
	if _, err := e.Jobs(context.Background(), at(code), []*simulate.Profile{p}); err == nil || !strings.Contains(err.Error(), "do not have their sizes") {
		t.Errorf("odd sizes: %v", err)
	}
}

// TestRefusals: there is no estimate without a model, for what is no target, and for code that is not there.
func TestRefusals(t *testing.T) {
	for _, name := range []string{"rpi2", "generic-arm64", "x86-64-v3", "cortex-m4"} {
		if _, err := For(name); !errors.Is(err, ErrNoModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := For("riscv64-v128"); err == nil || err.Error() != "riscv64-v128: LLVM has no model of its pipeline; it has one of bpi-f3" {
		t.Errorf("%v", err)
	}
	if _, err := For("rpi99"); err == nil || !strings.Contains(err.Error(), "rpi99") {
		t.Errorf("rpi99: %v", err)
	}
	e, err := For("rpi3")
	need.OK(t, err)
	p := &simulate.Profile{Pieces: []simulate.Piece{{First: 0, Last: 4, Instructions: 2, Times: 1}}}
	if _, err := e.Jobs(context.Background(), at(nil), []*simulate.Profile{p}); err == nil || !strings.Contains(err.Error(), "no code at 0x0") {
		t.Errorf("no code: %v", err)
	}
	p.Pieces[0].Instructions = 3
	if _, err := e.Jobs(context.Background(), at(nil), []*simulate.Profile{p}); err == nil || !strings.Contains(err.Error(), "do not have their sizes") {
		t.Errorf("odd sizes: %v", err)
	}
	t.Setenv(toolchain.EnvBin, t.TempDir())
	if _, err := For("rpi3"); !errors.As(err, new(*toolchain.MissingToolError)) {
		t.Errorf("no tools: %v", err)
	}
}

// TestBlocks shows the blocks of the nested loops.
func TestBlocks(t *testing.T) {
	all, err := blocks(nested(3, 10, 4).profile(), steps)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, b := range all {
		fmt.Fprintf(&out, "block %d at %#x: %d instructions, %d times", i, b.first, b.n, b.times)
		for _, e := range b.ways {
			fmt.Fprintf(&out, ", %d behind block %d", e.times, e.block)
		}
		fmt.Fprintln(&out)
	}
	golden.Check(t, "testdata/blocks.txt", out.Bytes())
}
