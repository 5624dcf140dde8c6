package link

import (
	"debug/elf"
	"encoding/binary"
	"strings"

	"ripc/internal/elfbytes"
)

// file is the library: headers, and parts one behind the other.
type file struct {
	class elfbytes.Class
	head  elf.Header64
	page  uint64
	parts []*part
	names *part // of the parts
	// between is a word that lies between functions.
	between uint32
}

// part is a section of the library.
type part struct {
	number   int // of its header
	name     string
	kind     elf.SectionType
	flags    elf.SectionFlag
	align    uint64
	entry    int   // bytes of an entry of a table
	link     *part // that this one refers to
	info     int   // of a table of symbols: number of the first one that is global
	size     uint64
	data     []byte     // size bytes, or nothing as long as it is not known
	sections []*section // instead of data

	off, addr uint64
}

// The parts that merge sections of several names.
const (
	codePart     = ".text"
	constantPart = ".rodata"
)

// lineBytes is the alignment of the code as a whole. So a kernel's position in its cache lines does
// not depend on the length of the constants and the description before it. No section of ripc's
// needs more.
const lineBytes = 64

// The kinds of memory: read-only, code, and writable by the dynamic linker.
const (
	readMemory  = elf.SHF_ALLOC
	codeMemory  = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	writeMemory = elf.SHF_ALLOC | elf.SHF_WRITE
)

// programs is the number of program headers: one for each kind of memory, one for the dynamic
// table, one for the stack.
const programs = 5

// layout places the kept sections, and makes the tables for them.
func (l *linker) layout(shown []*definition, soname string) *file {
	f := &file{class: elfbytes.Class(l.row.Class), page: l.row.PageSize, between: l.arch.between,
		head: elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(l.row.Machine), Flags: l.row.Flags}}
	word := uint64(f.class.Word())
	var names elfbytes.Strings
	for _, d := range shown {
		names.Add(d.symbol.Name)
	}
	text := &part{name: ".dynstr", kind: elf.SHT_STRTAB, flags: readMemory, align: 1}
	symbols := &part{name: ".dynsym", kind: elf.SHT_DYNSYM, flags: readMemory, align: word, entry: f.class.SymbolSize(),
		link: text, info: 1, size: uint64(f.class.SymbolSize() * (1 + len(shown)))}
	table := &part{name: ".hash", kind: elf.SHT_HASH, flags: readMemory, align: word, entry: 4, link: symbols,
		data: hashes(shown)}
	dynamic := &part{name: ".dynamic", kind: elf.SHT_DYNAMIC, flags: writeMemory, align: word,
		entry: f.class.DynamicSize(), link: text}
	entries := func() []byte {
		var all []byte
		for _, e := range []struct {
			tag elf.DynTag
			v   uint64
		}{
			{elf.DT_SONAME, uint64(names.Add(soname))}, {elf.DT_HASH, table.addr}, {elf.DT_STRTAB, text.addr},
			{elf.DT_SYMTAB, symbols.addr},
			{elf.DT_STRSZ, text.size}, {elf.DT_SYMENT, uint64(f.class.SymbolSize())}, {elf.DT_NULL, 0},
		} {
			all = f.class.Dynamic(all, e.tag, e.v)
		}
		return all
	}
	dynamic.size = uint64(len(entries()))
	text.data = names.Bytes()
	f.add(symbols, table, text)
	for _, memory := range []elf.SectionFlag{readMemory, codeMemory} {
		for _, o := range l.objects {
			for _, s := range o.sections {
				if s.isKept && s.header.Flags&elf.SHF_EXECINSTR == memory&elf.SHF_EXECINSTR {
					f.put(s, memory)
				}
			}
		}
	}
	f.add(dynamic)
	f.place()
	dynamic.data = entries()
	symbols.data = f.symbols(&names, nil, shown)
	f.name(l.hidden(shown), shown)
	return f
}

// add adds parts.
func (f *file) add(parts ...*part) {
	for _, p := range parts {
		if p.data != nil {
			p.size = uint64(len(p.data))
		}
		f.parts = append(f.parts, p)
		p.number = len(f.parts)
	}
}

// put adds a section of an object to the part that it belongs to: all code is together, and all
// constants, and others are under their own names.
func (f *file) put(s *section, memory elf.SectionFlag) {
	name, align := s.header.Name, max(1, s.header.Addralign)
	start := align
	switch {
	case memory == codeMemory:
		name, start = codePart, max(align, lineBytes)
	case strings.HasPrefix(name, constantPart+"."):
		name = constantPart
	}
	for _, p := range f.parts {
		if p.name == name && p.flags == memory && p.sections != nil {
			s.part = p
		}
	}
	if s.part == nil {
		s.part = &part{name: name, kind: elf.SHT_PROGBITS, flags: memory, align: 1}
		f.add(s.part)
	}
	p := s.part
	p.align = max(p.align, start)
	s.addr = roundUp(p.size, align) // in the part, for now
	p.size = s.addr + uint64(len(s.data))
	p.sections = append(p.sections, s)
}

func roundUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// place gives the parts their places in the file and in memory. Each kind of memory begins a page
// further in memory than in the file, so that no page has two of them, and the file no holes.
func (f *file) place() {
	off, ahead := uint64(f.class.HeaderSize()+programs*f.class.ProgramSize()), uint64(0)
	for i, p := range f.parts {
		if i > 0 && p.flags != f.parts[i-1].flags {
			ahead += f.page
		}
		p.off = roundUp(off, p.align)
		p.addr, off = p.off+ahead, p.off+p.size
		for _, s := range p.sections {
			s.addr += p.addr
		}
	}
}

