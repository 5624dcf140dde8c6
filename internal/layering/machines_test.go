package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
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

// visitCode visits all files of the module but tests and examples. Of a folder that skips reports to be left out, with a slash at
// the end, it visits none.
func visitCode(t *testing.T, skips func(folder string) bool, visit func(name, text string)) {
	t.Helper()
	root := filepath.Join("..", "..")
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
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "examples", "build", "bin"}, base)) || skips(name+"/") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoMachines reads all files of the module but tests and examples.
func TestNoMachines(t *testing.T) {
	used := map[string]bool{}
	visitCode(t, func(folder string) bool {
		allowed, ok := machines()[folder]
		used[folder] = ok
		return ok && allowed[0].text == ""
	}, func(name, text string) {
		var plain []string
		for _, m := range machines()[name] {
			used[name] = true
			plain = append(plain, m.text)
			if !strings.Contains(text, m.text) {
				t.Errorf("%s: the exception %q is no longer there; take it out of internal/layering/machines_test.go", name, m.text)
			}
		}
		found, err := machineWords().in(name, text, plain)
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			t.Error(f)
		}
	})
	for name := range machines() {
		if !used[name] {
			t.Errorf("%s is no longer there; take it out of internal/layering/machines_test.go", name)
		}
	}
}

// TestNoArchitectures: what differs between architectures is a row, or a method of targets. Elsewhere code may compare the
// architectures of two machines, but none with a name.
func TestNoArchitectures(t *testing.T) {
	visitCode(t, func(folder string) bool {
		return slices.Contains([]string{"targets/", "codegen/llvm/driver/", "codegen/llvm/isa/", "codegen/llvm/rows/"}, folder)
	}, func(name, text string) {
		found, err := archNames(name, text)
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			t.Errorf("%s: an architecture is compared with a name; make the difference a row of a table, or a method of targets.Target", f)
		}
	})
}

// archNames lists the places in a file's text where an architecture is compared with a literal or a constant.
func archNames(name, text string) (found []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		return nil, err
	}
	isPackage := map[string]bool{}
	for _, i := range f.Imports {
		isPackage[path.Base(strings.Trim(i.Path.Value, `"`))] = true
	}
	isArch := func(e ast.Expr) bool {
		return regexp.MustCompile(`(?i)^(\w+\.)*(host)?arch(\(\))?$`).MatchString(types.ExprString(e))
	}
	isName := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.BasicLit:
			return e.Value != `""`
		case *ast.Ident:
			return e.IsExported() || e.Obj != nil && e.Obj.Kind == ast.Con
		case *ast.SelectorExpr:
			x, ok := e.X.(*ast.Ident)
			return ok && isPackage[x.Name]
		}
		return false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var compared []ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared = []ast.Expr{n.X, n.Y}
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				compared = append(compared, n.Tag)
				for _, c := range n.Body.List {
					compared = append(compared, c.(*ast.CaseClause).List...)
				}
			}
		}
		if slices.ContainsFunc(compared, isArch) && slices.ContainsFunc(compared, isName) {
			found = append(found, fset.Position(n.Pos()).String())
		}
		return true
	})
	return found, nil
}

func TestArchNames(t *testing.T) {
	const text = `package p

import "ripc/internal/container"

const own = "a"

func f(t, u struct{ Arch string }, arch string) bool {
	switch t.Arch {
	case "a":
	}
	return t.Arch == u.Arch || arch != cpu.Arch() || t.Arch == "" || kind == "a" ||
		t.Arch == "a" ||
		container.OpenCL != arch ||
		runtime.HostArch() == own
}
`
	found, err := archNames("p.go", text)
	if want := []string{"p.go:8:2", "p.go:12:3", "p.go:13:3", "p.go:14:3"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("got %q, %v\nwant %q", found, err, want)
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
