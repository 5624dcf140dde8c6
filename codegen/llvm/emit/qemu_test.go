package emit_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets"
)

// TestARM runs kernels for a Raspberry Pi, and for 64-bit RISC-V, under qemu's user mode: one program without libc, which calls each driver on
// data of its own and writes the outputs to its standard output.
func TestARM(t *testing.T) {
	takes := need.Part(t, 3)
	for i, name := range []string{"rpi3", "rpi4", "rpi5", "rpi2", "rpi3-armv7", "generic-armv7", "riscv64"} {
		if !takes(i) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tg := target(t, name)
			testARM(t, need.Tool(t, "qemu-"+tg.Arch), tg)
		})
	}
}

// TestChannelProducts: products with channels in lanes are the same on cores that take other operations for their sums.
func TestChannelProducts(t *testing.T) {
	for _, name := range []string{"rpi4", "pixel1"} {
		tg := target(t, name)
		fs := slices.DeleteFunc(instructions(tg), func(f *ir.Func) bool { return !strings.Contains(f.Name, "smull_channels") })
		if len(fs) == 0 {
			t.Fatalf("%s has none", name)
		}
		checkARM(t, need.Tool(t, "qemu-aarch64"), tg, fs)
	}
}

// TestVectorsOf256: the instructions of RISC-V with vectors of 256 bits. Older versions of qemu end at conversions of vectors.
func TestVectorsOf256(t *testing.T) {
	tg := target(t, "bpi-f3")
	fs := instructions(tg)
	if !slices.ContainsFunc(fs, func(f *ir.Func) bool { return strings.Contains(f.Name, "lookup16_row") }) {
		t.Fatalf("%s has no rows of look-ups among %d instructions", tg.Name, len(fs))
	}
	checkARM(t, need.Tool(t, "qemu-riscv64"), tg, fs)
}

func testARM(t *testing.T, qemu string, tg targets.Target) {
	fs := []*ir.Func{xorTile(4, 8, 2, 5), pack(5), padded()}
	fs = append(fs, floatFuncs(45)...)
	for _, to := range []ir.Type{ir.I8, ir.U16, ir.I64, ir.U64, ir.I32, ir.U32} {
		fs = append(fs, both("to_"+to.String(), ir.F32, to, 35, func(a, _ ir.Expr) ir.Expr { return ir.CastTo(to, a) })...)
	}
	for _, from := range []ir.Type{ir.I64, ir.U64} {
		fs = append(fs, both("from_"+from.String(), from, ir.F32, 70, func(a, _ ir.Expr) ir.Expr { return ir.CastTo(ir.F32, a) })...)
		for i, by := range []int64{3, 64, 1_000_003, 1 << 40, 1<<62 + 1} {
			by := &ir.IntImm{T: from, V: by}
			fs = append(fs, both(fmt.Sprint("div", i, "_", from), from, from, 9, func(a, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Div, A: a, B: by} },
				func(a, _ ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Mod, A: a, B: by} })...)
		}
	}
	for i := range uint64(20) {
		g := &gen{r: rand.New(rand.NewPCG(77, i)), apart: i%2 == 0}
		f := g.fn(fmt.Sprint("r", i))
		if _, err := emit.Kernel(f, "f", tg, nil); err == nil {
			fs = append(fs, f)
		}
	}
	fs = append(append(fs, reductions()...), bitsOfLanes()...)
	checkARM(t, qemu, tg, append(fs, instructions(tg)...))
}

// checkARM compares what Funcs compute under qemu with the interpreter, on awkward data.
func checkARM(t *testing.T, qemu string, tg targets.Target, fs []*ir.Func) {
	t.Helper()
	checkARMOn(t, qemu, tg, fs, func(n int) [][]byte { return special(fs[n], uint64(n)) })
}

