package simulate

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"ripc/targets/guests"
)

const (
	pageSize = 4096
	// maxImage bounds the memory of an artifact's segments, and of a whole image, in bytes.
	maxImage = 1 << 36
)

// program is an artifact as it lies in memory, relocated.
type program struct {
	size     uint64 // of the address space it takes, a multiple of the page size
	segments []segment
	symbols  map[string]uint64 // exported, as addresses
}

// segment is one PT_LOAD: data at an offset from the program's start, and the protection of its
// pages.
type segment struct {
	offset, size uint64
	data         []byte
	prot         uint64 // 1 read, 2 write, 4 execute
}

// loadProgram reads the shared object f and relocates it to address at, a multiple of 64 KiB. It
// fails on anything a freestanding artifact does not have: needed libraries, thread-local data,
// constructors, foreign symbols, odd relocations.
func loadProgram(f *elf.File, g guests.Guest, at uint64) (*program, error) {
	if f.Type != elf.ET_DYN || f.Machine != g.Machine || f.Data != elf.ELFDATA2LSB || f.Class != g.Class {
		return nil, fmt.Errorf("%v %v %v is not a little-endian %d-bit shared object for %s", f.Type, f.Machine, f.Data,
			8*g.Pointer, g.Arch)
	}
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
		return nil, fmt.Errorf("it needs libraries %v (%w)", libs, causeOrNone(err))
	}
	// 36: DT_RELR
	for _, tag := range []elf.DynTag{elf.DT_INIT, elf.DT_INIT_ARRAY, elf.DT_PREINIT_ARRAY, elf.DynTag(36)} {
		if v, err := f.DynValue(tag); err == nil && len(v) > 0 {
			return nil, fmt.Errorf("it has a dynamic entry %v, which the simulator does not support", tag)
		}
	}
	rels, other := elf.SHT_RELA, elf.SHT_REL
	if g.Pointer == 4 {
		rels, other = other, rels
	}
	p := &program{symbols: map[string]uint64{}}
	for _, h := range f.Progs {
		switch h.Type {
		case elf.PT_TLS:
			return nil, errors.New("it has thread-local data, which the simulator does not support")
		case elf.PT_LOAD:
			if err := p.add(h, g.Page); err != nil {
				return nil, err
			}
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("cannot read its symbols: %w", err)
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			p.symbols[s.Name] = at + s.Value
		}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		if s.Type == other {
			return nil, fmt.Errorf("section %s holds relocations of type %v, which %s does not use", s.Name, s.Type,
				g.Arch)
		}
		if s.Type != rels {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("cannot read section %s: %w", s.Name, err)
		}
		if err := p.relocate(data, symbols, g, at); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return p, nil
}

// causeOrNone keeps %w printable when there is no cause.
func causeOrNone(err error) error {
	if err == nil {
		return errors.New("artifacts stand alone")
	}
	return err
}

// add places one segment.
func (p *program) add(h *elf.Prog, page uint64) error {
	if h.Filesz > h.Memsz || h.Vaddr > maxImage || h.Memsz > maxImage {
		return fmt.Errorf("segment at %#x: %d bytes in the file, %d in memory", h.Vaddr, h.Filesz, h.Memsz)
	}
	data, err := io.ReadAll(io.NewSectionReader(h, 0, int64(h.Filesz)))
	if err != nil || uint64(len(data)) != h.Filesz {
		return fmt.Errorf("segment at %#x: the file holds %d of %d bytes (%v)", h.Vaddr, len(data), h.Filesz, err)
	}
	s := segment{offset: h.Vaddr, size: h.Memsz, data: data}
	for _, f := range []struct {
		flag elf.ProgFlag
		prot uint64
	}{{elf.PF_R, 1}, {elf.PF_W, 2}, {elf.PF_X, 4}} {
		if h.Flags&f.flag != 0 {
			s.prot |= f.prot
		}
	}
	if n := len(p.segments); n > 0 && p.size > s.offset&^(page-1) {
		return fmt.Errorf("segment at %#x shares a page with the one before", h.Vaddr)
	}
	p.segments = append(p.segments, s)
	p.size = (s.offset + s.size + page - 1) &^ (page - 1)
	return nil
}

