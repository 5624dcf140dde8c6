package layering

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machineWords name architectures, instruction sets and instructions. What depends on a machine is data in targets, or text
// in codegen, so that a new one is an addition there and nowhere else.
func machineWords() vocabulary {
	const words = `aarch64|arm(v[0-9]\w*|64|hf)?|x86(_64)?|amd64|i[3-6]86|riscv\w*|loong(arch\w*|64)|wasm32\w*|llvm\.wasm|mips\w*|ppc\w*|thumb|cortex\w*|` +
		`neon|la?sx|vlenb?|zv[a-z]+|vrgather|vsetv\w+|sve2?|avx\w*|sse[0-9]*|amx|vpopcnt\w*|vcnt|uadalp|vpadal|[sup]dot|mxcsr|fpcr|fpscr|xgetbv|em_\w+|r_(arm|aarch64|x86)_\w+`
	return vocabulary{
		words: regexp.MustCompile(`(?i)\b(` + words + `)\b|\b(neon|armv7|avx512|avx2|sse2)_\w+`),
		why:   "only targets and codegen name machines; make this data there (or allow the text in internal/layering/machines_test.go, with the reason)",
	}
}

// aMachine is a text that may stand in a file, and why.
type aMachine struct{ text, why string }

// machines are the exceptions, by file, or by folder with a slash at the end: there everything may stand.
func machines() map[string][]aMachine {
	const tag = "Go chooses files by its own names of architectures"
	build := func(text string) []aMachine { return []aMachine{{"//go:build " + text, tag}} }
	return map[string][]aMachine{
		"targets/":                {{"", "machines as data"}},
		"codegen/board/":          {{"", "code for them"}},
		"codegen/c99/":            {{"", "code for them"}},
		"codegen/clike/":          {{"", "code for them"}},
		"codegen/llvm/driver/":    {{"", "code for them"}},
		"codegen/llvm/isa/":       {{"", "code for them"}},
		"codegen/llvm/library/":   {{"", "code for them"}},
		"codegen/llvm/link/":      {{"", "code for them"}},
		"codegen/llvm/rows/":      {{"", "what emit asks of them, as data"}},
		"codegen/llvm/toolchain/": {{"", "code for them"}},
		"lab/":                    {{"", "names the machines that it measures"}},

		"codegen/llvm/llvm.go":       {{"only wasm32 has modules", "a message"}},
		"engine/wasm/doc.go":         {{`"wasm32"`, "as descriptions name it"}},
		"internal/container/wasm.go": {{`"wasm32"`, "the file's own machine"}},

		"schedule/costmodel/library_linux.go": build("amd64 || arm64 || arm || riscv64"),
		"schedule/costmodel/library_other.go": build("!linux || !(amd64 || arm64 || arm || riscv64)"),

		"runtime/load_linux.go":           build("(amd64 || arm64 || arm || riscv64) && !ripc_static"),
		"runtime/load_other.go":           build("!linux || !(amd64 || arm64 || arm || riscv64) || ripc_static"),
		"runtime/opencl/api_linux.go":     build("(amd64 || arm64) && !ripc_static"),
		"runtime/device/library_linux.go": build("(amd64 || arm64) && !ripc_static"),
		"runtime/cuda/driver_linux.go":    build("(amd64 || arm64) && !ripc_static"),
		"runtime/cuda/graph_linux.go":     build("(amd64 || arm64) && !ripc_static"),
		"runtime/cuda/driver_other.go":    build("!linux || !(amd64 || arm64) || ripc_static"),
		"runtime/opencl/driver_linux.go":  build("(amd64 || arm64) && !ripc_static"),
		"runtime/opencl/driver_other.go":  build("!linux || !(amd64 || arm64) || ripc_static"),
		"runtime/session_linux.go":        build("(amd64 || arm64 || arm || riscv64) && !ripc_static"),
		"runtime/team_linux.go":           build("(amd64 || arm64 || arm || riscv64) && !ripc_static"),
		"runtime/threads_linux.go":        build("(amd64 || arm64 || arm || riscv64) && !ripc_static"),
	}
}

// TestNoMachines reads all files of the module but tests and examples.
func TestNoMachines(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "examples", "build", "bin"}, base)) {
				return fs.SkipDir
			}
			if allowed, ok := machines()[name+"/"]; ok && allowed[0].text == "" {
				used[name+"/"] = true
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var plain []string
		for _, m := range machines()[name] {
			used[name] = true
			plain = append(plain, m.text)
			if !strings.Contains(string(text), m.text) {
				t.Errorf("%s: the exception %q is no longer there; take it out of internal/layering/machines_test.go", name, m.text)
			}
		}
		found, err := machineWords().in(name, string(text), plain)
		for _, f := range found {
			t.Error(f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range machines() {
		if !used[name] {
			t.Errorf("%s is no longer there; take it out of internal/layering/machines_test.go", name)
		}
	}
}

// TestMachineWords checks that they are found where they stand, and that others are not.
func TestMachineWords(t *testing.T) {
	const text = `//go:build arm64

// Package p is for ARM, warm and harmless.
package p

var instr = "neon_cnt_u8" + "zvbb" + "llvm.wasm.swizzle" + "wasm"

const x86_64, alarm, asset = 1, "EM_AARCH64", "cortex-a53"
`
	found, err := machineWords().in("p.go", text, []string{"//go:build arm64"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		place, rest, _ := strings.Cut(f, ": ")
		word, _, _ := strings.Cut(rest, ": ")
		got = append(got, place+" "+word)
	}
	slices.Sort(got)
	want := []string{`p.go:3 "ARM"`, `p.go:6 "llvm.wasm"`, `p.go:6 "neon_cnt_u8"`, `p.go:6 "zvbb"`, `p.go:8 "EM_AARCH64"`, `p.go:8 "cortex"`, `p.go:8 "x86_64"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
