package verify_test

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/container"
	"ripc/ir"
	"ripc/runtime/describe"
	"ripc/targets"
	"ripc/verify"
)

// relink builds a library of tiny from the text of its modules, after a change.
func relink(t *testing.T, tg targets.Target, files map[codegen.Kind][]byte, p *ir.Program, module, old, new string) []byte {
	t.Helper()
	tools, ctx := needTools(t), context.Background()
	var objs []toolchain.Object
	for _, text := range strings.Split(string(files[codegen.LL]), "; module ")[1:] {
		name, ll, _ := strings.Cut(text, "\n")
		if name == module {
			if !strings.Contains(ll, old) {
				t.Fatalf("no %q in module %s:\n%s", old, name, ll)
			}
			ll = strings.Replace(ll, old, new, 1)
		}
		obj, err := tools.Compile(ctx, nil, []byte(ll), tg, toolchain.Obj)
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, toolchain.Object{Name: name, Data: obj})
	}
	var weights []byte
	for _, b := range p.Buffers {
		if b.Kind == ir.ConstBuf {
			weights = append(weights, make([]byte, -len(weights)&63)...)
			weights = append(weights, b.Data...)
		}
	}
	obj, err := toolchain.Constants(tg, []toolchain.Blob{{Symbol: "ripc_weights", Data: [][]byte{weights}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(files[codegen.SO]))
	if err != nil {
		t.Fatal(err)
	}
	content, err := f.Section(describe.Section).Data()
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := container.Cut(content)
	if err != nil {
		t.Fatal(err)
	}
	desc, err := toolchain.Section(tg, describe.Section, "ripc_describe_text", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var exports []string
	for _, s := range symbols {
		exports = append(exports, s.Name)
	}
	objs = append(objs, obj, toolchain.Object{Name: "d", Data: desc})
	out := filepath.Join(t.TempDir(), "new.so")
	if err := tools.LinkShared(ctx, tg, objs, exports, "tiny.so", out); err != nil {
		t.Fatal(err)
	}
	so, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return so
}

// TestChangedCode changes an instruction in the text of a kernel, and an address in the driver's.
func TestChangedCode(t *testing.T) {
	tg := machine(t, targets.HostName)
	p := tiny(true, ir.Xor)
	files := build(t, tg, p)
	if same := relink(t, tg, files, p, "ripc_dense", "xor", "xor"); !check(t, same, p, 1).OK {
		t.Error("the library differs without a change")
	}
	s := wrong(t, check(t, relink(t, tg, files, p, "ripc_dense", "= xor ", "= and "), p, 2), 1, verify.Codegen)
	if s.Func != "dense" || len(s.Stray) != 0 {
		t.Errorf("%+v", s)
	}
	s = wrong(t, check(t, relink(t, tg, files, p, "tiny_driver", "%arg.1.2 = getelementptr i8, ptr %ws, i64 0",
		"%arg.1.2 = getelementptr i8, ptr %ws, i64 64"), p, 1), 1, verify.Codegen)
	if len(s.Stray) != 1 || s.Stray[0].Where != "arena" || s.Stray[0].First < 4*rows*classes {
		t.Errorf("%+v", s)
	}
}
