package artifact_test

import (
	"strings"
	"testing"

	"ripc/codegen/llvm/artifact"
)

// TestSymbolClash builds a network whose names become equal as C identifiers.
func TestSymbolClash(t *testing.T) {
	p := small()
	p.Name = "ripc"
	p.Funcs[0].Name, p.Funcs[1].Name = "run", "describe.text"
	p.Stages[0].Func, p.Stages[1].Func, p.Stages[2].Func = "run", "describe.text", "describe.text"
	in := input(t, host(t))
	in.Program, in.Emit = p, []artifact.Kind{artifact.SO, artifact.LL}
	files := build(t, in)
	for _, want := range []string{"; module ripc_run_2\n", "; module ripc_describe_text_2\n", "; module ripc_driver\n"} {
		if !strings.Contains(string(files[artifact.LL]), want) {
			t.Errorf("no %q", want)
		}
	}
}
