package codegen_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/targets"
)

// command runs a program and fails the test unless it succeeds.
func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestHeaderCompiles compiles the header alone, twice in one file and beside another network's, as C and C++.
func TestHeaderCompiles(t *testing.T) {
	other := small()
	other.Name = "int"
	texts := map[string]string{}
	for _, p := range []codegen.Input{{Program: small()}, {Program: other}} {
		p.Target, p.Emit = host(t), []codegen.Kind{codegen.Header}
		texts[codegen.Identifier(p.Program.Name)+".h"] = string(build(t, p)[codegen.Header])
	}
	const source = "#include \"small_net.h\"\n#include \"_int.h\"\n#include \"small_net.h\"\n" +
		"const void *f(void) { return small_net_describe() ? _int_describe() : 0; }\n"
	texts["main.c"], texts["main.cc"] = source, source
	dir := folder(t, texts)
	flags := []string{"-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"}
	t.Run("c", func(t *testing.T) { command(t, dir, need.Tool(t, "cc"), append(flags, "-std=c99", "main.c")...) })
	t.Run("c++", func(t *testing.T) { command(t, dir, need.Tool(t, "c++"), append(flags, "-std=c++11", "main.cc")...) })
}

// named is the header of a network whose tensors are called name.
func named(t rapid.TB, name string) string {
	t.Helper()
	tg, err := targets.Lookup("x86-64")
	if err != nil {
		t.Fatal(err)
	}
	p := small()
	for i := range p.Buffers {
		p.Buffers[i].Label = name
	}
	files, err := codegen.Build(context.Background(),
		codegen.Input{Program: p, Target: tg, Version: "1", Emit: []codegen.Kind{codegen.Header}}, llvm.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return string(files[codegen.Header])
}

// code returns a header without its comments, what is in its strings, and the hash, and returns the comments.
func code(header string) (code string, comments []string) {
	header = regexp.MustCompile(`(_run_|_H_|_ABI ")[0-9a-f]{16}\b`).ReplaceAllString(header, "${1}HASH")
	header = regexp.MustCompile(`(_NAME) "[ -~]*"\n`).ReplaceAllString(header, "$1 \"\"\n")
	for {
		before, rest, ok := strings.Cut(header, "/*")
		code += before
		if !ok {
			return code, comments
		}
		var comment string
		comment, header, _ = strings.Cut(rest, "*/")
		code += " "
		comments = append(comments, comment)
	}
}

// hostile are names with which a file might try to leave a comment, or to deceive who reads it.
func hostile() []string {
	return []string{`*\ int evil; \*`, `*/ int evil; /*`, `**\\ int evil; //**`, "a\\", "a\\\n", "*??/\n/ int evil;", "??/", "*", "/", "//", "/*", "*/",
		"line\nbreak\r\v\f\u0085\u2028\u2029", "\x00\x1b[31m\x7f\u009b", "\u202e\u2066\u2069\u200e\u200f\u061c", "\xff\xfe", "{name}", `"`, "größe"}
}

// TestSyncBytes checks the sizes of ripc_sync that are written by hand.
func TestSyncBytes(t *testing.T) {
	python, err := os.ReadFile("../examples/python/ripc.py")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("bytes[%d];", abi.SyncBytes); !strings.Contains(codegen.Common, want) {
		t.Errorf("common.h does not have %q", want)
	}
	if want := fmt.Sprintf("nthreads > %d,", abi.MaxThreads); !strings.Contains(codegen.Common, want) {
		t.Errorf("common.h does not have %q", want)
	}
	if want := fmt.Sprintf("\nSYNC_BYTES = %d\n", abi.SyncBytes); !strings.Contains(string(python), want) {
		t.Errorf("ripc.py does not have %q", want)
	}
}

// TestHeaderHostileNames compiles headers with names that try to leave their comments.
func TestHeaderHostileNames(t *testing.T) {
	texts := map[string]string{}
	var source strings.Builder
	for i, name := range hostile() {
		h := strings.NewReplacer("SMALL_NET_", fmt.Sprintf("SMALL_NET_%d_", i), "small_net_", fmt.Sprintf("small_net_%d_", i)).Replace(named(t, name)) // the compiler reads all
		if c, _ := code(h); strings.Contains(c, "int evil") {
			t.Errorf("%q leaves its comment", name)
		}
		file := fmt.Sprintf("h%d", i)
		texts[file+".h"] = h
		fmt.Fprintf(&source, "#include \"%s.h\"\n", file)
	}
	source.WriteString("int evil = 0;\n")
	texts["main.c"], texts["main.cc"] = source.String(), source.String()
	dir := folder(t, texts)
	flags := []string{"-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"}
	t.Run("c", func(t *testing.T) { command(t, dir, need.Tool(t, "cc"), append(flags, "-std=c99", "main.c")...) })
	t.Run("c++", func(t *testing.T) { command(t, dir, need.Tool(t, "c++"), append(flags, "-std=c++11", "main.cc")...) })
}

// TestWrappersAlone compiles the wrappers of C++ and Rust in files of other names than the network's, which a keyword names.
func TestWrappersAlone(t *testing.T) {
	p := small()
	p.Name = "class"
	for i := range p.Buffers {
		p.Buffers[i].Label = strings.Join(hostile(), "")
	}
	files := build(t, codegen.Input{Program: p, Target: host(t), Emit: []codegen.Kind{codegen.Plus, codegen.Rust}})
	dir := folder(t, map[string]string{"net.hpp": string(files[codegen.Plus]), "net.rs": string(files[codegen.Rust]),
		"main.cc": "#include \"net.hpp\"\nint main() { return ripc::_class_network(2).input_0()[0]; }\n"})
	t.Run("c++", func(t *testing.T) {
		command(t, dir, need.Tool(t, "c++"), "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-std=c++20", "main.cc")
	})
	t.Run("rust", func(t *testing.T) {
		command(t, dir, need.App(t, "rustc"), "--crate-type", "lib", "--edition", "2021", "--emit", "metadata", "net.rs")
	})
}

// TestHeaderNames checks that a header says the same to a compiler, whatever its tensors are called, and that the names
// in its comments are plain.
func TestHeaderNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom(hostile()), rapid.SampledFrom([]string{"*", "/", "\\", "?", "\n", " "}), rapid.String())
		name := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "name"), "")
		got, comments := code(named(t, name))
		want, _ := code(named(t, "x"))
		if got != want {
			t.Errorf("the code became\n%s\nwant\n%s", got, want)
		}
		for _, c := range comments {
			if i := strings.IndexFunc(c, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~' || r == '\\') }); i >= 0 || strings.Contains(c, "??") {
				t.Errorf("a comment holds %q", c)
			}
		}
	})
}

