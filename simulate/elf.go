package simulate

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
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

// segment is one PT_LOAD: data at an offset from the program's start, and the protection of its pages.
type segment struct {
	offset, size uint64
	data         []byte
	prot         uint64 // 1 read, 2 write, 4 execute
}

// loadProgram reads the shared object f and relocates it to address at, a multiple of 64 KiB. It fails on anything a
// freestanding artifact does not have: needed libraries, thread-local data, constructors, foreign symbols, odd
// relocations.
func loadProgram(f *elf.File, a arch, at uint64) (*program, error) {
	if f.Type != elf.ET_DYN || f.Machine != a.machine || f.Data != elf.ELFDATA2LSB || f.Class != elf.ELFCLASS64 {
		return nil, fmt.Errorf("%v %v %v is not a little-endian 64-bit shared object for %s", f.Type, f.Machine, f.Data, a.name)
	}
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
		return nil, fmt.Errorf("it needs libraries %v (%w)", libs, orNone(err))
	}
	for _, tag := range []elf.DynTag{elf.DT_INIT, elf.DT_INIT_ARRAY, elf.DT_PREINIT_ARRAY, elf.DynTag(36)} { // 36: DT_RELR
		if v, err := f.DynValue(tag); err == nil && len(v) > 0 {
			return nil, fmt.Errorf("it has a dynamic entry %v, which the simulator does not support", tag)
		}
	}
	p := &program{symbols: map[string]uint64{}}
	for _, h := range f.Progs {
		switch h.Type {
		case elf.PT_TLS:
			return nil, errors.New("it has thread-local data, which the simulator does not support")
		case elf.PT_LOAD:
			if err := p.add(h); err != nil {
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
		if s.Type == elf.SHT_REL {
			return nil, fmt.Errorf("section %s holds relocations without addends, which %s does not use", s.Name, a.name)
		}
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("cannot read section %s: %w", s.Name, err)
		}
		if err := p.relocate(data, symbols, a, at); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return p, nil
}

// orNone keeps %w printable when there is no cause.
func orNone(err error) error {
	if err == nil {
		return errors.New("artifacts stand alone")
	}
	return err
}

// add places one segment.
func (p *program) add(h *elf.Prog) error {
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
	if n := len(p.segments); n > 0 && p.size > s.offset&^(pageSize-1) {
		return fmt.Errorf("segment at %#x shares a page with the one before", h.Vaddr)
	}
	p.segments = append(p.segments, s)
	p.size = (s.offset + s.size + pageSize - 1) &^ (pageSize - 1)
	return nil
}

// relocate applies Elf64_Rela entries: offset, type and symbol, addend.
func (p *program) relocate(data []byte, symbols []elf.Symbol, a arch, at uint64) error {
	if len(data)%24 != 0 {
		return fmt.Errorf("%d bytes are not a whole number of relocations", len(data))
	}
	for ; len(data) > 0; data = data[24:] {
		offset := binary.LittleEndian.Uint64(data)
		info := binary.LittleEndian.Uint64(data[8:])
		value := binary.LittleEndian.Uint64(data[16:]) // the addend
		kind, sym := uint32(info), info>>32
		switch {
		case kind == 0: // R_*_NONE
			continue
		case kind == a.relative:
			value += at
		case slices.Contains(a.symbolic, kind):
			if sym == 0 || sym > uint64(len(symbols)) {
				return fmt.Errorf("the relocation at %#x names symbol %d of %d", offset, sym, len(symbols))
			}
			s := symbols[sym-1] // debug/elf leaves out the null symbol
			if s.Section == elf.SHN_UNDEF {
				return fmt.Errorf("the relocation at %#x needs symbol %q, which the artifact does not define", offset, s.Name)
			}
			if kind := elf.ST_TYPE(s.Info); kind == elf.STT_GNU_IFUNC || kind == elf.STT_TLS {
				return fmt.Errorf("the relocation at %#x needs symbol %q of type %v, which the simulator does not support", offset, s.Name, kind)
			}
			value += at + s.Value
		default:
			return fmt.Errorf("the relocation at %#x has type %d, which the simulator does not support", offset, kind)
		}
		if !p.put(offset, value) {
			return fmt.Errorf("the relocation at %#x lies in no segment", offset)
		}
	}
	return nil
}

// put stores a word at an offset from the program's start, extending a segment's data into its zeros if need be.
func (p *program) put(offset, value uint64) bool {
	for i := range p.segments {
		s := &p.segments[i]
		if offset < s.offset || offset-s.offset > s.size || s.size-(offset-s.offset) < 8 {
			continue
		}
		at := offset - s.offset
		if need := at + 8; need > uint64(len(s.data)) {
			if need > uint64(len(s.data))+maxImage>>8 {
				return false
			}
			s.data = append(s.data, make([]byte, need-uint64(len(s.data)))...)
		}
		binary.LittleEndian.PutUint64(s.data[at:], value)
		return true
	}
	return false
}
