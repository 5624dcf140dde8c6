package codegen_test

import (
	"strings"
	"testing"

	"ripc/codegen"
)

// TestSymbolClash builds a network whose names become equal as C identifiers.
func TestSymbolClash(t *testing.T) {
	p := small()
	p.Name = "ripc"
	p.Funcs[0].Name, p.Funcs[1].Name = "run", "describe.text"
	p.Stages[0].Func, p.Stages[1].Func, p.Stages[2].Func = "run", "describe.text", "describe.text"
	in := input(t, host(t))
	in.Program, in.Emit = p, []codegen.Kind{codegen.SO, codegen.LL}
	files := build(t, in)
	for _, want := range []string{"; module ripc_run_2\n", "; module ripc_describe_text_2\n", "; module ripc_driver\n"} {
		if !strings.Contains(string(files[codegen.LL]), want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestStageNames checks that a stage's name stays within its comment in the LLVM text, in plain characters.
func TestStageNames(t *testing.T) {
	in := codegen.Input{Target: host(t), Version: "1", Emit: []codegen.Kind{codegen.LL}}
	in.Program = small()
	lines := strings.Count(string(build(t, in)[codegen.LL]), "\n")
	for _, name := range hostile() {
		in.Program = small()
		in.Program.Stages[0].Name = name
		ll := string(build(t, in)[codegen.LL])
		if n := strings.Count(ll, "\n"); n != lines {
			t.Errorf("%q makes %d lines of %d", name, n, lines)
		}
		if i := strings.IndexFunc(ll, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r > '~') }); i >= 0 {
			t.Errorf("%q leaves %q", name, ll[i])
		}
	}
}
