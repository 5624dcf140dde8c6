package simulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/engine/simulate"
	"ripc/internal/need"
	"ripc/runtime/describe"
	"ripc/targets/guests"
)

// tool finds an LLVM program.
func tool(t testing.TB, name string) string {
	t.Helper()
	p, err := toolchain.Lookup(name)
	need.OK(t, err)
	return p
}

// needQemu wants the simulator itself.
func needQemu(t testing.TB) {
	t.Helper()
	need.Tool(t, "qemu-aarch64")
	need.Tool(t, "qemu-arm")
}

// both runs a test with the description of the network for each architecture.
func both(t *testing.T, test func(t *testing.T, d *describe.Artifact)) {
	arm := twoStage()
	arm.Target, arm.Arch, arm.CPU, arm.QemuCPU = "rpi2", "arm", "cortex-a7", "cortex-a7"
	for _, d := range []*describe.Artifact{twoStage(), arm} {
		t.Run(d.Arch, func(t *testing.T) { test(t, d) })
	}
}

// twoStage describes the network of runtime/testdata/twostage.ll.in for AArch64.
func twoStage() *describe.Artifact {
	return &describe.Artifact{
		Format: describe.Format, Compiler: "test", Name: "twostage", Target: "rpi3", Arch: "aarch64", CPU: "cortex-a53", QemuCPU: "cortex-a53",
		Inputs: []describe.Tensor{
			{Name: "x", DType: "i32", Shape: []int{1, 1024}, Where: "input"},
			{Name: "y", DType: "u8", Shape: []int{1, 1024}, Where: "input", Offset: 1}},
		Outputs:    []describe.Tensor{{Name: "z", DType: "i32", Shape: []int{1, 1024}, Where: "output"}},
		ArenaBytes: 4096, ScratchBytes: 64,
		Stages: []describe.Stage{{Name: "scale", Op: "add", Kernel: "stage0"}, {Name: "mirror", Op: "xor", Kernel: "stage1"}},
	}
}

// text returns d as it lies in an artifact: JSON and a NUL.
func text(t testing.TB, d *describe.Artifact) []byte {
	t.Helper()
	desc, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return append(desc, 0)
}

// run calls build tools one after the other.
func run(t testing.TB, commands ...[]string) {
	t.Helper()
	for _, args := range commands {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestPlaces checks that the environment says where LLVM's programs are and where what is built once is kept.
func TestPlaces(t *testing.T) {
	needQemu(t)
	so := build(t, twoStage(), nil)
	bin, cache := t.TempDir(), t.TempDir()
	for _, name := range []string{"llvm-mc", "ld.lld"} {
		// A script, because LLVM's programs look at the name by which they are called.
		script := fmt.Sprintf("#!/bin/sh\ntouch %s/%s.used\nexec %s \"$@\"\n", bin, name, tool(t, name))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(toolchain.EnvBin, bin)
	t.Setenv(caches.Env, cache)
	open(t, so, simulate.Options{})
	if kept := contents(t, filepath.Join(cache, "simulate")); len(kept) != 1 {
		t.Errorf("the cache holds %d files", len(kept))
	}
	if used, _ := filepath.Glob(filepath.Join(bin, "*.used")); len(used) != 2 {
		t.Errorf("of the folder given were used %v", used)
	}
}

// build compiles the network for d's architecture with the description d; edit, if not nil, changes the LLVM text first.
func build(t testing.TB, d *describe.Artifact, edit func(string) string) string {
	t.Helper()
	opt, llc, lld := tool(t, "opt"), tool(t, "llc"), tool(t, "ld.lld")
	ll, err := os.ReadFile("../../runtime/testdata/twostage.ll.in")
	if err != nil {
		t.Fatal(err)
	}
	desc := text(t, d)
	var hex strings.Builder
	for _, c := range desc {
		fmt.Fprintf(&hex, "\\%02X", c)
	}
	yield, size := `call i64 asm sideeffect "svc #0", "={x0},{x8},~{memory}"(i64 124)`, "i64"
	switch d.Arch {
	case "x86_64":
		yield = `call i64 asm sideeffect "syscall", "={rax},{rax},~{rcx},~{r11},~{memory}"(i64 24)`
	case "arm":
		yield, size = `call i32 asm sideeffect "svc #0", "={r0},{r7},~{memory}"(i32 158)`, "i32"
	}
	s := strings.NewReplacer("{{JSON_SIZE}}", strconv.Itoa(len(desc)), "{{JSON}}", hex.String(), "{{NAME}}", "twostage",
		"{{YIELD}}", yield, "{{SCRATCH}}", "64", "{{SIZE_T}}", size).Replace(string(ll))
	if edit != nil {
		s = edit(s)
	}
	dir := t.TempDir()
	src, bc, obj, so := filepath.Join(dir, "a.ll"), filepath.Join(dir, "a.bc"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	triple := "-mtriple=" + triple(d)
	run(t, []string{opt, triple, "-passes=default<O2>", src, "-o", bc},
		[]string{llc, triple, "-O2", "-relocation-model=pic", "-filetype=obj", bc, "-o", obj},
		[]string{lld, "-shared", obj, "-o", so})
	return so
}

func triple(d *describe.Artifact) string {
	g, _ := guests.Of(d.Arch)
	return g.Triple
}

// assemble makes an artifact of the given description whose run_stages is assembly text.
func assemble(t testing.TB, d *describe.Artifact, body string) string {
	t.Helper()
	mc, lld := tool(t, "llvm-mc"), tool(t, "ld.lld")
	var b strings.Builder
	attrs := "-mattr=+dotprod"
	if d.Arch == "arm" {
		attrs = "-mattr=+neon,+vfp4"
		b.WriteString("\t.syntax unified\n\t.arm\n")
	}
	fmt.Fprintf(&b, "\t.text\n\t.globl %s_run_stages\n%s_run_stages:\n%s\n", d.Name, d.Name, body)
	fmt.Fprintf(&b, "\t.section %s,\"a\"\n", describe.Section)
	for _, c := range text(t, d) {
		fmt.Fprintf(&b, "\t.byte %d\n", c)
	}
	dir := t.TempDir()
	src, obj, so := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, []string{mc, "-triple=" + triple(d), attrs, "-filetype=obj", src, "-o", obj}, []string{lld, "-shared", obj, "-o", so})
	return so
}
