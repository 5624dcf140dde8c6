package toolchain

import (
	"debug/elf"
	"fmt"

	"ripc/codegen/llvm/rows"
	"ripc/internal/elfbytes"
	"ripc/targets"
)

// dataObject is a relocatable ELF object of one section without code, as an assembler would make
// it. There is nothing in it to be relocated, so that it takes no tool.
type dataObject struct {
	section string
	flags   elf.SectionFlag
	align   int
	data    [][]byte     // pieces
	size    int          // of all pieces
	symbols []dataSymbol // global and hidden
}

type dataSymbol struct {
	name     string
	at, size int
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

// add puts pieces behind the others.
func (o *dataObject) add(pieces ...[]byte) {
	for _, p := range pieces {
		o.data, o.size = append(o.data, p), o.size+len(p)
	}
}

// object returns the object for a target: its header, the pieces, and the tables that describe
// them.
func (o *dataObject) object(tg targets.Target) (Object, error) {
	row, ok := rows.Of(tg)
	if !ok {
		return Object{}, fmt.Errorf("target %s: no ELF machine for architecture %q", tg.Name, tg.Arch)
	}
	class := elfbytes.Class(row.Class)
	var text elfbytes.Strings
	info := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT)
	symbols := class.Symbol(nil, elf.Sym64{})
	for _, s := range o.symbols {
		symbols = class.Symbol(symbols, elf.Sym64{Name: text.Add(s.name), Info: info, Other: byte(elf.STV_HIDDEN),
			Shndx: dataSection, Value: uint64(s.at), Size: uint64(s.size)})
	}
	list := [sections]elf.Section64{
		dataSection: {Name: text.Add(o.section), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(o.flags),
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
	return Object{Data: head, More: append(o.data, body)}, nil
}
