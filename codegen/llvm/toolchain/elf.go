package toolchain

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ripc/codegen/llvm/rows"
	"ripc/internal/elfbytes"
)

// elfFiles is the container of all machines that run Linux.
type elfFiles struct{}

func (elfFiles) maps() bool { return true }

func (elfFiles) flags() []string { return []string{"-relocation-model=pic"} }

func (elfFiles) link(ctx context.Context, t *Tools, row rows.Row, l linking) error {
	args := []string{
		"-shared", "-m", row.Emulation, "-soname", l.name, "--version-script=exports",
		"--no-undefined", "--undefined-version", "--fatal-warnings", "--gc-sections", "--build-id=none",
		"--hash-style=gnu", "--threads=1", "-z", "noexecstack", "-z", "now",
		"-z", fmt.Sprint("max-page-size=", row.PageSize),
	}
	script := "{ global: " + strings.Join(l.exports, "; ") + "; local: *; };\n"
	if err := os.WriteFile(filepath.Join(l.dir, "exports"), []byte(script), 0o666); err != nil {
		return err
	}
	if _, err := t.run(ctx, l.dir, "ld.lld", nil, append(append(args, "-o", l.out), l.files...)...); err != nil {
		return err
	}
	return checkFile(l.out, l.exports, CheckShared)
}

// The sections of such an object, in order.
const (
	dataSection = iota + 1
	stackSection
	symbolSection
	stringSection
	sections
)

// noExecStack is the section that says that the object needs no stack that can be executed.
const noExecStack = ".note.GNU-stack"

// data returns the object: its header, the pieces, and the tables that describe them.
func (elfFiles) data(o *dataObject, row rows.Row) Object {
	class := elfbytes.Class(row.Class)
	flags := elf.SHF_ALLOC
	if o.retain {
		flags |= elfbytes.Retain
	}
	var text elfbytes.Strings
	info := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT)
	symbols := class.Symbol(nil, elf.Sym64{})
	for _, s := range o.symbols {
		symbols = class.Symbol(symbols, elf.Sym64{Name: text.Add(s.name), Info: info, Other: byte(elf.STV_HIDDEN),
			Shndx: dataSection, Value: uint64(s.at), Size: uint64(s.size)})
	}
	list := [sections]elf.Section64{
		dataSection: {Name: text.Add(o.section), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(flags),
			Addralign: uint64(o.align)},
		stackSection: {Name: text.Add(noExecStack), Type: uint32(elf.SHT_PROGBITS), Addralign: 1},
		symbolSection: {Name: text.Add(".symtab"), Type: uint32(elf.SHT_SYMTAB), Link: stringSection, Info: 1,
			Addralign: uint64(class.Word()), Entsize: uint64(class.SymbolSize())},
		stringSection: {Name: text.Add(".strtab"), Type: uint32(elf.SHT_STRTAB), Addralign: 1},
	}
	head := make([]byte, class.HeaderSize(), class.HeaderSize()+o.align)
	head = append(head, make([]byte, (o.align-len(head)%o.align)%o.align)...)
	list[dataSection].Off, list[dataSection].Size = uint64(len(head)), uint64(o.size)
	contents := [sections][]byte{symbolSection: symbols, stringSection: text.Bytes()}
	start := len(head) + o.size // of body, behind the pieces
	var body []byte
	pad := func(n int) { body = append(body, make([]byte, (n-(start+len(body))%n)%n)...) }
	for i := dataSection + 1; i < sections; i++ {
		pad(int(list[i].Addralign))
		list[i].Off, list[i].Size = uint64(start+len(body)), uint64(len(contents[i]))
		body = append(body, contents[i]...)
	}
	pad(class.Word())
	h := elf.Header64{Type: uint16(elf.ET_REL), Machine: uint16(row.Machine), Shoff: uint64(start + len(body)),
		Flags: row.Flags, Shnum: sections, Shstrndx: stringSection}
	h.Ident[elf.EI_OSABI] = byte(elf.ELFOSABI_LINUX)
	for _, s := range list {
		body = class.Section(body, s)
	}
	copy(head, class.Header(nil, h))
	return Object{Data: head, More: append(o.data, body)}
}
