package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// painted runs a network on a stack of its own, which was painted before, and looks how deep the paint is gone, beside a call of
// nothing. It prints the bytes, and fails if the header says less.
const painted = `#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include "net.h"
static RIPC_ALIGNED unsigned char in0[NET_INPUT_0_BYTES], out0[NET_OUTPUT_0_BYTES], workspace[NET_WORKSPACE_BYTES(1)], stack[1 << 18];
static int status = RIPC_OK;
static ucontext_t here, there;
static void nothing(void) {}
static void run(void)
{
    const void *in[NET_INPUTS] = {in0};
    void *out[NET_OUTPUTS] = {out0};
    status = net_run(in, out, workspace, 0, 1, NULL);
}
static size_t depth(void (*f)(void))
{
    size_t i = 0;
    memset(stack, 0xa5, sizeof stack);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, f, 0);
    swapcontext(&here, &there);
    while (i < sizeof stack && stack[i] == 0xa5)
        i++;
    return sizeof stack - i;
}
int main(void)
{
    size_t least = depth(nothing), most = depth(run);
    printf("%d bytes, the header says %d\n", (int)(most - least), (int)NET_STACK_BYTES);
    return status != RIPC_OK || most < least + 100 || most - least > NET_STACK_BYTES;
}
`

// TestStack: a call takes no more of the stack than the header says, and much of that.
func TestStack(t *testing.T) {
	_, err := ripc.LLVM()
	need.OK(t, err)
	a := newApps(t)
	for _, c := range []struct {
		model, target, kind, compiler string
		run                           []string
	}{
		{"squeezenet/squeezenet.json", "x86-64", "a", "gcc", nil}, // the fewest registers, so the most that do not fit
		{"digits/digits.json", "x86-64", "c", "gcc", nil},
		{"squeezenet/squeezenet.json", "rpi3", "a", "aarch64-linux-gnu-gcc", []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
		{"squeezenet/squeezenet.json", "rpi3-armv7", "a", "arm-linux-gnueabihf-gcc", []string{"qemu-arm", "-L", "/usr/arm-linux-gnueabihf"}},
	} {
		t.Run(c.target+"."+c.kind, func(t *testing.T) {
			if c.run == nil {
				need.Tool(t, c.compiler)
			} else {
				need.App(t, c.compiler)
				need.Tool(t, c.run[0])
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(painted), 0o644); err != nil {
				t.Fatal(err)
			}
			a.run(t, nil, "", "bin/ripc", "compile", filepath.Join("examples", c.model), "--name", "net", "--target", c.target, "--emit", c.kind+",h", "-o", filepath.Join(dir, "net"))
			a.run(t, nil, dir, c.compiler, "-O2", "-o", "main", "main.c", "net."+c.kind)
			line := append(c.run, filepath.Join(dir, "main"))
			t.Log(strings.TrimSpace(a.run(t, nil, dir, line[0], line[1:]...)))
		})
	}
}
