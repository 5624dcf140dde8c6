package codegen_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/ir"
)

// caller is a program of C and C++ that uses all that a header declares.
const caller = `#include "small_net.h"
#if SMALL_NET_MACS != 7 || SMALL_NET_ARENA_BYTES != 320 || SMALL_NET_WORKSPACE_BYTES(2) != 320 || SMALL_NET_SCRATCH_BYTES != 0 || SMALL_NET_STACK_BYTES < 1000 || RIPC_VERSION != 10203
#error "numbers"
#endif
#if !SMALL_NET_TARGET_HOST || SMALL_NET_TARGET_RPI3 || !defined(SMALL_NET_ARCH_X86_64) && !defined(SMALL_NET_ARCH_AARCH64)
#error "the target"
#endif
static RIPC_ALIGNED int32_t input[SMALL_NET_INPUT_0_ELEMS], output[SMALL_NET_OUTPUT_0_ELEMS], more[SMALL_NET_OUTPUT_1_ELEMS];
static RIPC_ALIGNED unsigned char workspace[SMALL_NET_WORKSPACE_BYTES(1)];
int main(void)
{
    const char *name = SMALL_NET_INPUT_0_NAME, *abi = SMALL_NET_ABI, *text = ripc_status_text(RIPC_BAD_BUFFER);
    const void *in[] = {input};
    void *out[] = {output, more};
    if (small_net_cpu_ok() != RIPC_CPU_OK || name[0] != 'i' || abi[16] != 0 || text[0] != 'b' || small_net_describe()[0] != '{')
        return 3;
    input[69] = 5;
    if (small_net_workspace_size(1) != sizeof workspace || small_net_run_stages(in, out, workspace, 0, 1, NULL, 0, 1) != RIPC_OK)
        return 4;
    return small_net_run(in, out, workspace, 0, 1, NULL) != RIPC_OK || output[69] != 11 || more[69] != 12;
}
`

// TestHeaderOfAnotherBuild: a program links with the header of the library's own build alone, whatever kind of library and
// compiler it is.
func TestHeaderOfAnotherBuild(t *testing.T) {
	tools, err := toolchain.Find()
	need.OK(t, err)
	libs := map[string]codegen.Kind{"net.a": codegen.Archive, "net.o": codegen.Object, "small_net.so": codegen.SO, "net.c": codegen.Source}
	made := func(change func(*ir.Program)) map[codegen.Kind][]byte {
		p := small()
		change(p)
		in := input(t, host(t))
		in.Program, in.Emit = p, []codegen.Kind{codegen.Header, codegen.Archive, codegen.Object, codegen.SO, codegen.Source}
		files, err := codegen.Build(t.Context(), in, llvm.Backend{Tools: tools}, c99.Backend{})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	mine := made(func(*ir.Program) {})
	others := map[string]map[codegen.Kind][]byte{
		"weights": made(func(p *ir.Program) { p.Buffers[2].Data[0]++ }),
		"graph":   made(func(p *ir.Program) { p.Stages[1], p.Stages[2] = p.Stages[2], p.Stages[1] }),
		"label":   made(func(p *ir.Program) { p.Buffers[0].Label = "image" }),
	}
	cc, cxx := need.Tool(t, "cc"), need.Tool(t, "c++")
	try := func(t *testing.T, files map[codegen.Kind][]byte, lib string, compiler ...string) (string, error) {
		dir := folder(t, map[string]string{"small_net.h": string(mine[codegen.Header]), "main.c": caller, "main.cc": caller, lib: string(files[libs[lib]])})
		main := "main.c"
		if compiler[0] == cxx {
			main = "main.cc"
			if lib == "net.c" {
				command(t, dir, cc, "-std=c99", "-O1", "-c", "net.c", "-o", "net.o")
				lib = "net.o"
			}
		}
		cmd := exec.CommandContext(t.Context(), compiler[0], append(compiler[1:], "-pedantic", "-Wall", "-Wextra", "-Werror", main, "./"+lib, "-o", "main", "-Wl,-rpath,"+dir)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			return string(out), err
		}
		out, err = exec.CommandContext(t.Context(), filepath.Join(dir, "main")).CombinedOutput()
		return string(out), err
	}
	for lib := range libs {
		for _, compiler := range [][]string{{cc, "-std=c99"}, {cxx, "-std=c++11"}} {
			name := lib + " " + filepath.Base(compiler[0])
			t.Run(name, func(t *testing.T) {
				if out, err := try(t, mine, lib, compiler...); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
			t.Run(name+" of another", func(t *testing.T) {
				for what, files := range others {
					if out, err := try(t, files, lib, compiler...); err == nil || !strings.Contains(out, "small_net_run_") {
						t.Errorf("links in spite of another %s (%v)\n%s", what, err, out)
					}
				}
			})
		}
	}
	t.Run("included twice", func(t *testing.T) {
		dir := folder(t, map[string]string{"a.h": string(mine[codegen.Header]), "b.h": string(others["weights"][codegen.Header]),
			"main.c": "#include \"a.h\"\n#include \"b.h\"\n"})
		cmd := exec.CommandContext(t.Context(), cc, "-fsyntax-only", "main.c")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "give one of them another name") {
			t.Errorf("two networks of one name in one file: %v\n%s", err, out)
		}
	})
	t.Run("source behind the header", func(t *testing.T) {
		dir := folder(t, map[string]string{"small_net.h": string(mine[codegen.Header]), "net.c": string(mine[codegen.Source]),
			"main.c": caller + "#include \"net.c\"\n"})
		command(t, dir, cc, "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main")
		command(t, dir, "./main")
	})
}
