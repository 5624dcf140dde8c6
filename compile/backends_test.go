package compile_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/compile"
	"ripc/graph"
)

// TestBackendRefusals: a back end that cannot make what is wanted says why, and which ones can, before anything is compiled.
func TestBackendRefusals(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the targets are written down for x86-64")
	}
	t.Setenv("CC", "")
	for _, c := range []struct {
		backend, target string
		kinds           []codegen.Kind
		want            string
	}{
		{"board", "host", compile.DefaultEmit("host", "board"), "back end board cannot be used for target host: there is no board for it; accepted: llvm, c"},
		{"board", "rpi3", nil, "there is no board for it; accepted: llvm, c"},
		{"board", "cortex-m4", []codegen.Kind{codegen.Source}, "back end board cannot be used for target cortex-m4: it makes programs that run, verify, eval and bench start, and no files; accepted: c"},
		{"llvm", "cortex-m4", []codegen.Kind{codegen.Source}, "back end llvm cannot be used for target cortex-m4: the chip runs no Linux; accepted: c"},
		{"llvm", "host", []codegen.Kind{codegen.Source}, "back end llvm cannot be used for target host: it makes so, a, o, ll, s, not c; accepted: c"},
		{"c", "cortex-m4", []codegen.Kind{codegen.SO}, "the chip has no system that loads libraries"},
		{"c", "rpi3", []codegen.Kind{codegen.SO}, "cc makes code for x86_64, not for aarch64; name a compiler for it with the environment variable CC, or emit c; accepted: llvm"},
		{"cc", "host", nil, `unknown back end "cc"; there are llvm, board, opencl, cuda, wgsl, c`},
	} {
		_, err := compile.Network(t.Context(), func(context.Context) (*graph.Graph, error) {
			t.Errorf("%s for %s: the model was read", c.backend, c.target)
			return nil, errors.New("read")
		}, compile.Options{Target: c.target, Backend: c.backend, Emit: c.kinds})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v\nwant %s", c.backend, c.target, err, c.want)
		}
	}
	for _, c := range []struct {
		target string
		kinds  []codegen.Kind
		want   string
	}{
		{"host", nil, "llvm c"}, {"cortex-m4", nil, "board c"}, {"cortex-m4", []codegen.Kind{codegen.Source}, "c"},
		{"rpi3", []codegen.Kind{codegen.SO}, "llvm"}, {"rpi3", []codegen.Kind{codegen.Runnable}, "llvm c"},
	} {
		if got, err := compile.BackendsFor(c.target, c.kinds...); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s %v: %q (%v), want %s", c.target, c.kinds, got, err, c.want)
		}
	}
}
