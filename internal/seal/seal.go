// Package seal is the checksum of a linked library: SHA-256 of the memory that a loader maps. A
// damaged library is refused before any of its code runs. It finds damage, and is no signature:
// whoever changes a library can seal it again.
package seal

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"ripc/runtime/describe"
)

// Size is the length of a checksum in bytes.
const Size = sha256.Size

// ErrDamaged says that a library is not the sealed one.
var ErrDamaged = errors.New("its checksum differs: the file is damaged, or was changed after it was compiled")

// Cut divides the content of a library's section describe.Section: the description, a NUL, and
// behind it a checksum or nothing. Libraries that others have linked, of ripc's archives or C
// source, have none, and sum is nil.
func Cut(section []byte) (description, sum []byte, err error) {
	description, sum, _ = bytes.Cut(section, []byte{0})
	switch len(sum) {
	case 0:
		return description, nil, nil
	case Size:
		return description, sum, nil
	}
	return nil, nil, fmt.Errorf("behind the description lie %d bytes, not a checksum of %d", len(sum), Size)
}

// Seal writes the checksum into the shared library lib, which needs room for it in its section
// describe.Section.
func Seal(lib []byte) error {
	f, err := elf.NewFile(bytes.NewReader(lib))
	if err != nil {
		return fmt.Errorf("not an ELF file: %w", err)
	}
	s := f.Section(describe.Section)
	if s == nil || s.Size < Size {
		return fmt.Errorf("no section %s with room for a checksum", describe.Section)
	}
	sum, err := Sum(f, bytes.NewReader(lib))
	if err != nil {
		return err
	}
	copy(lib[s.Offset+s.Size-Size:], sum)
	return nil
}

// Check fails with ErrDamaged unless sum is the checksum of the library f, read from r. It fails
// with another error if parts of the file are missing.
func Check(f *elf.File, r io.ReaderAt, sum []byte) error {
	got, err := Sum(f, r)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, sum) {
		return ErrDamaged
	}
	return nil
}

// span is a part of a file, in bytes.
type span struct{ from, to uint64 }

// Sum is the checksum of the library f, read from r: of the ELF header, all program headers, and
// all contents of loadable segments, but for the checksum itself. Positions in the file do not
// count, nor do parts that no loader reads, so a library may be stripped of its symbols.
func Sum(f *elf.File, r io.ReaderAt) ([]byte, error) {
	h := sha256.New()
	head, table, err := header(f, r)
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
	if s := f.Section(describe.Section); s != nil && s.Size >= Size && s.Offset+s.Size > s.Offset {
		holes = append(holes, span{s.Offset + s.Size - Size, s.Offset + s.Size})
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if err := segment(h, r, span{p.Off, p.Off + p.Filesz}, holes); err != nil {
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
func header(f *elf.File, r io.ReaderAt) (head []byte, table span, err error) {
	size, entry := 64, uint64(56) // Elf64_Ehdr, Elf64_Phdr
	sections := []span{{40, 48}, {58, 64}}
	if f.Class == elf.ELFCLASS32 {
		size, entry = 52, 32
		sections = []span{{32, 36}, {46, 52}}
	}
	head = make([]byte, size)
	if _, err := r.ReadAt(head, 0); err != nil {
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
