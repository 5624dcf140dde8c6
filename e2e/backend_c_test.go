package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/tensorio"
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
	for path, targets := range map[string][]string{
		"../examples/digits/digits.json": {"host", "rpi3", "cortex-m4"}, "../examples/squeezenet/squeezenet.json": {"host"},
		"../examples/squeezenet/squeezenet_a2.json": {"rpi4"},
	} {
		for _, target := range targets {
			t.Run(filepath.Base(path)+"/"+target, func(t *testing.T) { verifyC(t, path, ripc.Options{Target: target}, 2) })
		}
	}
}

// TestImportedInC: every case of the importers.
func TestImportedInC(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.[ot][nf]*") // .onnx, .tflite
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, path := range files {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "op_") && i%4 != 0 { // one op each, and many of a kind
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifyC(t, path, ripc.Options{Target: []string{"x86-64-v3", "cortex-m4", "rpi3"}[i%3]}, 1)
		})
	}
}

// TestRandomNetworksInC: random networks with random schedules.
func TestRandomNetworksInC(t *testing.T) {
	for b := range 4 {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			t.Parallel()
			g := rand.New(rand.NewPCG(uint64(b), 78))
			var texts []map[string]any
			for i := range 10 {
				texts = append(texts, randnet.Model(rand.New(rand.NewPCG(uint64(1000+10*b+i), 77)), fmt.Sprintf("c%d_", i)))
			}
			path := filepath.Join(t.TempDir(), "net.json")
			if err := os.WriteFile(path, randnet.Joined(texts, b), 0o600); err != nil {
				t.Fatal(err)
			}
			o := ripc.Options{Target: []string{"x86-64-v4", "rpi5", "cortex-m33", "rpi2"}[b]}
			c, err := ripc.Compile(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Traces = randomTraces(c, g)
			verifyC(t, path, o, 1+b)
		})
	}
}

// TestSanitizedNetwork runs digits under the sanitizers for undefined behaviour, addresses and threads.
func TestSanitizedNetwork(t *testing.T) {
	const path = "../examples/digits/digits.json"
	cc := need.Tool(t, "cc")
	c, err := ripc.Compile(t.Context(), path, ripc.Options{Emit: []codegen.Kind{codegen.Source, codegen.Header}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := ripc.Run(t.Context(), ripc.RunRequest{Path: path, Seed: 2, Threads: 1, Engine: ripc.EngineInterp})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := tensorio.Load(codegen.Describe(c.Artifact()).Inputs, nil, tensorio.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	const main = `#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "digits.h"
static const void *in[1];
static void *out[1];
static void *workspace;
static ripc_sync sync;
static int status[3];
static void *thread(void *tid)
{
    status[(uintptr_t)tid] = digits_run(in, out, workspace, (uint32_t)(uintptr_t)tid, 3, &sync);
    return NULL;
}
int main(void)
{
    unsigned char *x = aligned_alloc(64, 64 * ((DIGITS_INPUT_0_BYTES + 63) / 64)), *y = aligned_alloc(64, 64 * ((DIGITS_OUTPUT_0_BYTES + 63) / 64));
    FILE *f = fopen("input", "rb");
    pthread_t threads[3];
    workspace = aligned_alloc(64, DIGITS_WORKSPACE_BYTES(3));
    in[0] = x; out[0] = y;
    if (f == NULL || fread(x, 1, DIGITS_INPUT_0_BYTES, f) != DIGITS_INPUT_0_BYTES) return 1;
    fclose(f);
    for (int run = 0; run < 3; run++) {
        for (uintptr_t i = 1; i < 3; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
        thread(NULL);
        for (int i = 1; i < 3; i++) pthread_join(threads[i], NULL);
        if (status[0] | status[1] | status[2]) return 2;
    }
    fwrite(y, 1, DIGITS_OUTPUT_0_BYTES, stdout);
    free(x); free(y); free(workspace);
    return 0;
}
`
	dir := t.TempDir()
	for name, data := range map[string][]byte{"digits.c": c.Files[codegen.Source], "digits.h": c.Files[codegen.Header], "main.c": []byte(main), "input": feed.Run(0)[0]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, sanitizer := range []string{"undefined,address", "thread"} {
		cmd := exec.Command(cc, "-std=c11", "-O1", "-g", "-fsanitize="+sanitizer, "-fno-sanitize-recover=all", "-pthread", "main.c", "digits.c", "-o", "main")
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%.2000s", sanitizer, err, text)
		}
		run := exec.Command(filepath.Join(dir, "main"))
		run.Dir = dir
		var stderr strings.Builder
		run.Stderr = &stderr
		got, err := run.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%.3000s", sanitizer, err, stderr.String())
		}
		if string(got) != string(want.Outputs[0].Data) {
			t.Errorf("%s: the output differs from the interpreter's", sanitizer)
		}
	}
}