// example returns the lines of the header's n-th example, and the functions and statements that "..." separates.
func example(header string, n int) (top, body string) {
	var all [][]string
	in := false
	for _, line := range strings.Split(header, "\n") {
		code, ok := strings.CutPrefix(line, " *     ")
		if ok && !in {
			all = append(all, nil)
		}
		if in = ok; ok {
			all[len(all)-1] = append(all[len(all)-1], code)
		}
	}
	text := strings.Join(all[n], "\n")
	if top, body, ok := strings.Cut(text, "...\n"); ok {
		return top, body
	}
	return "", text
}

// TestHeaderExamples builds the examples in the header, with the archive, and runs them.
func TestHeaderExamples(t *testing.T) {
	cc := need.Tool(t, "cc")
	files := build(t, input(t, host(t)))
	h := string(files[codegen.Header])
	_, openmp := example(h, 1)
	for n, name := range []string{"single", "openmp", "pthread"} {
		t.Run(name, func(t *testing.T) {
			top, body := example(h, n)
			if name == "pthread" { // it goes on from the buffers of the example before
				buffers, _, _ := strings.Cut(openmp, "static ripc_sync")
				top = strings.NewReplacer("const void *in", "static const void *in", "void *out", "static void *out").Replace(buffers) + top
			}
			fill := "for (int i = 0; i < 70; i++) ((int *)input0)[i] = i;\n"
			check := "\nfor (int i = 0; i < 70; i++) if (((int *)output0)[i] != 2*i+1 || ((int *)output1)[i] != 2*i+2) return 1;\nreturn 0;\n"
			if name == "single" {
				check = "\nif (status != RIPC_OK) return 2;" + check
			}
			// The buffers of a body must be declared before they are filled.
			if i := strings.Index(body, "const void *in["); i >= 0 {
				body = body[:i] + fill + body[i:]
			} else {
				body = fill + body
			}
			src := "#include <pthread.h>\n#ifdef _OPENMP\n#include <omp.h>\n#endif\n#include \"small_net.h\"\n" +
				top + "\nint main(void) {\n" + body + check + "}\n"
			dir := folder(t, map[string]string{"main.c": src, "small_net.h": h, "net.a": string(files[codegen.Archive]),
				"net.o": string(files[codegen.Object])})
			flags := []string{"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-pthread"}
			if name == "openmp" {
				flags = append(flags, "-fopenmp")
			}
			for _, lib := range []string{"net.a", "net.o"} {
				command(t, dir, cc, append(flags, "main.c", lib, "-o", "main")...)
				command(t, dir, "./main")
			}
		})
	}
}