// checkARMOn does so on the data that of gives for each Func.
func checkARMOn(t *testing.T, qemu string, tg targets.Target, fs []*ir.Func, of func(n int) [][]byte) {
	t.Helper()
	write := `call i64 asm sideeffect "svc #0", "={x0},{x8},{x0},{x1},{x2},~{memory}"(i64 64, i64 1, ptr %s, i64 %d)`
	exit := `call i64 asm sideeffect "svc #0", "={x0},{x8},{x0}"(i64 94, i64 0)`
	switch tg.Arch {
	case "riscv64":
		write = `call i64 asm sideeffect "ecall", "={x10},{x17},{x10},{x11},{x12},~{memory}"(i64 64, i64 1, ptr %s, i64 %d)`
		exit = `call i64 asm sideeffect "ecall", "={x10},{x17},{x10}"(i64 94, i64 0)`
	case "arm":
		write = `call i32 asm sideeffect "svc #0", "={r0},{r7},{r0},{r1},{r2},~{memory}"(i32 4, i32 1, ptr %s, i32 %d)`
		exit = `call i32 asm sideeffect "svc #0", "={r0},{r7},{r0}"(i32 248, i32 0)`
	}
	var want []byte
	var prog strings.Builder
	row, _ := rows.Of(tg)
	fmt.Fprintf(&prog, "target triple = %q\n@ws = internal global [65536 x i8] zeroinitializer, align 64\n", row.Triple)
	var calls strings.Builder
	for n, f := range fs {
		args := of(n)
		after := interpret(t, f, args)
		var in, out []string
		for i, p := range f.Params {
			name := fmt.Sprintf("@a%d_%d", n, i)
			fmt.Fprintf(&prog, "%s = internal global [%d x i8] c\"", name, len(args[i]))
			for _, b := range args[i] {
				fmt.Fprintf(&prog, "\\%02x", b)
			}
			prog.WriteString("\", align 64\n")
			if p.Out {
				out = append(out, "ptr "+name)
				want = append(want, after[i]...)
				fmt.Fprintf(&calls, "  "+write+"\n", name, len(args[i]))
			} else {
				in = append(in, "ptr "+name)
			}
		}
		in, out = arguments(in, "ptr @ws"), arguments(out, "ptr @ws")
		fmt.Fprintf(&prog, "@in%d = internal global [%d x ptr] [%s]\n@out%d = internal global [%d x ptr] [%s]\n", n, len(in), strings.Join(in, ", "),
			n, len(out), strings.Join(out, ", "))
		text := calls.String()
		calls.Reset()
		fmt.Fprintf(&prog, "define internal void @do%d() {\n  %%r = call i32 @test_run_stages(ptr @in%d, ptr @out%d, ptr @ws, i32 0, i32 1, ptr null, i32 %d, i32 %d)\n%s  ret void\n}\n", n, n, n, n, n+1, text)
	}
	prog.WriteString("declare i32 @test_run_stages(ptr, ptr, ptr, i32, i32, ptr, i32, i32)\ndefine void @_start() {\n")
	for n := range fs {
		fmt.Fprintf(&prog, "  call void @do%d()\n", n)
	}
	prog.WriteString("  " + exit + "\n  unreachable\n}\n")

	got := runARM(t, qemu, tg, prog.String(), fs)
	if len(got) != len(want) {
		t.Fatalf("%d bytes of output, want %d", len(got), len(want))
	}
	for n, f := range fs {
		for _, p := range f.Params {
			if !p.Out {
				continue
			}
			if d := difftest.Diff(want[:p.Bytes()], got[:p.Bytes()], p.Buffer); d != "" {
				t.Errorf("%s, case %d: interpreter and native code differ: %s\n%s", f.Name, n, d, f)
			}
			want, got = want[p.Bytes():], got[p.Bytes():]
		}
	}
}

// runARM links the program with the kernels of fs and gives what it writes.
func runARM(t *testing.T, qemu string, tg targets.Target, prog string, fs []*ir.Func) []byte {
	t.Helper()
	ts, cache := tools(t)
	objs, _ := objects(t, tg, kernel, fs)
	main, err := ts.Compile(context.Background(), cache, []byte(prog), tg, toolchain.Obj)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	row, _ := rows.Of(tg)
	args := []string{"-static", "-m", row.Emulation, "-o", "prog"}
	for i, o := range append(objs, toolchain.Object{Data: main}) {
		name := fmt.Sprint(i, ".o")
		if err := os.WriteFile(filepath.Join(dir, name), o.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	lld, err := ts.Path("ld.lld")
	if err != nil {
		t.Fatal(err)
	}
	link := exec.Command(lld, args...)
	link.Dir = dir
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(qemu, "-cpu", tg.QemuCPU, filepath.Join(dir, "prog"))
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return out
}
