package container

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"ripc/runtime/describe"
	"ripc/targets/cpu"
)

// elfFile is a library, or a program for a board, for any little-endian machine.
type elfFile struct {
	*elf.File
	r io.ReaderAt
}

func openELF(r io.ReaderAt) (File, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	return elfFile{f, r}, nil
}

func (elfFile) Format() string    { return "ELF" }
func (f elfFile) Arch() string    { return cpu.OfELF(f.Machine) }
func (f elfFile) IsProgram() bool { return f.Type == elf.ET_EXEC }

func (f elfFile) Section() *io.SectionReader {
	s := f.File.Section(describe.Section)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil
	}
	return io.NewSectionReader(f.r, int64(s.Offset), int64(s.FileSize))
}

// Data lists the loadable segments.
func (f elfFile) Data() ([]Segment, error) {
	var all []Segment
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		data, err := io.ReadAll(p.Open()) // Filesz may claim more than there is
		if err == nil && uint64(len(data)) < p.Filesz {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Segment{p.Vaddr, data, p.Flags&elf.PF_X != 0})
	}
	return all, nil
}

func (f elfFile) Symbol(name string) (addr uint64, ok bool) {
	symbols, _ := f.Symbols() // fails if there are none
	for _, s := range symbols {
		if s.Name == name {
			return s.Value, true
		}
	}
	return 0, false
}

// span is a part of a file, in bytes.
type span struct{ from, to uint64 }

// Sum is of the ELF header, all program headers, and all contents of loadable segments, but for the
// checksum itself. Positions in the file do not count, nor do parts that no loader reads, so a
// library may be stripped of its symbols.
func (f elfFile) Sum() ([]byte, error) {
	h := sha256.New()
	head, table, err := f.header()
	if err != nil {
		return nil, err
	}
	h.Write(head)
	for _, p := range f.Progs {
		for _, v := range []uint64{uint64(p.Type), uint64(p.Flags), segmentOffset(p, f.Progs), p.Vaddr, p.Paddr,
			p.Filesz, p.Memsz, p.Align} {
			h.Write(binary.LittleEndian.AppendUint64(nil, v))
		}
	}
	holes := []span{{0, uint64(len(head))}, table}
	if s := f.Section(); s != nil && s.Size() >= SealSize {
		_, at, n := s.Outer()
		holes = append(holes, span{uint64(at + n - SealSize), uint64(at + n)})
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if err := segment(h, f.r, span{p.Off, p.Off + p.Filesz}, holes); err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}

// segmentOffset is the place of a program header's part of the file in the loadable segment that
// holds it; in the file if none does.
func segmentOffset(p *elf.Prog, all []*elf.Prog) uint64 {
	for _, l := range all {
		if l.Type == elf.PT_LOAD && p.Vaddr-l.Vaddr < l.Memsz {
			return p.Off - l.Off
		}
	}
	return p.Off
}

// header is the ELF header without its data on sections, and the place of the program header table.
func (f elfFile) header() (head []byte, table span, err error) {
	size, entry := 64, uint64(56) // Elf64_Ehdr, Elf64_Phdr
	sections := []span{{40, 48}, {58, 64}}
	if f.Class == elf.ELFCLASS32 {
		size, entry = 52, 32
		sections = []span{{32, 36}, {46, 52}}
	}
	head = make([]byte, size)
	if _, err := f.r.ReadAt(head, 0); err != nil {
		return nil, span{}, fmt.Errorf("the ELF header is not all there: %w", err)
	}
	at := f.ByteOrder.Uint64(head[32:])
	if f.Class == elf.ELFCLASS32 {
		at = uint64(f.ByteOrder.Uint32(head[28:]))
	}
	for _, s := range sections {
		clear(head[s.from:s.to])
	}
	return head, span{at, at + entry*uint64(len(f.Progs))}, nil
}

// segment adds the bytes of r in s to h, without the holes.
func segment(h hash.Hash, r io.ReaderAt, s span, holes []span) error {
	for s.from < s.to {
		end := s.to
		for _, hole := range holes {
			switch {
			case hole.from <= s.from && s.from < hole.to:
				s.from = min(hole.to, s.to)
				end = s.from
			case hole.from > s.from && hole.from < end:
				end = hole.from
			}
		}
		if end <= s.from {
			continue
		}
		n, err := io.Copy(h, io.NewSectionReader(r, int64(s.from), int64(end-s.from)))
		if err != nil {
			return err
		}
		if uint64(n) != end-s.from {
			return fmt.Errorf("the file ends within a segment, at byte %d of %d", s.from+uint64(n), s.to)
		}
		s.from = end
	}
	return nil
}
