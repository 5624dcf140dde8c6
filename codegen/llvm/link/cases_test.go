package link_test

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"ripc/codegen/llvm/link"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/targets"
)

// assemble makes objects of assembly.
func assemble(t testing.TB, tools *toolchain.Tools, tg targets.Target, texts ...string) []toolchain.Object {
	t.Helper()
	row, _ := rows.Of(tg)
	var objs []toolchain.Object
	for _, text := range texts {
		obj, err := tools.Run(context.Background(), "llvm-mc", []byte(text), "-triple="+row.Triple, "-mattr="+row.Attrs, "-filetype=obj", "-o", "-", "-")
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, toolchain.Object{Name: "assembly", Data: obj})
	}
	return objs
}

// head begins assembly with a function.
const head = "\t.section .text.net_run,\"ax\"\n\t.globl net_run\n\t.type net_run,%function\nnet_run:\n"

// second is another object: a function, and constants, of which one is a megabyte away from the other.
const second = `	.section .text.other,"ax"
	.globl other
	.hidden other
other:	.long 0
	.section .rodata.near,"a"
	.globl near
	.hidden near
	.balign 16
near:	.zero 64
	.section .rodata.afar,"a"
	.globl far
	.hidden far
	.balign 16
far:	.zero 64
	.zero 1 << 20
`

// kinds has all relocations that are known, by architecture.
func kinds() map[string]string {
	return map[string]string{
		"x86-64-v3": head + "\tcall other\n\tjmp other@PLT\n\tlea near(%rip), %rax\n\tmov far+8(%rip), %rax\n\tcall net_run\n\tret\n\t.globl net_run\n",
		"rpi3": head + `	bl other
	b other
	bl net_run
	adrp x0, near
	add x0, x0, :lo12:near
	adrp x1, near+16
	add x1, x1, :lo12:near+16
	adrp x2, near
	add x3, x2, :lo12:near
	adrp x4, far
	add x4, x4, :lo12:far
	adrp x5, near
	ldrb w6, [x5, :lo12:near+5]
	ldrh w6, [x5, :lo12:near+6]
	ldr w6, [x5, :lo12:near+12]
	ldr x6, [x5, :lo12:near+24]
	ldr q6, [x5, :lo12:near+48]
	adrp x7, near
	nop
	add x7, x7, :lo12:near
	ret
`,
		"rpi3-armv7": head + `	bl other
	blne other
	b other
	beq other
	bl net_run
here:	.long near - here
	.long far - here + 4
	bx lr
`,
		"bpi-f3": head + `	call other
	tail other@plt
	call net_run
a:	auipc a0, %pcrel_hi(near)
	addi a0, a0, %pcrel_lo(a)
b:	auipc a1, %pcrel_hi(far+16)
	ld a2, %pcrel_lo(b)(a1)
	flw fa0, %pcrel_lo(b)(a1)
	sd a2, %pcrel_lo(b)(a1)
	fsw fa0, %pcrel_lo(a)(a0)
	ret
`,
	}
}

// TestKinds compares every kind of relocation with what ld.lld makes of it.
func TestKinds(t *testing.T) {
	tools := needTools(t)
	for name, text := range kinds() {
		tg := lookup(t, name)
		objs := assemble(t, tools, tg, text, second)
		lib, err := link.SharedLibrary(tg, objs, []string{"net_run"}, "net.so")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, want := loaded(t, lib), loaded(t, byTool(t, tools, tg, objs, []string{"net_run"}, lib))
		for _, section := range []string{".text", ".rodata"} {
			if want[section] == nil {
				t.Fatalf("%s: no %s", name, section)
			}
			same(t, section, got[section], want[section])
		}
	}
}

