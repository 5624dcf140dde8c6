// Package elfbytes writes the structures of little-endian ELF files. All are given as those of 64
// bits; in files of 32 bits numbers are cut, so that whoever makes one sees to it that they fit.
package elfbytes

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
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

// narrow has the type of a structure of 32 bits by that of 64 bits. Their fields have the same
// names.
var narrow = map[reflect.Type]reflect.Type{
	reflect.TypeFor[elf.Header64]():  reflect.TypeFor[elf.Header32](),
	reflect.TypeFor[elf.Prog64]():    reflect.TypeFor[elf.Prog32](),
	reflect.TypeFor[elf.Section64](): reflect.TypeFor[elf.Section32](),
	reflect.TypeFor[elf.Sym64]():     reflect.TypeFor[elf.Sym32](),
	reflect.TypeFor[elf.Dyn64]():     reflect.TypeFor[elf.Dyn32](),
}

// convert returns a structure as the class has it.
func (c Class) convert(wide any) any {
	if c.wide() {
		return wide
	}
	from := reflect.ValueOf(wide)
	to := reflect.New(narrow[from.Type()]).Elem()
	for i := range to.NumField() {
		f := to.Field(i)
		f.Set(from.FieldByName(to.Type().Field(i).Name).Convert(f.Type()))
	}
	return to.Interface()
}

// put adds a structure.
func (c Class) put(to []byte, wide any) []byte {
	to, _ = binary.Append(to, binary.LittleEndian, c.convert(wide)) // of fixed size, which does not fail
	return to
}

func (c Class) size(wide any) int { return binary.Size(c.convert(wide)) }

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
	return c.put(to, h)
}

// HeaderSize is the size of a file header in bytes.
func (c Class) HeaderSize() int { return c.size(elf.Header64{}) }

// Program adds a program header.
func (c Class) Program(to []byte, p elf.Prog64) []byte { return c.put(to, p) }

// ProgramSize is the size of a program header in bytes.
func (c Class) ProgramSize() int { return c.size(elf.Prog64{}) }

// Section adds a section header.
func (c Class) Section(to []byte, s elf.Section64) []byte { return c.put(to, s) }

// SectionSize is the size of a section header in bytes.
func (c Class) SectionSize() int { return c.size(elf.Section64{}) }

// Symbol adds a symbol.
func (c Class) Symbol(to []byte, s elf.Sym64) []byte { return c.put(to, s) }

// SymbolSize is the size of a symbol in bytes.
func (c Class) SymbolSize() int { return c.size(elf.Sym64{}) }

// Dynamic adds an entry of the dynamic section.
func (c Class) Dynamic(to []byte, tag elf.DynTag, v uint64) []byte {
	return c.put(to, elf.Dyn64{Tag: int64(tag), Val: v})
}

// DynamicSize is the size of an entry of the dynamic section in bytes.
func (c Class) DynamicSize() int { return c.size(elf.Dyn64{}) }

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
