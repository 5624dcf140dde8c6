package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/engine"
	"ripc/internal/need"
)

// enqueueProgram runs a network in a context of its own: floats from standard input, bytes to standard output.
const enqueueProgram = `#include "digits.h"
#include <stdio.h>

static unsigned char x[DIGITS_INPUT_0_BYTES], y[DIGITS_OUTPUT_0_BYTES];

int main(void)
{
    cl_platform_id p[8];
    cl_device_id d = NULL;
    cl_uint n = 0, i;
    cl_int e = clGetPlatformIDs(8, p, &n);
    cl_context ctx;
    cl_command_queue queue, loose;
    cl_mem in[DIGITS_INPUTS], out[DIGITS_OUTPUTS];
    digits_network *net;
    static char log[1000];
    for (i = 0; i < n && d == NULL; i++) {
        if (clGetDeviceIDs(p[i], CL_DEVICE_TYPE_CPU, 1, &d, NULL) != CL_SUCCESS) {
            d = NULL;
        }
    }
    ctx = clCreateContext(NULL, 1, &d, NULL, NULL, &e);
    queue = clCreateCommandQueue(ctx, d, 0, &e);
    loose = clCreateCommandQueue(ctx, d, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    in[0] = clCreateBuffer(ctx, CL_MEM_READ_WRITE, sizeof x, NULL, &e);
    out[0] = clCreateBuffer(ctx, CL_MEM_READ_WRITE, sizeof y, NULL, &e);
    if (e != CL_SUCCESS || fread(x, 1, sizeof x, stdin) != sizeof x) {
        return 2;
    }
    if ((e = digits_create(ctx, d, &net, log, sizeof log)) != CL_SUCCESS) {
        fprintf(stderr, "%d: %s\n", (int)e, log);
        return 3;
    }
    if (loose != NULL && digits_enqueue(net, loose, in, out) != CL_INVALID_QUEUE_PROPERTIES) {
        return 4;
    }
    e = clEnqueueWriteBuffer(queue, in[0], CL_FALSE, 0, sizeof x, x, 0, NULL, NULL);
    for (i = 0; i < 2 && e == CL_SUCCESS; i++) {
        e = digits_enqueue(net, queue, in, out);
    }
    if (e != CL_SUCCESS || clEnqueueReadBuffer(queue, out[0], CL_TRUE, 0, sizeof y, y, 0, NULL, NULL) != CL_SUCCESS) {
        return 5;
    }
    digits_release(net);
    digits_release(NULL);
    return fwrite(y, 1, sizeof y, stdout) == sizeof y ? 0 : 6;
}
`

// TestEnqueue: a program with a context and a queue of its own gets the bits of the interpreter.
func TestEnqueue(t *testing.T) {
	cc := need.CCompiler(t, "gcc")
	_, err := os.Stat("/usr/include/CL/cl.h")
	need.OK(t, err)
	o := ripc.Options{Target: "opencl-cpu", Emit: []codegen.Kind{codegen.Source, codegen.Header}}
	c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json", o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := c.Write(filepath.Join(dir, "digits")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(enqueueProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), cc, "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "digits.c", "-lOpenCL", "-o", "main")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := codegen.Describe(c.Artifact())
	input := make([]byte, 4*d.Inputs[0].Shape[1]*d.Inputs[0].Shape[2])
	for i := range input {
		if i%4 == 2 {
			input[i], input[i+1] = byte(i*7), 0x3f // between 0.5 and 1
		}
	}
	e := engine.Interpret(c.Program, d, nil)
	want, err := e.Run(t.Context(), []engine.Job{{Inputs: [][]byte{input}, Last: len(c.Program.Stages), Outputs: true}})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), filepath.Join(dir, "main"))
	run.Stdin = bytes.NewReader(input)
	got, err := run.Output()
	if err != nil || !bytes.Equal(got, want[0].Outputs[0]) {
		t.Errorf("%v: %x, want %x", err, got, want[0].Outputs[0])
	}
	path := filepath.Join(dir, "digits.c")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const first = "rc_source[] = {\n" // more messages than the program has room for
	faulty := bytes.Replace(text, []byte(first), []byte(first+`"`+strings.Repeat(`#warning here\n`, 200)+`no_such_type x;\n",`), 1)
	if err := os.WriteFile(path, faulty, 0o600); err != nil {
		t.Fatal(err)
	}
	build = exec.CommandContext(t.Context(), cc, "-std=c99", "main.c", "digits.c", "-lOpenCL", "-o", "main")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run = exec.CommandContext(t.Context(), filepath.Join(dir, "main"))
	run.Stdin = bytes.NewReader(input)
	failed := (*exec.ExitError)(nil)
	if _, err := run.Output(); !errors.As(err, &failed) || failed.ExitCode() != 3 || len(failed.Stderr) < 900 {
		t.Errorf("faulty kernels: %v", err)
	}
}
