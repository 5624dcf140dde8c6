package gpu

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ripc/internal/container"
	"ripc/internal/stop"
	"ripc/runtime/cuda"
	"ripc/runtime/describe"
	"ripc/targets"
)

// instruction is an instruction of a GPU to be timed.
type instruction struct {
	name  string
	least int    // the compute capability from which on GPUs have it
	text  string // in PTX; $0 to $3 are registers of an accumulator, r1 to r4 other ones
	// operations are those that a warp's instruction stands for: of single bits, of bytes, or of
	// floats.
	operations float64
}

const (
	warp    = 32   // threads
	threads = 1024 // of a block
	copies  = 8    // of an instruction in the loop, each with an accumulator of its own
	rounds  = 4000 // of the loop
	tries   = 10   // the fastest one counts
)

// mma returns the product of matrices of m x n x k numbers, with sums in n accumulators.
func mma(shape, types, operation string) string {
	return fmt.Sprintf("mma.sync.aligned.%s.row.col.s32.%s.s32%s {$0, $1, $2, $3}, {r1, r2, r3, r4}, {r1, r2}, "+
		"{$0, $1, $2, $3};", shape, types, operation)
}

func instructions() []instruction {
	const bits, bytes = 16 * 8 * 256, 16 * 8 * 32 // of a product of matrices
	return []instruction{
		{"popc", 50, "popc.b32 $0, $0;", warp * 32},
		{"xor, popc, add", 50, "xor.b32 $1, $0, r1; popc.b32 $1, $1; add.u32 $0, $0, $1;", warp * 32},
		{"lop3", 50, "lop3.b32 $0, $0, r1, r2, 0x96;", warp * 32},
		{"fma", 50, "fma.rn.f32 $0, $0, r1, r2;", warp},
		{"dp4a", 61, "dp4a.s32.s32 $0, r1, r2, $0;", warp * 4},
		{"mma b1 xor", 80, mma("m16n8k256", "b1.b1", ".xor.popc"), bits},
		{"mma b1 and", 80, mma("m16n8k256", "b1.b1", ".and.popc"), bits},
		{"mma s8", 80, mma("m16n8k32", "s8.s8", ""), bytes},
	}
}

// ptx is a kernel that executes the instruction rounds times copies times in each thread.
func (i instruction) ptx() string {
	var b strings.Builder
	for j := range 4 * copies {
		fmt.Fprintf(&b, "add.u32 a%d, r1, %d;\n", j, j)
	}
	fmt.Fprintf(&b, "mov.u32 r5, %d;\nL:\n", rounds)
	for j := range copies {
		one := i.text
		for k := range 4 {
			one = strings.ReplaceAll(one, fmt.Sprint("$", k), fmt.Sprint("a", 4*j+k))
		}
		b.WriteString(one + "\n")
	}
	b.WriteString("sub.u32 r5, r5, 1;\nsetp.ne.u32 p, r5, 0;\n@p bra L;\nmov.u32 r6, 0;\n")
	for j := range 4 * copies {
		fmt.Fprintf(&b, "add.u32 r6, r6, a%d;\n", j)
	}
	return kernel(i.least, b.String())
}

// kernel is a kernel with a body, which leaves its result in r6. d0 is the output, d1 the arena, r0
// the number of the thread in all blocks.
func kernel(least int, body string) string {
	return fmt.Sprintf(`.version 7.1
.target sm_%d
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 work)
.maxntid %d, 1, 1
{
.reg .b32 r<8>, a<%d>, b<4>;
.reg .b64 d<4>;
.reg .pred p;
ld.param.u64 d0, [out];
cvta.to.global.u64 d0, d0;
ld.param.u64 d1, [work];
cvta.to.global.u64 d1, d1;
mov.u32 r0, %%ctaid.x;
mov.u32 r1, %%ntid.x;
mov.u32 r2, %%tid.x;
mad.lo.u32 r0, r0, r1, r2;
xor.b32 r1, r0, 0x5bd1e995;
mul.lo.u32 r2, r1, 77;
mul.lo.u32 r3, r2, 99;
mul.lo.u32 r4, r3, 5;
%smul.wide.u32 d2, r0, 4;
add.u64 d0, d0, d2;
st.global.u32 [d0], r6;
ret;
}
`, least, threads, 4*copies, body)
}

