package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// dataObject is a relocatable ELF object of one section without code, as an assembler would make it. There is nothing in it to be
// relocated, so that it takes no tool.
type dataObject struct {
	section string
	flags   elf.SectionFlag
	align   int
	data    []byte
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

// names are the strings of an object, each with a NUL byte.
type names struct{ bytes.Buffer }

func (n *names) add(s string) uint32 {
	at := n.Len()
	n.WriteString(s)
	n.WriteByte(0)
	return uint32(at)
}

// bytes is the object for a target.
func (o *dataObject) bytes(tg targets.Target) ([]byte, error) {
	row, ok := rows.Of(tg)
	if !ok {
		return nil, fmt.Errorf("target %s: no ELF machine for architecture %q", tg.Name, tg.Arch)
	}
	var text names
	text.add("")
	wide := row.Class == elf.ELFCLASS64
	var symbols bytes.Buffer
	put := func(v any) { binary.Write(&symbols, binary.LittleEndian, v) } // to memory: it does not fail
	info := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT)
	if wide {
		put(elf.Sym64{})
	} else {
		put(elf.Sym32{})
	}
	for _, s := range o.symbols {
		if name := text.add(s.name); wide {
			put(elf.Sym64{Name: name, Info: info, Other: byte(elf.STV_HIDDEN), Shndx: dataSection, Value: uint64(s.at), Size: uint64(s.size)})
		} else {
			put(elf.Sym32{Name: name, Info: info, Other: byte(elf.STV_HIDDEN), Shndx: dataSection, Value: uint32(s.at), Size: uint32(s.size)})
		}
	}
	entry, header, word := elf.Sym64Size, binary.Size(elf.Header64{}), 8
	if !wide {
		entry, header, word = elf.Sym32Size, binary.Size(elf.Header32{}), 4
	}
	list := [sections]elf.Section64{
		dataSection:   {Name: text.add(o.section), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(o.flags), Addralign: uint64(o.align)},
		stackSection:  {Name: text.add(noExecStack), Type: uint32(elf.SHT_PROGBITS), Addralign: 1},
		symbolSection: {Name: text.add(".symtab"), Type: uint32(elf.SHT_SYMTAB), Link: stringSection, Info: 1, Addralign: uint64(word), Entsize: uint64(entry)},
		stringSection: {Name: text.add(".strtab"), Type: uint32(elf.SHT_STRTAB), Addralign: 1},
	}
	contents := [sections][]byte{dataSection: o.data, symbolSection: symbols.Bytes(), stringSection: text.Bytes()}
	var body bytes.Buffer
	body.Write(make([]byte, header))
	pad := func(n int) { body.Write(make([]byte, (n-body.Len()%n)%n)) }
	for i := dataSection; i < sections; i++ {
		pad(int(list[i].Addralign))
		list[i].Off, list[i].Size = uint64(body.Len()), uint64(len(contents[i]))
		body.Write(contents[i])
	}
	pad(word)
	at := body.Len()
	for _, s := range list {
		if wide {
			binary.Write(&body, binary.LittleEndian, s)
		} else {
			binary.Write(&body, binary.LittleEndian, elf.Section32{Name: s.Name, Type: s.Type, Flags: uint32(s.Flags), Off: uint32(s.Off), Size: uint32(s.Size),
				Link: s.Link, Info: s.Info, Addralign: uint32(s.Addralign), Entsize: uint32(s.Entsize)})
		}
	}
	ident := [elf.EI_NIDENT]byte{elf.EI_CLASS: byte(row.Class), elf.EI_DATA: byte(elf.ELFDATA2LSB), elf.EI_VERSION: byte(elf.EV_CURRENT), elf.EI_OSABI: byte(elf.ELFOSABI_LINUX)}
	copy(ident[:], elf.ELFMAG)
	var head bytes.Buffer
	h := elf.Header64{Ident: ident, Type: uint16(elf.ET_REL), Machine: uint16(row.Machine), Version: uint32(elf.EV_CURRENT), Shoff: uint64(at), Flags: row.Flags,
		Ehsize: uint16(header), Shentsize: uint16(binary.Size(elf.Section64{})), Shnum: sections, Shstrndx: stringSection}
	if wide {
		binary.Write(&head, binary.LittleEndian, h)
	} else {
		binary.Write(&head, binary.LittleEndian, elf.Header32{Ident: ident, Type: h.Type, Machine: h.Machine, Version: h.Version, Shoff: uint32(at), Flags: h.Flags,
			Ehsize: h.Ehsize, Shentsize: uint16(binary.Size(elf.Section32{})), Shnum: sections, Shstrndx: stringSection})
	}
	copy(body.Bytes(), head.Bytes())
	return body.Bytes(), nil
}
