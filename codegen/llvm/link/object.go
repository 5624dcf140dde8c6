package link

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/elfbytes"
)

// object is the contents of a relocatable file. None of it is trusted before a check: a section's
// contents when it is read, its relocations when it is kept.
type object struct {
	name     string
	sections []*section
	symbols  []elf.Symbol // the first is the null symbol
}

// section is one of an object, on its way into the library.
type section struct {
	object *object
	header elf.SectionHeader
	data   []byte
	raw    [][]byte // relocations, as they lie in the file
	isKept bool
	relocs []reloc // of one that is kept
	part   *part   // and of the library, as soon as it is placed
	addr   uint64
}

// reloc is a place in a section that holds the address of something.
type reloc struct {
	offset  uint64 // in the section, which has four bytes there
	origin  uint64 // offset that distances are counted from: offset, or the first half's of a pair
	kind    kind
	symbol  uint32   // in the object
	section *section // that the symbol lies in
	value   uint64   // of the symbol, in that section
	addend  int64
}

// target returns the address that a relocation refers to.
func (r reloc) target() uint64 { return r.section.addr + r.value + uint64(r.addend) }

// UnsupportedError names a feature of an object that this linker does not support.
type UnsupportedError struct {
	Object string
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("object %s cannot be linked without a tool: %s", e.Object, e.What)
}

// fail gives up with an *UnsupportedError, which SharedLibrary returns.
func (o *object) fail(format string, args ...any) {
	panic(failure{&UnsupportedError{o.name, fmt.Sprintf(format, args...)}})
}

func (s *section) fail(format string, args ...any) {
	s.object.fail("section %s: %s", s.header.Name, fmt.Sprintf(format, args...))
}

// failure carries the error of SharedLibrary.
type failure struct{ error }

// read finds the sections and symbols of a file.
func read(file toolchain.Object, row rows.Row) *object {
	o := &object{name: file.Name}
	data := file.Bytes()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		o.fail("%v", err)
	}
	if f.Type != elf.ET_REL || f.Machine != row.Machine || f.Class != row.Class || f.Data != elf.ELFDATA2LSB {
		o.fail("it is %v %v %v %v, not an object for %v", f.Type, f.Class, f.Data, f.Machine, row.Machine)
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		o.fail("%v", err)
	}
	o.symbols = append(make([]elf.Symbol, 1, 1+len(symbols)), symbols...)
	left := uint64(len(data)) // no two sections share bytes of the file
	for _, s := range f.Sections {
		in := &section{object: o, header: s.SectionHeader}
		o.sections = append(o.sections, in)
		if s.Type == elf.SHT_NULL || s.Type == elf.SHT_NOBITS {
			continue
		}
		if s.FileSize > left || s.Offset > uint64(len(data))-s.FileSize {
			in.fail("%d bytes at %d are not in the file", s.FileSize, s.Offset)
		}
		left -= s.FileSize
		in.data = data[s.Offset : s.Offset+s.FileSize]
	}
	for _, s := range o.sections {
		if s.header.Type != elf.SHT_REL && s.header.Type != elf.SHT_RELA {
			continue
		}
		if s.header.Info == 0 || int(s.header.Info) >= len(o.sections) || int(s.header.Link) >= len(o.sections) ||
			o.sections[s.header.Link].header.Type != elf.SHT_SYMTAB {
			s.fail("relocations of section %d by symbols of section %d", s.header.Info, s.header.Link)
		}
		if rela := s.header.Type == elf.SHT_RELA; rela != (row.Class == elf.ELFCLASS64) {
			s.fail("relocations of type %v", s.header.Type)
		}
		to := o.sections[s.header.Info]
		to.raw = append(to.raw, s.data)
	}
	return o
}

// usable fails unless the section can be a part of the library.
func (s *section) usable() {
	const known = elf.SHF_ALLOC | elf.SHF_EXECINSTR | elf.SHF_MERGE | elf.SHF_STRINGS | elfbytes.Retain
	switch h := s.header; {
	case h.Type != elf.SHT_PROGBITS || h.Flags&elf.SHF_ALLOC == 0:
		s.fail("code or data of type %v, %v", h.Type, h.Flags)
	case h.Flags&^known != 0:
		s.fail("flags %v", h.Flags)
	case h.Addralign > lineBytes || h.Addralign&(h.Addralign-1) != 0:
		s.fail("an alignment of %d", h.Addralign)
	}
}