// read is a kernel that reads all of an arena of bytes, 16 in each thread at a time.
func read(bytes, blocks int) string {
	return kernel(50, fmt.Sprintf(`mul.wide.u32 d2, r0, 16;
add.u64 d1, d1, d2;
mov.u32 r5, %d;
mov.u32 r6, 0;
L:
ld.global.v4.u32 {b0, b1, b2, b3}, [d1];
xor.b32 b0, b0, b1;
xor.b32 b2, b2, b3;
xor.b32 b0, b0, b2;
add.u32 r6, r6, b0;
add.u64 d1, d1, %d;
sub.u32 r5, r5, 1;
setp.ne.u32 p, r5, 0;
@p bra L;
`, bytes/(16*threads*blocks), 16*threads*blocks))
}

// empty is a kernel that does nothing.
func empty() string { return kernel(50, "mov.u32 r6, 0;\n") }

// fastest returns the least time of launches of a kernel, one after the other, by the GPU's clock.
func fastest(ctx context.Context, ptx string, blocks, launches, arena int) (_ time.Duration, err error) {
	defer stop.Catch(&err)
	tensor := func(name, where string) describe.Tensor {
		return describe.Tensor{Name: name, DType: "i32", Shape: []int{blocks * threads}, Where: where}
	}
	in, out := tensor("in", "input"), tensor("out", "output")
	d := describe.Artifact{Format: describe.Format, Compiler: "lab", Name: "rate", Target: "a GPU", Arch: container.PTX,
		Features: []string{}, Inputs: []describe.Tensor{in}, Outputs: []describe.Tensor{out}, ArenaBytes: int64(arena)}
	st := describe.Stage{Name: "k", Op: "rate", Kernel: "k", Reads: d.Inputs, Writes: d.Outputs}
	for range launches {
		st.Launches = append(st.Launches, describe.Launch{Kernel: "k", Blocks: blocks, Threads: threads})
	}
	d.Stages = []describe.Stage{st}
	text := stop.Must(json.Marshal(d))
	file := stop.Must(container.NewBundle(text, container.Part{Name: container.Kernels + "ptx", Data: []byte(ptx)},
		container.Part{Name: container.Constants}))
	dir := stop.Must(os.MkdirTemp("", "ripc-gpu-"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rate.ripc")
	stop.Check(os.WriteFile(path, file, 0o600))
	s := stop.Must(cuda.Open(path))
	defer s.Close()
	var least time.Duration
	for range tries {
		stop.Check(s.Run(ctx))
		if least == 0 || s.Took() < least {
			least = s.Took()
		}
	}
	return least, nil
}

// measureInstruction times an instruction in all multiprocessors.
func measureInstruction(ctx context.Context, g cuda.GPU, i instruction) (map[string]float64, error) {
	took, err := fastest(ctx, i.ptx(), g.Units, 1, 0)
	if err != nil {
		return nil, err
	}
	executed := float64(g.Units) * threads / warp * rounds * copies // by warps
	clocks := took.Seconds() * float64(g.ClockKHz) * 1e3
	return map[string]float64{"max_operations_per_s": executed * i.operations / took.Seconds(),
		"max_per_clock": executed / float64(g.Units) / clocks}, nil
}

const (
	arena    = 1 << 28 // bytes that are read: more than caches hold
	waves    = 2       // blocks of a multiprocessor
	launches = 100     // of kernels that do nothing
)

// measureMemory times reading.
func measureMemory(ctx context.Context, g cuda.GPU) (map[string]float64, error) {
	blocks := 1
	for blocks*2 <= waves*g.Units {
		blocks *= 2 // which divides arena
	}
	took, err := fastest(ctx, read(arena, blocks), blocks, 1, arena)
	return map[string]float64{"max_bytes_per_s": arena / took.Seconds()}, err
}

// measureLaunch times kernels that do nothing, as one graph.
func measureLaunch(ctx context.Context) (map[string]float64, error) {
	took, err := fastest(ctx, empty(), 1, launches, 0)
	return map[string]float64{"min_launch_us": took.Seconds() * 1e6 / launches}, err
}

// target returns the target of the highest compute capability that a GPU has.
func target(g cuda.GPU) (best targets.Target, err error) {
	highest := 0
	for _, t := range targets.All() {
		var n int
		if _, err := fmt.Sscanf(t.CPU, "sm_%d", &n); err == nil && n <= g.Capability && n > highest {
			best, highest = t, n
		}
	}
	if highest == 0 {
		return best, fmt.Errorf("no target is for %s of compute capability %d.%d", g.Name, g.Capability/10,
			g.Capability%10)
	}
	return best, nil
}