// TestLibrary looks at what a dynamic linker and the rest of ripc look at.
func TestLibrary(t *testing.T) {
	tools := needTools(t)
	for name, text := range kinds() {
		tg := lookup(t, name)
		unused := "\t.section .text.unused,\"ax\"\n\t.globl unused\n\t.hidden unused\nunused:\t.zero 100\n\tcall_nobody = 0\n"
		objs := assemble(t, tools, tg, text, second, unused, "\t.data\n\t.zero 8\n")
		described, err := toolchain.Section(tg, ".ripc.x", "text", []byte("kept"), 3)
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, toolchain.Object{Name: "text", Data: described})
		lib, err := link.SharedLibrary(tg, objs, []string{"net_run"}, "net.so")
		if err != nil {
			t.Fatal(err)
		}
		again, err := link.SharedLibrary(tg, objs, []string{"net_run"}, "net.so")
		if err != nil || !bytes.Equal(lib, again) {
			t.Errorf("%s: linking twice gives different libraries (%v)", name, err)
		}
		if err := toolchain.CheckShared(bytes.NewReader(lib), []string{"net_run"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f, err := elf.NewFile(bytes.NewReader(lib))
		if err != nil {
			t.Fatal(err)
		}
		if so, err := f.DynString(elf.DT_SONAME); err != nil || len(so) != 1 || so[0] != "net.so" {
			t.Errorf("%s: soname %v, %v", name, so, err)
		}
		if s := f.Section(".ripc.x"); s == nil || s.Size != 8 {
			t.Errorf("%s: a section to be kept: %+v", name, s)
		}
		row, _ := rows.Of(tg)
		memory(t, name, f, row.PageSize)
		all, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]elf.Symbol{}
		for _, s := range all {
			seen[s.Name] = s
		}
		if _, ok := seen["unused"]; ok || elf.ST_BIND(seen["net_run"].Info) != elf.STB_GLOBAL || elf.ST_BIND(seen["near"].Info) != elf.STB_LOCAL || seen["near"].Value%16 != 0 {
			t.Errorf("%s: symbols %+v", name, all)
		}
		if code := f.Section(".text"); seen["net_run"].Value < code.Addr || code.Addr%64 != 0 {
			t.Errorf("%s: net_run at %#x, code at %#x", name, seen["net_run"].Value, code.Addr)
		}
	}
}

// memory checks what is mapped: no page has two kinds of contents, nothing is written to and run, and the stack is not run.
func memory(t *testing.T, name string, f *elf.File, page uint64) {
	t.Helper()
	var end uint64
	flags := map[elf.ProgFlag]bool{}
	stack := false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if p.Vaddr&^(page-1) < end || p.Vaddr%page != p.Off%page || p.Align != page {
				t.Errorf("%s: %+v behind %#x", name, p.ProgHeader, end)
			}
			end = (p.Vaddr + p.Memsz + page - 1) &^ (page - 1)
			flags[p.Flags] = true
		case elf.PT_GNU_STACK:
			stack = p.Flags&elf.PF_X == 0
		}
	}
	if len(flags) != 3 || !flags[elf.PF_R] || !flags[elf.PF_R|elf.PF_X] || !flags[elf.PF_R|elf.PF_W] || !stack {
		t.Errorf("%s: segments %v, stack %v", name, flags, stack)
	}
}

