package c99_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/targets"
)

// zeroFunc has results that are 0. Clang's patterns change the sign of some, more of them for Arm than for x86, and Mesa's of others.
const zeroFunc = `func @zeros(%x: f32[8], out %y: f32[ROWS, 8]) {
  alloc %kept: f32[2]
  %kept[0] = 0.0
  %kept[1] = -0.0
  for %i in 0:8 {
BODY  }
}
`

func zeroRows() []string {
	sum := "fma(%x[%i], 2.0, -1.0)"
	return []string{
		"min(%x[%i], 0.0)", "max(%x[%i], -0.0)", "max(%x[%i], 0.0)", "min(%x[%i], -0.0)", "min(0.0, %x[%i])", "max(-0.0, %x[%i])",
		"min(%x[%i], %kept[0])", "max(%x[%i], %kept[1])", "max(%kept[1], %x[%i])", "max(%kept[1], %x[%i] * 2.0)",
		"select(%x[%i] < 0.0, %x[%i], 0.0)", "select(%x[%i] > -0.0, %x[%i], -0.0)", "select(0.0 > %x[%i], %x[%i], 0.0)",
		"select(%x[%i] < %kept[0], %x[%i], %kept[0])",
		"max(-0.0, %x[%i] * 4.0)", "min(0.0, %x[%i] * 4.0)", "min(%x[%i] * 4.0, 0.0)", "select(%x[%i] * 4.0 > -0.0, %x[%i] * 4.0, -0.0)",
		"neg(" + sum + ")", sum + " * -1.0", sum + " / -1.0", "-0.0 - " + sum, "%x[%i] + 0.0", "%x[%i] + cast<f32>(0)", "%x[%i] + bitcast<f32>(0u32)", "0.0 - %x[%i]",
		"fma(%x[%i], 2.0, 0.0)", "select(%x[%i] < 0.0, -1.0, 0.0)", "neg(floor(neg(" + sum + ")))",
		"bitcast<f32>(bitcast<u32>(" + sum + ") ^ 2147483648u32)",
	}
}

// onLinux gives C on Arm what a program without a library needs.
var onLinux = map[string]string{
	"aarch64": `static void put(const void *p, unsigned long n) { register long x8 __asm__("x8") = 64; register long x0 __asm__("x0") = 1;
register const void *x1 __asm__("x1") = p; register unsigned long x2 __asm__("x2") = n; __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory"); }
static void end(void) { register long x8 __asm__("x8") = 94; register long x0 __asm__("x0") = 0; __asm__ volatile("svc #0" :: "r"(x8), "r"(x0)); }
`,
	"arm": `static void put(const void *p, unsigned long n) { register long r7 __asm__("r7") = 4; register long r0 __asm__("r0") = 1;
register const void *r1 __asm__("r1") = p; register unsigned long r2 __asm__("r2") = n; __asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory"); }
static void end(void) { register long r7 __asm__("r7") = 248; register long r0 __asm__("r0") = 0; __asm__ volatile("svc #0" :: "r"(r7), "r"(r0)); }
`}

// zeroCase is zeroFunc and its arguments.
func zeroCase(t *testing.T) (f *ir.Func, args [][]byte) {
	t.Helper()
	rows := zeroRows()
	var body strings.Builder
	for k, row := range rows {
		fmt.Fprintf(&body, "    %%y[%d, %%i] = %s\n", k, row)
	}
	f = parsed(t, strings.NewReplacer("ROWS", fmt.Sprint(len(rows)), "BODY", body.String()).Replace(zeroFunc))
	var x []byte
	for _, v := range []float32{0, float32(math.Copysign(0, -1)), 0.5, -0.5, 1, -1, 0.5, 0} {
		x = binary.LittleEndian.AppendUint32(x, math.Float32bits(v))
	}
	return f, [][]byte{x, make([]byte, f.Params[1].Bytes())}
}

// TestZeros compares what compilers make of C for this machine with the interpreter.
func TestZeros(t *testing.T) {
	f, args := zeroCase(t)
	for _, cc := range need.CCompilers() {
		t.Run(cc, func(t *testing.T) {
			for _, options := range []string{"-O2", "-O3 -march=native"} {
				build(t, need.CCompiler(t, cc)+" "+options, []*ir.Func{f}).same(t, 0, args)
			}
		})
	}
}

