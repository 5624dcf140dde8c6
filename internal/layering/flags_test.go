package layering

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// flag finds flags of a command, and command lines of ripc, in messages.
func flag() *regexp.Regexp {
	return regexp.MustCompile("(^|[\"`' (])--[a-z][a-z-]*|[`']ripc [a-z]")
}

// speakers are packages whose literals have flags, and why.
func speakers() map[string]string {
	return map[string]string{
		"cmd/ripc":               "the command itself",
		"lab":                    "flags of its own, of ripc and of Python's tools",
		"codegen/llvm/toolchain": "flags of LLVM's tools",
		"engine/simulate":        "flags of qemu",
		"engine/bareboard":       "flags of GCC",
		"engine/verilator":       "flags of Verilator",
		"runtime/webgpu":         "flags of Chromium",
		"targets/fpga":           "flags of nextpnr",
		"measure/nextpnr":        "the same",
	}
}

// TestNoFlags: a library's errors carry what they are about, and the command says which flag to change. A Go program that
// uses the library has no flags.
func TestNoFlags(t *testing.T) {
	used := map[string]bool{}
	visitCode(t, func(folder string) bool {
		name := strings.TrimSuffix(folder, "/")
		_, used[name] = speakers()[name]
		return used[name]
	}, func(name, text string) {
		found, err := flagsIn(name, text)
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			t.Errorf("%s:%s; say what is wrong, and let cmd/ripc say what to change (help in errors.go)", name, f)
		}
	})
	for name := range speakers() {
		if !used[name] {
			t.Errorf("%s is no longer there", name)
		}
	}
}

// flagsIn lists the literals of a file that hold flags.
func flagsIn(name, text string) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		return nil, err
	}
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && flag().MatchString(l.Value) {
			found = append(found, fmt.Sprintf("%d: %s", fset.Position(l.Pos()).Line, l.Value))
		}
		return true
	})
	return found, nil
}

func TestFlag(t *testing.T) {
	for text, want := range map[string]bool{
		`"leave --target out"`: true, `"--schedule"`: true, "\"; `ripc compile` writes one\"": true,
		`"a--b"`: false, `"x -- y"`: false, `"ripc compiles"`: false, `"-fdata-sections"`: false,
	} {
		if flag().MatchString(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