// TestRefused has what this linker leaves to ld.lld, and what nobody can link.
func TestRefused(t *testing.T) {
	tools := needTools(t)
	for _, c := range []struct{ what, target, text, message string }{
		{"written data", "rpi3", head + "\tadrp x0, d\n\tret\n\t.data\nd:\t.zero 8\n", "section .data"},
		{"no data in the file", "rpi3", head + "\tadrp x0, d\n\tret\n\t.bss\nd:\t.zero 8\n", "section .bss"},
		{"data of threads", "x86-64-v3", head + "\tmov d@GOTTPOFF(%rip), %rax\n\t.section .tdata,\"awT\"\nd:\t.zero 8\n", "kind 22"},
		{"a table of addresses", "x86-64-v3", head + "\tmov other@GOTPCREL(%rip), %rax\n", "kind 42"},
		{"an address", "x86-64-v3", head + "\tlea d(%rip), %rax\n\t.section .rodata.d,\"a\"\nd:\t.quad other\n", "kind 1"},
		{"an address", "rpi3-armv7", head + "\t.long other\n", "kind 2"},
		{"a symbol that others may replace", "rpi3", head + "\tret\n\t.weak w\nw:\tret\n", "STB_WEAK"},
		{"a common block", "rpi3", head + "\tret\n\t.comm c,8,8\n", "SHN_COMMON"},
		{"a number for an address", "rpi3", head + "\tbl x\n\tx = 64\n", "no symbol"},
		{"a number for an address", "rpi3", head + "\tbl x\n\t.globl x\n\tx = 64\n", "SHN_ABS"},
		{"a function that chooses one", "x86-64-v3", head + "\tcall g\n\t.globl g\n\t.type g,@gnu_indirect_function\ng:\tret\n", "STT_LOOS"},
		{"a large alignment", "rpi3", head + "\t.balign 4096\n\tret\n", "alignment of 4096"},
		{"a group", "rpi3", strings.Replace(head, `"ax"`, `"axG",%progbits,group,comdat`, 1) + "\tret\n", "SHF_GROUP"},
		{"too far away", "rpi3-armv7", head + "\tbl other\n\tbx lr\n\t.zero 1 << 25\n", "too far away"},
		{"not aligned", "rpi3", head + "\tadrp x0, near\n\tldr x0, [x0, :lo12:near+4]\n", "not aligned"},
		{"other instructions", "rpi3-armv7", head + "\tbl t\n\tbx lr\n\t.section .text.t,\"ax\"\n\t.thumb\n\t.globl t\n\t.type t,%function\n\t.hidden t\nt:\tbx lr\n", "not aligned"},
		{"half a pair", "bpi-f3", head + "\t.reloc ., R_RISCV_PCREL_LO12_I, other\n\t.long 0x13\n", "second half of none"},
		{"half a call", "bpi-f3", head + "\t.reloc ., R_RISCV_CALL_PLT, other\n\tret\n\tnop\n", "of 0x4 bytes"},
		{"too far away", "bpi-f3", head + "\ta: auipc a0, %pcrel_hi(near-0x7fffffff)\n", "too far away"},
		{"a change of instructions", "rpi3-armv7", head + "\tblx other\n", "kind 28"},
	} {
		tg := lookup(t, c.target)
		_, err := link.SharedLibrary(tg, assemble(t, tools, tg, c.text, second), []string{"net_run"}, "net.so")
		var unsupported *link.UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	tg := lookup(t, "rpi3")
	objs := assemble(t, tools, tg, kinds()["rpi3"], second)
	var undefined *toolchain.UndefinedError
	if _, err := link.SharedLibrary(tg, objs[:1], []string{"net_run"}, "net.so"); !errors.As(err, &undefined) || strings.Join(undefined.Symbols, " ") != "far near other" {
		t.Errorf("without what is referred to: %v", err)
	}
	var missing *toolchain.ExportError
	if _, err := link.SharedLibrary(tg, objs, []string{"net_run", "other", "nothing"}, "net.so"); !errors.As(err, &missing) || strings.Join(missing.Missing, " ") != "other nothing" {
		t.Errorf("exports that are hidden or nowhere: %v", err)
	}
	var twice *toolchain.SymbolError
	for _, c := range []struct {
		objs    []toolchain.Object
		exports []string
	}{{append(objs, objs[1]), []string{"net_run"}}, {objs, []string{"net_run", "net_run"}}} {
		if _, err := link.SharedLibrary(tg, c.objs, c.exports, "net.so"); !errors.As(err, &twice) || !twice.Repeated {
			t.Errorf("twice the same: %v", err)
		}
	}
	if _, err := link.SharedLibrary(tg, objs, nil, "net.so"); err == nil {
		t.Error("a library without exports")
	}
	if _, err := link.SharedLibrary(lookup(t, "x86-64-v3"), objs, []string{"net_run"}, "net.so"); err == nil {
		t.Error("objects of another architecture")
	}
	if _, err := link.SharedLibrary(targets.Target{Name: "vax", Arch: "vax"}, objs, []string{"net_run"}, "net.so"); err == nil {
		t.Error("a target that nothing is known of")
	}
}

// small are objects of a few kilobytes with all kinds of relocations, each complete in itself.
func small(t testing.TB) (objs []toolchain.Object, of []targets.Target) {
	tools := needTools(t)
	for _, name := range []string{"x86-64-v3", "rpi3", "rpi3-armv7", "bpi-f3"} {
		tg := lookup(t, name)
		objs, of = append(objs, assemble(t, tools, tg, kinds()[name]+strings.ReplaceAll(second, "1 << 20", "64"))...), append(of, tg)
	}
	return objs, of
}

// damaged links an object of which nothing is known: that fails, or gives a library of which every table can be read, and takes not much
// more memory than the object.
func damaged(t testing.TB, tg targets.Target, data []byte) {
	lib, err := link.SharedLibrary(tg, []toolchain.Object{{Name: "damaged", Data: data}}, []string{"net_run"}, "net.so")
	if err != nil {
		return
	}
	if len(lib) > 1<<13+64*len(data) {
		t.Errorf("%d bytes of %d", len(lib), len(data))
	}
	if err := toolchain.CheckShared(bytes.NewReader(lib), []string{"net_run"}); err != nil {
		t.Error(err)
	}
}

// TestDamaged changes every byte of objects.
func TestDamaged(t *testing.T) {
	objs, of := small(t)
	for i, o := range objs {
		for at, was := range o.Data {
			for _, now := range []byte{0, was ^ 1, was ^ 0x80, 0xff} {
				o.Data[at] = now
				damaged(t, of[i], o.Data)
			}
			o.Data[at] = was
			if at%16 == 0 {
				damaged(t, of[i], o.Data[:at])
			}
		}
	}
}

func FuzzShared(f *testing.F) {
	objs, of := small(f)
	for i, o := range objs {
		f.Add(i, o.Data)
	}
	f.Fuzz(func(t *testing.T, target int, data []byte) { damaged(t, of[max(0, target)%len(of)], data) })
}
