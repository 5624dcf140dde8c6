// Package elfbytes writes the structures of little-endian ELF files. All are given as those of 64
// bits; in files of 32 bits numbers are cut, so that whoever makes one sees to it that they fit.
package elfbytes

import (
	"debug/elf"
	"encoding/binary"
)

// Retain is the flag of a section that linkers keep even if nothing refers to it, SHF_GNU_RETAIN.
const Retain elf.SectionFlag = 0x200000

// Class is the width of a file's addresses.
type Class elf.Class

func (c Class) wide() bool { return elf.Class(c) == elf.ELFCLASS64 }

// Word is the size of an address in bytes.
func (c Class) Word() int {
	if c.wide() {
		return 8
	}
	return 4
}

// put adds a structure of fixed size, which does not fail.
func put(to []byte, v any) []byte {
	to, _ = binary.Append(to, binary.LittleEndian, v)
	return to
}

// Header adds the file header. It fills in the identification and the sizes of the structures.
func (c Class) Header(to []byte, h elf.Header64) []byte {
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(c), byte(elf.ELFDATA2LSB),
		byte(elf.EV_CURRENT)
	copy(h.Ident[:], elf.ELFMAG)
	h.Version = uint32(elf.EV_CURRENT)
	h.Ehsize, h.Shentsize = uint16(c.HeaderSize()), uint16(c.SectionSize())
	if h.Phnum > 0 {
		h.Phentsize = uint16(c.ProgramSize())
	}
	if c.wide() {
		return put(to, h)
	}
	return put(to, elf.Header32{Ident: h.Ident, Type: h.Type, Machine: h.Machine, Version: h.Version,
		Entry: uint32(h.Entry), Phoff: uint32(h.Phoff), Shoff: uint32(h.Shoff),
		Flags: h.Flags, Ehsize: h.Ehsize, Phentsize: h.Phentsize, Phnum: h.Phnum, Shentsize: h.Shentsize,
		Shnum: h.Shnum, Shstrndx: h.Shstrndx})
}

// HeaderSize is the size of a file header in bytes.
func (c Class) HeaderSize() int { return c.size(elf.Header64{}, elf.Header32{}) }

// Program adds a program header.
func (c Class) Program(to []byte, p elf.Prog64) []byte {
	if c.wide() {
		return put(to, p)
	}
	return put(to, elf.Prog32{Type: p.Type, Off: uint32(p.Off), Vaddr: uint32(p.Vaddr), Paddr: uint32(p.Paddr),
		Filesz: uint32(p.Filesz), Memsz: uint32(p.Memsz), Flags: p.Flags, Align: uint32(p.Align)})
}

// ProgramSize is the size of a program header in bytes.
func (c Class) ProgramSize() int { return c.size(elf.Prog64{}, elf.Prog32{}) }

// Section adds a section header.
func (c Class) Section(to []byte, s elf.Section64) []byte {
	if c.wide() {
		return put(to, s)
	}
	return put(to, elf.Section32{Name: s.Name, Type: s.Type, Flags: uint32(s.Flags), Addr: uint32(s.Addr),
		Off: uint32(s.Off), Size: uint32(s.Size),
		Link: s.Link, Info: s.Info, Addralign: uint32(s.Addralign), Entsize: uint32(s.Entsize)})
}

// SectionSize is the size of a section header in bytes.
func (c Class) SectionSize() int { return c.size(elf.Section64{}, elf.Section32{}) }

// Symbol adds a symbol.
func (c Class) Symbol(to []byte, s elf.Sym64) []byte {
	if c.wide() {
		return put(to, s)
	}
	return put(to, elf.Sym32{Name: s.Name, Info: s.Info, Other: s.Other, Shndx: s.Shndx, Value: uint32(s.Value),
		Size: uint32(s.Size)})
}

// SymbolSize is the size of a symbol in bytes.
func (c Class) SymbolSize() int { return c.size(elf.Sym64{}, elf.Sym32{}) }

// Dynamic adds an entry of the dynamic section.
func (c Class) Dynamic(to []byte, tag elf.DynTag, v uint64) []byte {
	if c.wide() {
		return put(to, elf.Dyn64{Tag: int64(tag), Val: v})
	}
	return put(to, elf.Dyn32{Tag: int32(tag), Val: uint32(v)})
}

// DynamicSize is the size of an entry of the dynamic section in bytes.
func (c Class) DynamicSize() int { return c.size(elf.Dyn64{}, elf.Dyn32{}) }

func (c Class) size(wide, narrow any) int {
	if c.wide() {
		return binary.Size(wide)
	}
	return binary.Size(narrow)
}

// Strings are names with a NUL byte behind each, at offsets that other structures hold. The first
// is the empty one.
type Strings struct {
	text []byte
	at   map[string]uint32
}

// Add returns the offset of a name, which is added unless it is there.
func (s *Strings) Add(name string) uint32 {
	if s.at == nil {
		s.text, s.at = []byte{0}, map[string]uint32{"": 0}
	}
	at, ok := s.at[name]
	if !ok {
		at = uint32(len(s.text))
		s.at[name] = at
		s.text = append(append(s.text, name...), 0)
	}
	return at
}

// Bytes are all names.
func (s *Strings) Bytes() []byte {
	s.Add("")
	return s.text
}
