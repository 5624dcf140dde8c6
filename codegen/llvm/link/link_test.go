package link_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/caches"
	"ripc/codegen"
	"ripc/codegen/llvm/link"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/runtime/describe"
	"ripc/targets"
)

func needTools(t testing.TB) *toolchain.Tools {
	t.Helper()
	tools, err := toolchain.Find()
	need.OK(t, err)
	return tools
}

func lookup(t testing.TB, name string) targets.Target {
	t.Helper()
	tg, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// network is what a library of a model is linked of, and what it exports.
func network(t testing.TB, tools *toolchain.Tools, model string, tg targets.Target) (objs []toolchain.Object, exports []string) {
	t.Helper()
	ctx := context.Background()
	c, err := ripc.Compile(ctx, filepath.Join("..", "..", "..", "examples", model), ripc.Options{Target: tg.Name, Emit: []codegen.Kind{codegen.LL}})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := caches.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []toolchain.Job
	for _, text := range strings.Split(string(c.Files[codegen.LL]), "; module ")[1:] {
		name, ll, _ := strings.Cut(text, "\n")
		jobs = append(jobs, toolchain.Job{Name: name, LL: []byte(ll), Target: tg})
	}
	compiled, err := tools.CompileAll(ctx, cache, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range compiled {
		objs = append(objs, toolchain.Object{Name: jobs[i].Name, Data: data})
	}
	var weights []byte
	for _, b := range c.Program.Buffers {
		weights = append(weights, b.Data...)
	}
	constants, err := toolchain.Constants(tg, []toolchain.Blob{{Symbol: abi.Weights, Data: [][]byte{weights}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := toolchain.Section(tg, describe.Section, abi.Describe, []byte(c.Program.Name), 32)
	if err != nil {
		t.Fatal(err)
	}
	objs = append(objs, constants, toolchain.Object{Name: "description", Data: text})
	return objs, abi.Exports(codegen.Identifier(c.Program.Name))
}

// loaded are the sections of a library that hold what its objects brought.
func loaded(t testing.TB, lib []byte) map[string]*elf.Section {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(lib))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*elf.Section{}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_ALLOC != 0 {
			all[s.Name] = s
		}
	}
	return all
}

// byTool links with ld.lld, all sections where lib has them, equal constants as often as there are, and what is exported called like the rest.
func byTool(t testing.TB, tools *toolchain.Tools, tg targets.Target, objs []toolchain.Object, exports []string, lib []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	row, _ := rows.Of(tg)
	script := filepath.Join(dir, "exports")
	out := filepath.Join(dir, "out")
	args := []string{"-shared", "-O0", "-Bsymbolic", "-m", row.Emulation, "--version-script=" + script, "--gc-sections", "-o", out}
	for _, s := range loaded(t, lib) {
		args = append(args, fmt.Sprintf("--section-start=%s=%#x", s.Name, s.Addr))
	}
	if err := os.WriteFile(script, []byte("{ global: "+strings.Join(exports, "; ")+"; local: *; };\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, o := range objs {
		file := filepath.Join(dir, fmt.Sprint(i, ".o"))
		if err := os.WriteFile(file, o.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	if _, err := tools.Run(context.Background(), "ld.lld", nil, args...); err != nil {
		t.Fatal(err)
	}
	linked, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return linked
}

// TestLikeTool compares what is linked here with what ld.lld makes of the same objects at the same addresses: every byte of code and
// constants, and what is exported.
func TestLikeTool(t *testing.T) {
	tools := needTools(t)
	type one struct{ model, target string }
	var all []one
	for _, tg := range targets.All() {
		if row, ok := rows.Of(tg); ok && row.Format == rows.ELF {
			all = append(all, one{"digits/digits.json", tg.Name})
		}
	}
	for _, target := range []string{"x86-64-v3", "rpi3", "rpi3-armv7"} {
		all = append(all, one{"convs/convB_n2_unipolar.json", target}, one{"squeezenet/squeezenet.json", target})
	}
	takes := need.Part(t, 3)
	for i, c := range all {
		if !takes(i) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(c.model), ".json")+"/"+c.target, func(t *testing.T) {
			tg := lookup(t, c.target)
			objs, exports := network(t, tools, c.model, tg)
			lib, err := link.SharedLibrary(tg, objs, exports, "net.so")
			if err != nil {
				t.Fatal(err)
			}
			tool := byTool(t, tools, tg, objs, exports, lib)
			got, want := loaded(t, lib), loaded(t, tool)
			if len(got) != len(want) || len(got) < 3 {
				t.Fatalf("%d sections, and %d by ld.lld", len(got), len(want))
			}
			for name, s := range want {
				same(t, name, got[name], s)
			}
			if err := toolchain.CheckShared(bytes.NewReader(lib), exports); err != nil {
				t.Error(err)
			}
		})
	}
}

// same compares a section with ld.lld's. Between functions of 32-bit Arm, which lie at multiples of 16, ld.lld has words of its own.
func same(t *testing.T, name string, got, want *elf.Section) {
	t.Helper()
	if got == nil || got.Addr != want.Addr || got.Size != want.Size {
		t.Errorf("%s: %+v, by ld.lld %+v", name, got, want.SectionHeader)
		return
	}
	a, err := got.Data()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Data()
	if err != nil {
		t.Fatal(err)
	}
	gap := []byte{0xd4, 0xd4, 0xd4, 0xd4}
	for at := 0; at < len(a); at += 4 {
		x, y := a[at:min(at+4, len(a))], b[at:min(at+4, len(a))]
		if !bytes.Equal(x, y) && !(name == ".text" && bytes.Equal(y, gap) && bytes.Equal(x, make([]byte, 4))) {
			t.Errorf("%s at %#x: % x, by ld.lld % x", name, at, x, y)
			return
		}
	}
}