// TestZerosByClangOnArm compares what Clang makes of C for Arm, under qemu, with the interpreter.
func TestZerosByClangOnArm(t *testing.T) {
	clang, rows := need.CCompiler(t, "clang"), zeroRows()
	f, want := zeroCase(t)
	x := want[0]
	c, err := interp.CompileChecked(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	p := &ir.Program{Name: "zeros", Funcs: []*ir.Func{f}, Stages: []ir.Stage{{Name: "s", Op: "test", Func: "zeros", Args: []string{"x", "y"}}},
		Buffers: []ir.ProgBuf{{Buffer: f.Params[0].Buffer, Kind: ir.InputBuf}, {Buffer: f.Params[1].Buffer, Kind: ir.OutputBuf}}}
	for _, board := range []struct {
		target, options, cpu string
	}{
		{"rpi3", "--target=aarch64-linux-gnu", "cortex-a53"}, {"rpi2", "--target=armv7a-linux-gnueabihf -mfpu=neon-vfpv4", "cortex-a7"},
		{"rpi3-armv7", "--target=armv8a-linux-gnueabihf", "max"}, // with the instructions of 64-bit systems
	} {
		for _, level := range []string{"-O0", "-O2", "-O3"} {
			t.Run(board.target+level, func(t *testing.T) {
				tg, err := targets.Lookup(board.target)
				if err != nil {
					t.Fatal(err)
				}
				files, err := codegen.Build(t.Context(), codegen.Input{Program: p, Target: tg, Version: "1", Emit: []codegen.Kind{codegen.Source}}, c99.Backend{})
				if err != nil {
					t.Fatal(err)
				}
				var main strings.Builder
				main.WriteString("#define RIPC_NO_THREADS\n#define RIPC_NO_DESCRIBE\n#include \"zeros.c\"\n" + onLinux[tg.Arch])
				fmt.Fprintf(&main, "static const RIPC_ALIGNED uint32_t from[8] = {")
				for word := range slices.Chunk(x, 4) {
					fmt.Fprintf(&main, "%du, ", binary.LittleEndian.Uint32(word))
				}
				fmt.Fprintf(&main, `};
static RIPC_ALIGNED unsigned char to[%d], ws[65536];
void _start(void) { const void *in[] = {from}; void *out[] = {to}; zeros_run(in, out, ws, 0, 1, 0); put(to, sizeof to); end(); }
`, len(want[1]))
				got := runByClang(t, clang, board.options+" "+level, board.cpu, tg, files[codegen.Source], main.String())
				if len(got) != len(want[1]) {
					t.Fatalf("%d bytes of output, want %d", len(got), len(want[1]))
				}
				row := ir.Buffer{Name: "y", Type: ir.F32, Shape: []int{8}}
				for k, text := range rows {
					if d := difftest.Diff(want[1][32*k:32*k+32], got[32*k:32*k+32], row); d != "" {
						t.Errorf("%s: %s", text, d)
					}
				}
			})
		}
	}
}

// runByClang builds a program of main, which includes zeros.c, and gives what it writes.
func runByClang(t *testing.T, clang, options, cpu string, tg targets.Target, source []byte, main string) []byte {
	t.Helper()
	tools, err := toolchain.Find()
	need.OK(t, err)
	lld, err := tools.Path("ld.lld")
	need.OK(t, err)
	qemu := need.Tool(t, "qemu-"+tg.Arch)
	dir := t.TempDir()
	for name, text := range map[string][]byte{"zeros.c": source, "main.c": []byte(main)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	emulation := map[string]string{"aarch64": "aarch64linux", "arm": "armelf_linux_eabi"}[tg.Arch]
	compile := append(strings.Fields(options), "-std=c99", "-ffreestanding", "-fno-stack-protector", "-c", "main.c", "-o", "main.o")
	for _, args := range [][]string{append([]string{clang}, compile...), {lld, "-static", "-m", emulation, "-o", "prog", "main.o"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command(qemu, "-cpu", cpu, filepath.Join(dir, "prog")).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