// decode reads the relocations of the section. Symbols that the object does not define are looked
// up in defined, which gives nil for those that nobody defines.
func (s *section) decode(a arch, class elf.Class, defined func(name string) *definition) {
	size := 24 // Elf64_Rela
	if class == elf.ELFCLASS32 {
		size = 8 // Elf32_Rel
	}
	complete := true
	for _, raw := range s.raw {
		if len(raw)%size != 0 {
			s.fail("%d bytes of relocations", len(raw))
		}
		for ; len(raw) > 0; raw = raw[size:] {
			var r reloc
			var number uint32
			if class == elf.ELFCLASS64 {
				r.offset, number, r.symbol, r.addend = binary.LittleEndian.Uint64(raw),
					binary.LittleEndian.Uint32(raw[8:]),
					binary.LittleEndian.Uint32(raw[12:]), int64(binary.LittleEndian.Uint64(raw[16:]))
			} else {
				info := binary.LittleEndian.Uint32(raw[4:])
				r.offset, number, r.symbol = uint64(binary.LittleEndian.Uint32(raw)), info&0xff, info>>8
			}
			if number == 0 { // R_*_NONE
				continue
			}
			var known bool
			if r.kind, known = a.kinds[number]; !known {
				s.fail("a relocation of kind %d at %#x", number, r.offset)
			}
			if r.offset > uint64(len(s.data)) || uint64(len(s.data))-r.offset < 4 {
				s.fail("a relocation at %#x of %#x bytes", r.offset, len(s.data))
			}
			if r.kind.addend != nil {
				var ok bool
				if r.addend, ok = r.kind.addend(binary.LittleEndian.Uint32(s.data[r.offset:])); !ok {
					s.fail("a relocation of kind %d on other code at %#x", number, r.offset)
				}
			}
			if r.symbol == 0 || int(r.symbol) >= len(s.object.symbols) {
				s.fail("no symbol %d, which the relocation at %#x names", r.symbol, r.offset)
			}
			symbol := s.object.symbols[r.symbol]
			if symbol.Section == elf.SHN_UNDEF {
				d := defined(symbol.Name)
				if d == nil {
					complete = false
					continue // it is reported with all others
				}
				r.section, r.value = d.section, d.symbol.Value
			} else {
				r.section, r.value = s.object.home(symbol), symbol.Value
			}
			if r.value > uint64(len(r.section.data)) {
				s.fail("symbol %q at %#x of section %s", symbol.Name, r.value, r.section.header.Name)
			}
			r.origin = r.offset
			s.relocs = append(s.relocs, r)
			if r.kind.role == pair {
				if uint64(len(s.data))-r.offset < 8 {
					s.fail("a relocation at %#x of %#x bytes", r.offset, len(s.data))
				}
				r.kind, r.offset = *r.kind.low, r.offset+4
				s.relocs = append(s.relocs, r)
			}
		}
	}
	if complete {
		s.resolveLabels()
	}
}

// resolveLabels gives the second halves of pairs the addresses of their first halves.
func (s *section) resolveLabels() {
	firsts := map[uint64]reloc{}
	for _, r := range s.relocs {
		if r.kind.role == other {
			firsts[r.offset] = r
		}
	}
	for i, r := range s.relocs {
		if r.kind.role != labelled {
			continue
		}
		first, ok := firsts[r.value]
		if !ok || r.section != s || r.addend != 0 {
			s.fail("the relocation at %#x is the second half of none", r.offset)
		}
		first.offset, first.kind = r.offset, r.kind
		s.relocs[i] = first
	}
}

// home is the section that a symbol of the object lies in.
func (o *object) home(s elf.Symbol) *section {
	switch kind := elf.ST_TYPE(s.Info); {
	case int(s.Section) >= len(o.sections): // reserved numbers, too: absolute ones, common blocks
		o.fail("symbol %q in section %v", s.Name, s.Section)
	case kind > elf.STT_SECTION:
		o.fail("symbol %q of type %v", s.Name, kind)
	}
	return o.sections[s.Section]
}