// name adds the parts that are not loaded: all symbols, and the names of the parts.
func (f *file) name(hidden, shown []*definition) {
	var names, parts elfbytes.Strings
	text := &part{name: ".strtab", kind: elf.SHT_STRTAB, align: 1}
	symbols := &part{name: ".symtab", kind: elf.SHT_SYMTAB, align: uint64(f.class.Word()), entry: f.class.SymbolSize(),
		link: text, info: 1 + len(hidden)}
	symbols.data = f.symbols(&names, hidden, shown)
	text.data = names.Bytes()
	f.names = &part{name: ".shstrtab", kind: elf.SHT_STRTAB, align: 1}
	for _, p := range append(f.parts, symbols, text, f.names) {
		parts.Add(p.name)
	}
	f.names.data = parts.Bytes()
	last := f.parts[len(f.parts)-1]
	off := last.off + last.size
	f.add(symbols, text, f.names)
	for _, p := range []*part{symbols, text, f.names} {
		p.off = roundUp(off, p.align)
		off = p.off + p.size
	}
}

// symbols is a table of symbols.
func (f *file) symbols(names *elfbytes.Strings, hidden, shown []*definition) []byte {
	table := f.class.Symbol(nil, elf.Sym64{})
	for i, d := range append(hidden, shown...) {
		binding := elf.STB_GLOBAL
		if i < len(hidden) {
			binding = elf.STB_LOCAL
		}
		table = f.class.Symbol(table,
			elf.Sym64{Name: names.Add(d.symbol.Name), Info: elf.ST_INFO(binding, elf.ST_TYPE(d.symbol.Info)),
				Shndx: uint16(d.section.part.number), Value: d.section.addr + d.symbol.Value, Size: d.symbol.Size})
	}
	return table
}

// bytes are the library's, before anything is relocated.
func (f *file) bytes() []byte {
	word := uint64(f.class.Word())
	h := f.head
	h.Phoff, h.Shoff = uint64(f.class.HeaderSize()), roundUp(f.names.off+f.names.size, word)
	h.Shnum, h.Shstrndx = uint16(1+len(f.parts)), uint16(f.names.number)
	lib := make([]byte, h.Shoff, h.Shoff+uint64(int(h.Shnum)*f.class.SectionSize()))
	head := f.programs()
	h.Phnum = uint16(len(head))
	start := f.class.Header(nil, h)
	for _, p := range head {
		start = f.class.Program(start, p)
	}
	copy(lib, start)
	for _, p := range f.parts {
		at := lib[p.off:][:p.size]
		copy(at, p.data)
		if p.flags == codeMemory {
			for i := 0; i+4 <= len(at); i += 4 {
				binary.LittleEndian.PutUint32(at[i:], f.between)
			}
		}
		for _, s := range p.sections {
			copy(at[s.addr-p.addr:], s.data)
		}
	}
	lib = f.class.Section(lib, elf.Section64{})
	var names elfbytes.Strings
	for _, p := range f.parts {
		s := elf.Section64{Name: names.Add(p.name), Type: uint32(p.kind), Flags: uint64(p.flags), Addr: p.addr,
			Off: p.off, Size: p.size, Info: uint32(p.info), Addralign: p.align, Entsize: uint64(p.entry)}
		if p.link != nil {
			s.Link = uint32(p.link.number)
		}
		lib = f.class.Section(lib, s)
	}
	return lib
}

// programs are the program headers.
func (f *file) programs() []elf.Prog64 {
	var all, other []elf.Prog64
	for i, p := range f.parts {
		h := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Off: p.off, Vaddr: p.addr, Align: f.page}
		switch p.flags {
		case 0:
			continue
		case codeMemory:
			h.Flags |= uint32(elf.PF_X)
		case writeMemory:
			h.Flags |= uint32(elf.PF_W)
		}
		if i == 0 { // with the headers
			h.Off, h.Vaddr = 0, 0
		}
		if i == 0 || p.flags != f.parts[i-1].flags {
			all = append(all, h)
		}
		last := &all[len(all)-1]
		last.Filesz = p.off + p.size - last.Off
		if p.kind == elf.SHT_DYNAMIC {
			h.Type, h.Align, h.Filesz = uint32(elf.PT_DYNAMIC), p.align, p.size
			other = append(other, h)
		}
	}
	all = append(append(all, other...), elf.Prog64{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W)})
	for i := range all {
		all[i].Paddr, all[i].Memsz = all[i].Vaddr, all[i].Filesz
	}
	return all
}

// hashes returns the hash table of the dynamic linker's symbols, with one list per symbol: the
// first symbol of each list, and for each symbol the next one in its list.
func hashes(shown []*definition) []byte {
	lists := uint32(len(shown))
	first, next := make([]uint32, lists), make([]uint32, 1+lists)
	for i, d := range shown {
		list := &first[hash(d.symbol.Name)%lists]
		next[1+i], *list = *list, uint32(1+i)
	}
	table := binary.LittleEndian.AppendUint32(nil, lists)
	table = binary.LittleEndian.AppendUint32(table, 1+lists)
	for _, v := range append(first, next...) {
		table = binary.LittleEndian.AppendUint32(table, v)
	}
	return table
}

// hash is the System V ABI's of a name.
func hash(name string) uint32 {
	var h uint32
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		h = (h ^ h>>24&0xf0) & 0x0fffffff
	}
	return h
}
