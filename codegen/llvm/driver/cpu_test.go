package driver_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/targets"
	"ripc/targets/cpu"
)

// cpuObject compiles the function NAME_cpu_ok for t.
func cpuObject(t testing.TB, name string, tg targets.Target) toolchain.Object {
	t.Helper()
	ll, base, err := driver.CPU(name, tg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := tools(t).Compile(context.Background(), nil, ll, base, toolchain.Obj)
	if err != nil {
		t.Fatal(err)
	}
	return toolchain.Object{Name: name, Data: o}
}

// TestCPUHere asks for each feature by itself, and compares with what package cpu says of this machine.
func TestCPUHere(t *testing.T) {
	tg, err := targets.Host()
	need.OK(t, err)
	var objs []toolchain.Object
	var names, exports []string
	for _, f := range slices.Sorted(maps.Keys(cpu.Features())) {
		one := tg
		one.Features = []string{f}
		if _, _, err := driver.CPU("x", one); err != nil {
			continue // no target needs it
		}
		name := fmt.Sprintf("f%d", len(names))
		names, exports = append(names, f), append(exports, name+"_cpu_ok")
		objs = append(objs, cpuObject(t, name, one))
	}
	if len(names) < len(tg.Features) || len(names) < 8 {
		t.Fatalf("only %v can be asked for", names)
	}
	out := filepath.Join(t.TempDir(), "f.so")
	if err := tools(t).LinkShared(context.Background(), tg, objs, exports, "f.so", out); err != nil {
		t.Fatal(err)
	}
	h, err := purego.Dlopen(out, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range names {
		fn, err := purego.Dlsym(h, exports[i])
		if err != nil {
			t.Fatal(err)
		}
		want := abi.CPULacks
		if cpu.Features()[f] {
			want = abi.CPUOK
		}
		if r, _, _ := purego.SyscallN(fn); int(int32(r)) != want {
			t.Errorf("%s: %d, want %d", f, int32(r), want)
		}
	}
}

// asking is a program without a C library whose exit code is 10 and what NAME_cpu_ok returns.
const asking = `target triple = %q
declare i32 @m_cpu_ok()
define void @_start() naked {
  %s
}
`

// probes reports whether a simulator has riscv_hwprobe: without it, nothing says which RISC-V CPUs have zbb.
func probes(t *testing.T, qemu string) bool {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), qemu, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return !strings.Contains(string(version), " version 7.")
}

// TestCPUElsewhere asks CPUs of the simulator, among them some that cannot run the code of the target.
func TestCPUElsewhere(t *testing.T) {
	// Without the right to open one more file (RLIMIT_NOFILE), /proc/self/auxv is hidden.
	hide := map[string]string{
		"aarch64": "sub sp, sp, #16; stp xzr, xzr, [sp]; mov x0, #0; mov x1, #7; mov x2, sp; mov x3, #0; mov x8, #261; svc #0; ",
		"riscv64": "addi sp, sp, -16; sd zero, 0(sp); sd zero, 8(sp); li a0, 0; li a1, 7; mv a2, sp; li a3, 0; li a7, 261; ecall; ",
		"arm":     "sub sp, sp, #16; mov r0, #0; str r0, [sp]; str r0, [sp, #4]; mov r0, #7; mov r1, sp; mov r7, #75; svc #0; ",
	}
	start := map[string]string{
		"x86_64":  `call void asm sideeffect "call m_cpu_ok; lea 10(%rax), %edi; mov $$231, %eax; syscall", ""() unreachable`,
		"aarch64": `call void asm sideeffect "bl m_cpu_ok; add w0, w0, #10; mov x8, #94; svc #0", ""() unreachable`,
		"riscv64": `call void asm sideeffect "call m_cpu_ok; addi a0, a0, 10; li a7, 94; ecall", ""() unreachable`,
		"arm":     `call void asm sideeffect "bl m_cpu_ok; add r0, r0, #10; mov r7, #248; svc #0", ""() unreachable`,
	}
	for _, c := range []struct {
		target, cpu string
		want        int
	}{
		{"rpi3", "cortex-a53", abi.CPUUnknown}, {"rpi2", "cortex-a7", abi.CPUUnknown}, {"rpi2", "cortex-a9", abi.CPUUnknown},
		{"x86-64", "qemu64", abi.CPUOK}, {"x86-64-v3", "max", abi.CPUOK}, {"x86-64-v3", "Nehalem", abi.CPULacks}, {"x86-64-v3", "kvm64", abi.CPULacks},
		{"x86-64-v4", "max", abi.CPULacks}, // the simulator has no AVX-512
		{"generic-arm64", "cortex-a53", abi.CPUOK}, {"rpi3", "cortex-a53", abi.CPUOK}, {"rpi5", "cortex-a76", abi.CPUOK}, {"rpi5", "cortex-a72", abi.CPULacks},
		{"rpi2", "cortex-a7", abi.CPUOK}, {"generic-armv7", "cortex-a7", abi.CPUOK}, {"rpi3-armv7", "cortex-a15", abi.CPUOK},
		{"rpi2", "cortex-a9", abi.CPULacks}, {"rpi3-armv7", "cortex-a8", abi.CPULacks},
		{"riscv64", "rv64", abi.CPUOK}, {"riscv64", "rv64", abi.CPUUnknown}, {"riscv64", "rv64,d=false", abi.CPULacks}, {"bpi-f3", "rv64", abi.CPULacks},
		{"bpi-f3", "rv64,v=true,vlen=256,vext_spec=v1.0", abi.CPUOK}, {"bpi-f3", "rv64,v=true,vlen=128,vext_spec=v1.0", abi.CPULacks},
		{"riscv64-v128", "rv64,v=true,vlen=256,vext_spec=v1.0", abi.CPULacks},
	} {
		t.Run(fmt.Sprint(c.target, " on ", c.cpu, " is ", c.want), func(t *testing.T) {
			tg, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			qemu, err := exec.LookPath("qemu-" + tg.Arch)
			if err != nil && tg.Arch == cpu.Arch() {
				t.Skip("set-up installs no simulator of this machine's own architecture")
			}
			need.OK(t, err)
			want := c.want
			if want == abi.CPUOK && tg.Has("zbb") && !probes(t, qemu) {
				want = abi.CPUUnknown
			}
			dir := t.TempDir()
			row, _ := rows.Of(tg)
			text := fmt.Sprintf(asking, row.Triple, strings.Replace(start[tg.Arch], " unreachable", "\n  unreachable", 1))
			if c.want == abi.CPUUnknown {
				text = strings.Replace(text, "asm sideeffect \"", "asm sideeffect \""+hide[tg.Arch], 1)
			}
			base, err := targets.Lookup(map[string]string{"x86_64": "x86-64", "aarch64": "generic-arm64", "arm": "generic-armv7", "riscv64": "riscv64"}[tg.Arch])
			if err != nil {
				t.Fatal(err)
			}
			o, err := tools(t).Compile(context.Background(), nil, []byte(text), base, toolchain.Obj)
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"start.o": o, "cpu.o": cpuObject(t, "m", tg).Data} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			program := filepath.Join(dir, "program")
			if _, err := tools(t).Run(t.Context(), "ld.lld", nil, "-static", "-m", row.Emulation, "-o", program, filepath.Join(dir, "start.o"), filepath.Join(dir, "cpu.o")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(program, 0o777); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), qemu, "-cpu", c.cpu, program).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 10+want {
				t.Errorf("%v, want exit code %d\n%s", err, 10+want, out)
			}
		})
	}
}

// TestCPUFeatures: of every feature of every target there is something that tells whether a CPU has it.
func TestCPUFeatures(t *testing.T) {
	for _, tg := range targets.All() {
		if tg.Bare || tg.IsDevice() {
			continue
		}
		if _, _, err := driver.CPU("m", tg); err != nil {
			t.Error(err)
		}
		tg.Features = []string{"warp"}
		if _, _, err := driver.CPU("m", tg); err == nil || !strings.Contains(err.Error(), "warp") {
			t.Errorf("%s with a feature that nothing tells of: %v", tg.Name, err)
		}
	}
}
