package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/verify"
)

// verifyC compares what the system's C compiler makes of a model's C with the interpreter.
func verifyC(t *testing.T, path string, o ripc.Options, threads int) {
	t.Helper()
	need.Tool(t, "cc")
	o.Backend = c99.Name
	rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: o, Seed: 5, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK {
		t.Errorf("%s", faults(rep))
	}
}

// TestExamplesInC: networks as C, with the schedules of machines with vectors, with bytes, and with neither.
func TestExamplesInC(t *testing.T) {
	networks := map[string][]string{"../examples/digits/digits.json": {"host", "rpi3", "cortex-m4"}}
	if need.Thorough() {
		networks["../examples/squeezenet/squeezenet.json"] = []string{"host"}
		networks["../examples/squeezenet/squeezenet_a2.json"] = []string{"rpi4"}
	}
	for path, targets := range networks {
		for _, target := range targets {
			t.Run(filepath.Base(path)+"/"+target, func(t *testing.T) {
				t.Parallel()
				verifyC(t, path, ripc.Options{Target: target}, 2)
			})
		}
	}
}

// imported lists every case of the importers.
func imported(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/*/*.[ot][nf]*") // .onnx, .tflite
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// TestImportedInC: cases of the importers, with the schedules of several machines.
func TestImportedInC(t *testing.T) {
	takes := need.Part(t, 42)
	for i, path := range imported(t) {
		name := filepath.Base(path)
		if !takes(i) { // make c takes them all
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifyC(t, path, ripc.Options{Target: []string{"x86-64-v3", "cortex-m4", "rpi3"}[i%3]}, 1)
		})
	}
}

// randomInC writes n of ten random networks as one model, and gives it random algorithms and schedules for a target that depends on b.
func randomInC(t *testing.T, b, n int) (path string, o ripc.Options) {
	t.Helper()
	var texts []map[string]any
	for i := range n {
		texts = append(texts, randnet.Model(rand.New(rand.NewPCG(uint64(1000+10*b+i), 77)), fmt.Sprintf("c%d_", i)))
	}
	path = filepath.Join(t.TempDir(), "net.json")
	if err := os.WriteFile(path, randnet.Join(texts, b), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Target = []string{"x86-64-v4", "rpi5", "cortex-m33", "rpi2"}[b%4]
	r := rand.New(rand.NewPCG(uint64(b), 78))
	p, err := drawnDefinition(t.Context(), path, &o, r)
	if err != nil {
		t.Fatal(err)
	}
	o.Schedules = randomTraces(p, o.Target, r)
	return path, o
}

// TestRandomNetworksInC: random networks with random schedules, ten for each target in make thorough.
func TestRandomNetworksInC(t *testing.T) {
	n := 4
	if need.Thorough() {
		n = 10
	}
	for b := range 4 {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			t.Parallel()
			path, o := randomInC(t, b, n)
			verifyC(t, path, o, 1+b)
		})
	}
}

// inC is a network in C, and what the interpreter computes of some inputs.
type inC struct {
	c      *ripc.Compiled
	inputs []verify.Set
	want   [][][]byte // outputs, by set
}

// newInC compiles a model for random inputs and the further ones of verify.
func newInC(t *testing.T, path string, o ripc.Options) *inC {
	t.Helper()
	o.Backend, o.Emit = c99.Name, []codegen.Kind{codegen.Source, codegen.Header}
	c, err := ripc.Compile(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	tensors := codegen.Describe(c.Artifact()).Inputs
	feed, err := tensorio.Load(tensors, nil, tensorio.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	n := &inC{c: c, inputs: append([]verify.Set{{Inputs: feed.Run(0)}}, verify.AdditionalSets(c.Program, feed.Run(0), 2)...)}
	for _, s := range n.inputs {
		out, err := interp.RunProgram(t.Context(), c.Program, s.Inputs, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n.want = append(n.want, out)
	}
	return n
}

// stages builds a library with -O2, and compares every stage with the interpreter.
func (n *inC) stages(t *testing.T, cc string, threads int) {
	t.Helper()
	in := n.c.Artifact()
	in.Emit = []codegen.Kind{codegen.Runnable}
	files, err := codegen.Build(t.Context(), in, c99.Backend{Compiler: c99.Compiler{Command: need.CCompiler(t, cc) + " " + strings.Join(strict(), " ")}})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := verify.Verify(t.Context(), verify.Input{Program: n.c.Program, Scheduled: n.c.Scheduled, Library: files[codegen.Runnable],
		Inputs: n.inputs[0].Inputs, More: n.inputs[1:], Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK {
		t.Errorf("%s:\n%s", cc, faults(rep))
	}
}

// strict makes an error of every warning.
func strict() []string { return []string{"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"} }

// mainC runs a network on all inputs that standard input holds. Each tensor has memory of just its size, so that a
// sanitizer sees what is beside it.
const mainC = `#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "net.h"
enum { INPUTS = %[2]d, OUTPUTS = %[3]d, THREADS = %[4]d };
static const size_t in_bytes[INPUTS] = {%[5]s}, out_bytes[OUTPUTS] = {%[6]s};
static void *in[INPUTS], *out[OUTPUTS], *workspace;
static ripc_sync sync;
static int status[THREADS];
static uint32_t ids[THREADS];
static void *block(size_t bytes)
{
    void *p;
    if (posix_memalign(&p, RIPC_ALIGN, bytes) != 0) exit(3);
    return p;
}
static void *thread(void *id)
{
    const uint32_t tid = *(uint32_t *)id;
    const void *from[INPUTS];
    for (int i = 0; i < INPUTS; i++) from[i] = in[i];
    status[tid] = %[1]s_run(from, out, workspace, tid, THREADS, &sync);
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    workspace = block(%[1]s_workspace_size(THREADS));
    for (int i = 0; i < INPUTS; i++) in[i] = block(in_bytes[i]);
    for (int i = 0; i < OUTPUTS; i++) out[i] = block(out_bytes[i]);
    for (;;) {
        for (int i = 0; i < INPUTS; i++) {
            const size_t n = fread(in[i], 1, in_bytes[i], stdin);
            if (n == 0 && i == 0) goto end;
            if (n != in_bytes[i]) return 1;
        }
        for (uint32_t i = 1; i < THREADS; i++) {
            ids[i] = i;
            if (pthread_create(&threads[i], NULL, thread, &ids[i]) != 0) return 3;
        }
        thread(&ids[0]);
        for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++) if (status[i] != RIPC_OK) return 2;
        for (int i = 0; i < OUTPUTS; i++) fwrite(out[i], 1, out_bytes[i], stdout);
    }
end:
    for (int i = 0; i < INPUTS; i++) free(in[i]);
    for (int i = 0; i < OUTPUTS; i++) free(out[i]);
    free(workspace);
    return 0;
}
`

// sanitized builds a program, which a sanitizer ends at the first mistake, and compares the network's outputs.
func (n *inC) sanitized(t *testing.T, cc, sanitizers string, threads int) {
	t.Helper()
	d := codegen.Describe(n.c.Artifact())
	var buffers []ir.ProgBuf // the outputs
	var inBytes, outBytes []string
	for _, b := range n.c.Program.Buffers {
		switch b.Kind {
		case ir.InputBuf:
			inBytes = append(inBytes, fmt.Sprint(b.Bytes()))
		case ir.OutputBuf:
			buffers, outBytes = append(buffers, b), append(outBytes, fmt.Sprint(b.Bytes()))
		}
	}
	var stdin []byte
	for _, s := range n.inputs {
		stdin = append(stdin, bytes.Join(s.Inputs, nil)...)
	}
	main := fmt.Sprintf(mainC, d.Name, len(inBytes), len(outBytes), threads, strings.Join(inBytes, ", "), strings.Join(outBytes, ", "))
	dir := t.TempDir()
	for name, data := range map[string][]byte{"net.c": n.c.Files[codegen.Source], "net.h": n.c.Files[codegen.Header], "main.c": []byte(main)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(cc, append(strict(), "-O1", "-g", "-fsanitize="+sanitizers, "-fno-sanitize-recover=all", "-pthread", "main.c", "net.c", "-o", "main")...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%.2000s", cc, sanitizers, err, text)
	}
	run := exec.Command(filepath.Join(dir, "main"))
	run.Dir, run.Stdin = dir, bytes.NewReader(stdin)
	var stderr strings.Builder
	run.Stderr = &stderr
	got, err := run.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.3000s", cc, sanitizers, err, stderr.String())
	}
	for i, s := range n.inputs {
		for j, b := range buffers {
			if len(got) < b.Bytes() {
				t.Fatalf("%s %s: output %d is missing", cc, sanitizers, j)
			}
			if diff := difftest.Diff(n.want[i][j], got[:b.Bytes()], b.Buffer); diff != "" {
				t.Errorf("%s %s: %s: %s", cc, sanitizers, s.Name, diff)
			}
			got = got[b.Bytes():]
		}
	}
}

// TestSanitizedNetwork runs digits under the sanitizers for undefined behaviour, addresses and threads.
func TestSanitizedNetwork(t *testing.T) {
	t.Parallel()
	need.Sanitizers(t, "gcc")
	n := newInC(t, "../examples/digits/digits.json", ripc.Options{})
	for _, sanitizers := range []string{"undefined,address", "thread"} {
		n.sanitized(t, "gcc", sanitizers, 3)
	}
}

// TestAllInC is the whole check of the back end, which make c runs: the examples, every case of the importers with the
// schedules of this machine and of another one, and random networks. Each compiler makes a library of each of them, without
// a warning, whose stages are compared, and GCC a program with sanitizers. Clang with sanitizers takes minutes for large
// stages; package c99 tests it on every operation. What was done is printed.
func TestAllInC(t *testing.T) {
	need.AllOfC(t)
	need.Sanitizers(t, "gcc")
	counts := map[string]*atomic.Int64{}
	for _, group := range []string{"examples", "imported", "random"} {
		counts[group] = &atomic.Int64{}
	}
	check := func(t *testing.T, group, name string, threads int, network func(*testing.T) (string, ripc.Options)) {
		t.Run(group+"/"+name, func(t *testing.T) {
			t.Parallel()
			path, o := network(t)
			n := newInC(t, path, o)
			for _, cc := range need.CCompilers() {
				n.stages(t, cc, threads)
			}
			n.sanitized(t, "gcc", "undefined,address", threads)
			counts[group].Add(1)
		})
	}
	t.Run("all", func(t *testing.T) {
		for _, path := range []string{"../examples/squeezenet/squeezenet.json", "../examples/squeezenet/squeezenet_a2.json", "../examples/digits/digits.json"} {
			for _, target := range []string{"host", "cortex-m4", "rpi3"} {
				check(t, "examples", filepath.Base(path)+"/"+target, 2, func(*testing.T) (string, ripc.Options) { return path, ripc.Options{Target: target} })
			}
		}
		for i, path := range imported(t) {
			for _, target := range []string{"host", []string{"cortex-m4", "rpi3", "rpi2"}[i%3]} {
				check(t, "imported", filepath.Base(path)+"/"+target, 1+i%2, func(*testing.T) (string, ripc.Options) { return path, ripc.Options{Target: target} })
			}
		}
		for b := range 20 {
			check(t, "random", fmt.Sprint(b), 1+b%3, func(t *testing.T) (string, ripc.Options) { return randomInC(t, b, 10) })
		}
	})
	if t.Failed() {
		return
	}
	fmt.Printf("equal to the interpreter, with %s at -O2, and sanitized: %d examples, %d imported cases, %d times ten random networks\n",
		strings.Join(need.CCompilers(), " and "), counts["examples"].Load(), counts["imported"].Load(), counts["random"].Load())
}
