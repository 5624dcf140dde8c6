package simulate_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/engine/simulate"
	"ripc/internal/files"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// inputs returns inputs for a seed, the arena after stage 0, and the output.
func inputs(t testing.TB, d *describe.Artifact, seed uint64) (in [][]byte, arena, out []byte) {
	t.Helper()
	for i, x := range d.Inputs {
		data, err := runtime.FillRandom(x, seed, i)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, data)
	}
	arena, out = make([]byte, 4096), make([]byte, 4096)
	for i := range 1024 {
		v := 3*binary.LittleEndian.Uint32(in[0][4*i:]) + uint32(in[1][i])
		binary.LittleEndian.PutUint32(arena[4*i:], v)
		binary.LittleEndian.PutUint32(out[4*(1023-i):], v^85)
	}
	return in, arena, out
}

func open(t testing.TB, path string, o simulate.Options) *simulate.Machine {
	t.Helper()
	needQemu(t)
	m, err := simulate.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBatch(t *testing.T) { both(t, testBatch) }

func testBatch(t *testing.T, d *describe.Artifact) {
	m := open(t, build(t, d, nil), simulate.Options{})
	var jobs []simulate.Job
	var want [][]byte
	for i, threads := range []int{1, 2, 4, 1, 4, 3, 16, 2} {
		in, _, out := inputs(t, m.Description(), uint64(i))
		jobs = append(jobs, simulate.Job{Inputs: in, Last: m.Stages(), Threads: threads})
		want = append(want, out)
	}
	got, err := m.Run(context.Background(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if !bytes.Equal(got[i].Outputs[0], want[i]) {
			t.Errorf("job %d (%d threads): wrong output", i, jobs[i].Threads)
		}
	}
	if s := got[0].StackBytes; s < 16 || s > 4096 {
		t.Errorf("stack of %d bytes", s)
	}
}

func TestStageByStage(t *testing.T) { both(t, testStageByStage) }

func testStageByStage(t *testing.T, d *describe.Artifact) {
	m := open(t, build(t, d, nil), simulate.Options{})
	in, arena, out := inputs(t, m.Description(), 7)
	mine := bytes.Repeat([]byte{1, 0, 0, 0}, 1024)
	got, err := m.Run(context.Background(), []simulate.Job{
		{Inputs: in, First: 0, Last: 1, Threads: 2, Keep: true},
		{Continue: true, First: 1, Last: 2, Threads: 4},
		{Inputs: in, First: 1, Last: 2, Threads: 1, Workspace: mine, Keep: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0].Inputs) != 2 || !bytes.Equal(got[0].Inputs[0], in[0]) || !bytes.Equal(got[0].Inputs[1], in[1]) || got[1].Inputs != nil {
		t.Error("stage 0: wrong inputs")
	}
	if len(got[0].Workspace) != 4096+2*64 || !bytes.Equal(got[0].Workspace[:4096], arena) {
		t.Error("stage 0: wrong workspace")
	}
	if !bytes.Equal(got[1].Outputs[0], out) {
		t.Error("stage 1: wrong output")
	}
	if v := binary.LittleEndian.Uint32(got[2].Outputs[0]); v != 1^85 || len(got[2].Workspace) != 4096+64 {
		t.Errorf("own workspace: output %d", v)
	}
}

func TestStatusAndArguments(t *testing.T) { both(t, testStatusAndArguments) }

func testStatusAndArguments(t *testing.T, d *describe.Artifact) {
	m := open(t, build(t, d, nil), simulate.Options{})
	in, _, _ := inputs(t, d, 1)
	ctx := context.Background()
	var status *runtime.StatusError
	_, err := m.Run(ctx, []simulate.Job{{Inputs: in, Last: 2, Threads: 1}, {Inputs: in, Last: 2, Threads: 17}})
	if !errors.As(err, &status) || status.Code != 1 || !strings.Contains(err.Error(), "job 1: twostage_run returned 1") {
		t.Errorf("17 threads: %v", err)
	}
	for want, j := range map[string]simulate.Job{
		"0 threads; 1 to 64":                 {Inputs: in, Last: 2},
		"stages 0 to 3; 0 <= first":          {Inputs: in, Last: 3, Threads: 1},
		"1 inputs; there must be 2":          {Inputs: in[:1], Last: 2, Threads: 1},
		"input 1 (y): u8 [1 1024] needs":     {Inputs: [][]byte{in[0], in[0]}, Last: 2, Threads: 1},
		"needs one before it":                {Continue: true, Last: 2, Threads: 1},
		"5000 bytes for a workspace of 4160": {Inputs: in, Last: 2, Threads: 1, Workspace: make([]byte, 5000)},
	} {
		if _, err := m.Run(ctx, []simulate.Job{j}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if r, err := m.Run(ctx, nil); err != nil || r != nil {
		t.Errorf("no jobs: %v, %v", r, err)
	}
}

// TestQemuFault: when qemu ends by its own fault or lacks the CPU, the error says so, and blames no code. Of other messages the code is
// to blame. A script plays qemu 7.2.
func TestQemuFault(t *testing.T) {
	needQemu(t)
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	d := twoStage()
	in, _, _ := inputs(t, d, 1)
	artifact := assemble(t, d, "\tmov w0, #0\n\tret")
	for message, want := range map[string]string{
		"decode_save_opc: Assertion failed.":                                                          "qemu-aarch64 7.2.22 itself ends at",
		"qemu-aarch64: unable to find CPU model 'none'":                                               "this qemu has no CPU",
		"qemu-aarch64: can't apply global max-arm-cpu.none=on: Property 'max-arm-cpu.none' not found": "this qemu has no CPU",
		"qemu-aarch64: handler of signal 11 not found":                                                "",
	} {
		script := "#!/bin/sh\n[ \"$1\" = --version ] && echo qemu-aarch64 version 7.2.22 && exit\ncat >&2 <<'END'\n" + message +
			"\nEND\nkill -SEGV $$\n"
		if err := os.WriteFile(filepath.Join(dir, "qemu-aarch64"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		m, err := simulate.Open(artifact, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(t.Context(), []simulate.Job{{Inputs: in, Last: 1, Threads: 1}})
		own, run := (*simulate.SimulatorError)(nil), (*simulate.RunError)(nil)
		if want == "" && !errors.As(err, &run) || want != "" && (!errors.As(err, &own) || !strings.HasPrefix(own.Why, want)) {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestFaults(t *testing.T) {
	needQemu(t)
	d := twoStage()
	in, _, _ := inputs(t, d, 1)
	const ret = "\tmov w0, #0\n\tret"
	var run *simulate.RunError
	var overrun *simulate.OverrunError
	for _, c := range []struct {
		name, body, want string
		as               any
	}{
		{"instruction", "\tsdot v0.4s, v1.16b, v2.16b\n" + ret, "(an instruction that cortex-a53 does not have)", &run},
		{"wild", "\tmov x1, #64\n\tstr x1, [x1]\n" + ret, "an access outside of all buffers", &run},
		{"constants", "\tadr x1, .\n\tstr x1, [x1]\n" + ret, "or a write to constants", &run},
		{"beyond output", "\tldr x1, [x1]\n\tadd x1, x1, #4096\n\tstrb w1, [x1]\n" + ret, "beyond the end of output 0 of job 0", &overrun},
		{"beyond workspace", "\tadd x2, x2, #4000\n\tstrb wzr, [x2, #160]\n" + ret, "beyond the end of the workspace", &overrun},
		{"stack", "\tmov x9, sp\n\tsub x9, x9, #64, lsl #12\n\tstr x0, [x9, #128]\n" + ret, "thread 0's stack", &overrun},
	} {
		m, err := simulate.Open(assemble(t, d, c.body), simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		good := simulate.Job{Inputs: in, Last: 0, Threads: 1}
		jobs := []simulate.Job{good}
		if c.name == "instruction" {
			// The first job skips the instruction.
			m, err = simulate.Open(assemble(t, d, "\tcbz w7, 1f\n"+c.body+"\n1:\n"+ret), simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			jobs = []simulate.Job{good, {Inputs: in, Last: 2, Threads: 1}}
		}
		_, err = m.Run(context.Background(), jobs)
		if c.name == "instruction" && !strings.Contains(fmt.Sprint(err), "ended in job 1:") {
			t.Errorf("%s: error %v, want one that names job 1", c.name, err)
		}
		if !errors.As(err, c.as) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestFaultsARM: what a 32-bit artifact may do wrong. An instruction of ARMv8 is one that its CPU lacks.
func TestFaultsARM(t *testing.T) {
	both(t, func(t *testing.T, d *describe.Artifact) {
		if d.Arch != "arm" {
			t.Skip("see TestFaults")
		}
		in, _, _ := inputs(t, d, 1)
		const ret = "\tmov r0, #0\n\tbx lr"
		for _, c := range []struct{ name, body, want string }{
			{"instruction", "\t.inst 0xfebb0a40 @ vrintm.f32 s0, s0\n" + ret, "(an instruction that cortex-a7 does not have)"},
			{"wild", "\tmov r1, #64\n\tstr r1, [r1]\n" + ret, "an access outside of all buffers"},
			{"constants", "\tadr r1, 1f\n1:\tstr r1, [r1]\n" + ret, "or a write to constants"},
			{"beyond output", "\tldr r1, [r1]\n\tadd r1, r1, #4096\n\tstrb r1, [r1]\n" + ret, "beyond the end of output 0 of job 0"},
			{"status", "\tmov r0, #2\n\tbx lr", "returned 2"},
		} {
			m := open(t, assemble(t, d, c.body), simulate.Options{})
			if _, err := m.Run(context.Background(), []simulate.Job{{Inputs: in, Last: 2, Threads: 1}}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
			}
		}
	})
}

func TestCancel(t *testing.T) {
	d := twoStage()
	m := open(t, assemble(t, d, "1:\tb 1b"), simulate.Options{})
	in, _, _ := inputs(t, d, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := m.Run(ctx, []simulate.Job{{Inputs: in, Last: 2, Threads: 2}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an endless artifact: %v", err)
	}
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("it took %v to stop", d)
	}
}

// TestLimit: a simulation has a time of its own, and what ends it then says what was waited for.
func TestLimit(t *testing.T) {
	d := twoStage()
	m := open(t, assemble(t, d, "1:\tb 1b"), simulate.Options{})
	in, _, _ := inputs(t, d, 1)
	job := simulate.Job{Inputs: in, Last: 2, Threads: 2}
	ctx := files.WithToolLimit(t.Context(), 300*time.Millisecond)
	check := func(what string, err error) {
		t.Helper()
		if late := (*files.ToolLimitError)(nil); !errors.As(err, &late) || !strings.Contains(err.Error(), "for qemu-aarch64 to run ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := m.Run(ctx, []simulate.Job{job})
	check("an endless artifact", err)
	_, err = m.Start(ctx, []simulate.Job{job}, 0)
	check("an endless artifact to be timed", err)
}

func TestOpenRefusals(t *testing.T) {
	needQemu(t)
	d := twoStage()
	so, bin, path := build(t, d, nil), os.Getenv(toolchain.EnvBin), os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	_, err := simulate.Open(so, simulate.Options{})
	t.Setenv("PATH", path)
	var missing *simulate.ToolError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "qemu-aarch64 not found") || !strings.Contains(err.Error(), "apt-get install qemu-user") {
		t.Errorf("no qemu: %v", err)
	}
	t.Setenv(toolchain.EnvBin, t.TempDir())
	t.Setenv(caches.Env, t.TempDir())
	_, err = simulate.Open(so, simulate.Options{})
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "llvm-mc not found in "+toolchain.EnvBin+"=") || !strings.Contains(err.Error(), "apt-get install llvm-22 lld-22") {
		t.Errorf("no llvm-mc in the folder given: %v", err)
	}
	t.Setenv(toolchain.EnvBin, bin)
	bare := twoStage()
	bare.QemuCPU = ""
	foreign := func(s string) string {
		return s + "declare void @memset()\n@hook = constant ptr @memset\n"
	}
	for want, path := range map[string]string{
		"the description has no qemu_cpu":                 build(t, bare, nil),
		`needs symbol "memset"`:                           build(t, d, foreign),
		"thread-local":                                    build(t, d, func(s string) string { return s + "@tls = thread_local global i32 1\n" }),
		"dynamic entry DT_INIT_ARRAY":                     build(t, d, func(s string) string { return s + ctor }),
		"no function twostage_run_stages":                 build(t, d, func(s string) string { return strings.ReplaceAll(s, "twostage_run_stages", "other") }),
		`symbol "f" of type STT_LOOS`:                     assemble(t, d, "\tret\n\t.globl f\n\t.type f, %gnu_indirect_function\nf:\tret\n\t.data\n\t.quad f"),
		"has type 1032, which":                            assemble(t, d, "\tret\n\t.type f, %gnu_indirect_function\nf:\tret\n\t.data\n\t.quad f"),
		"x.so: cannot open it: no such file or directory": "/nonexistent/x.so",
	} {
		if _, err := simulate.Open(path, simulate.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

const ctor = `@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @init, ptr null }]
define internal void @init() {
  store volatile i32 1, ptr @cell
  ret void
}
@cell = global i32 0
`

func BenchmarkJob(b *testing.B) {
	m := open(b, build(b, twoStage(), nil), simulate.Options{})
	in, _, _ := inputs(b, m.Description(), 1)
	for b.Loop() {
		if _, err := m.Run(context.Background(), []simulate.Job{{Inputs: in, Last: 2, Threads: 2}}); err != nil {
			b.Fatal(err)
		}
	}
}