// rel is one relocation.
type rel struct {
	offset, addend uint64
	kind           uint32
	sym            uint64
}

// rels decodes Elf64_Rela entries (offset, type and symbol, addend) or Elf32_Rel ones (offset, type
// and symbol).
func (p *program) rels(data []byte, g guests.Guest) ([]rel, error) {
	size := map[int]int{8: 24, 4: 8}[g.Pointer]
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%d bytes are not a whole number of relocations", len(data))
	}
	var out []rel
	for ; len(data) > 0; data = data[size:] {
		if g.Pointer == 8 {
			info := binary.LittleEndian.Uint64(data[8:])
			out = append(out, rel{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[16:]),
				uint32(info), info >> 32})
			continue
		}
		offset, info := uint64(binary.LittleEndian.Uint32(data)), binary.LittleEndian.Uint32(data[4:])
		out = append(out, rel{offset, p.get(offset), info & 0xff, uint64(info >> 8)})
	}
	return out, nil
}

// get returns the 32-bit word at an offset from the program's start, 0 where there is none.
func (p *program) get(offset uint64) uint64 {
	for _, s := range p.segments {
		if offset >= s.offset && offset-s.offset+4 <= uint64(len(s.data)) {
			return uint64(binary.LittleEndian.Uint32(s.data[offset-s.offset:]))
		}
	}
	return 0
}

// relocate applies relocations.
func (p *program) relocate(data []byte, symbols []elf.Symbol, g guests.Guest, at uint64) error {
	rels, err := p.rels(data, g)
	if err != nil {
		return err
	}
	for _, r := range rels {
		offset, value, kind, sym := r.offset, r.addend, r.kind, r.sym
		plain := slices.Contains(g.Plain, kind)
		switch {
		case kind == 0: // R_*_NONE
			continue
		case kind == g.Relative:
			value += at
		case plain || slices.Contains(g.Symbolic, kind):
			if plain {
				value = 0
			}
			if sym == 0 || sym > uint64(len(symbols)) {
				return fmt.Errorf("the relocation at %#x names symbol %d of %d", offset, sym, len(symbols))
			}
			s := symbols[sym-1] // debug/elf leaves out the null symbol
			if s.Section == elf.SHN_UNDEF {
				return fmt.Errorf("the relocation at %#x needs symbol %q, which the artifact does not define", offset,
					s.Name)
			}
			if kind := elf.ST_TYPE(s.Info); kind == elf.STT_GNU_IFUNC || kind == elf.STT_TLS {
				return fmt.Errorf("the relocation at %#x needs symbol %q of type %v, which the simulator does not "+
					"support", offset, s.Name, kind)
			}
			value += at + s.Value
		default:
			return fmt.Errorf("the relocation at %#x has type %d, which the simulator does not support", offset, kind)
		}
		if !p.put(offset, value, g.Pointer) {
			return fmt.Errorf("the relocation at %#x lies in no segment", offset)
		}
	}
	return nil
}

// put stores a word of size bytes at an offset from the program's start, extending a segment's data
// into its zeros if need be.
func (p *program) put(offset, value uint64, size int) bool {
	for i := range p.segments {
		s := &p.segments[i]
		if offset < s.offset || offset-s.offset > s.size || s.size-(offset-s.offset) < uint64(size) {
			continue
		}
		at := offset - s.offset
		if need := at + uint64(size); need > uint64(len(s.data)) {
			if need > uint64(len(s.data))+maxImage>>8 {
				return false
			}
			s.data = append(s.data, make([]byte, need-uint64(len(s.data)))...)
		}
		if size == 4 {
			binary.LittleEndian.PutUint32(s.data[at:], uint32(value))
		} else {
			binary.LittleEndian.PutUint64(s.data[at:], value)
		}
		return true
	}
	return false
}
