// Package container reads the files that hold compiled networks. Each format of files is a row of
// formats; whoever opens, checks or runs an artifact asks for a File and knows no format.
//
// It also seals files: a checksum of all that a loader reads lies behind the description, so that a
// damaged file is refused before any of its code runs. That finds damage, and is no signature:
// whoever changes a file can seal it again.
package container

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"ripc/runtime/describe"
)

// File is an artifact that is open for reading.
type File interface {
	// Format is the name of its format, for messages.
	Format() string
	// Arch is the architecture of its code, as package targets names it.
	Arch() string
	// IsProgram reports whether it is a program that a board starts, and no library.
	IsProgram() bool
	// Section reads the section describe.Section; nil if there is none.
	Section() *io.SectionReader
	// Sum is the checksum of everything that a loader reads, without the checksum itself.
	Sum() ([]byte, error)
	// Data lists the memory that a loader maps.
	Data() ([]Segment, error)
	// Symbol is the address of a symbol. ok is false if the file does not tell.
	Symbol(name string) (addr uint64, ok bool)
}

// Segment is memory that a file brings.
type Segment struct {
	Addr uint64
	Data []byte
	Code bool // code is among it
}

// format is a kind of file that a File can be in.
type format struct {
	name, magic string // a file begins with magic
	open        func(io.ReaderAt) (File, error)
}

func formats() []format {
	return []format{{"ELF", "\x7fELF", openELF}, {"WebAssembly", "\x00asm", openWASM},
		{"bundle", bundleMagic, openBundle}}
}

// MagicSize is the number of a file's first bytes that Known needs.
const MagicSize = 4

// Known reports whether head begins a file of a known format.
func Known(head []byte) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return bytes.HasPrefix(head, []byte(f.magic)) })
}

// ErrUnknown says that a file has no known format.
var ErrUnknown = errors.New("neither an ELF file nor a WebAssembly module nor a bundle of kernels")

// Open reads the headers of a file, which f goes on reading. It fails with ErrUnknown, or because
// the file is damaged.
func Open(r io.ReaderAt) (f File, err error) {
	head := make([]byte, MagicSize)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, k := range formats() {
		if bytes.HasPrefix(head[:n], []byte(k.magic)) {
			if f, err = k.open(r); err != nil {
				err = fmt.Errorf("not a readable %s file: %w", k.name, err)
			}
			return f, err
		}
	}
	return nil, ErrUnknown
}

// OpenFile is Open for the file at path, which closing closes.
func OpenFile(path string) (f File, closing io.Closer, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if f, err = Open(file); err != nil {
		_ = file.Close()
	}
	return f, file, err
}

// SealSize is the length of a checksum in bytes.
const SealSize = sha256.Size

// ErrDamaged says that a file is not the sealed one.
var ErrDamaged = errors.New("its checksum differs: the file is damaged, or was changed after it was compiled")

// compressedHead begins compressed descriptions (zlib, RFC 1950), and no JSON.
const compressedHead = 0x78

// Compress returns a description in fewer bytes, for Cut.
func Compress(description []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write(description)
	if err = errors.Join(err, w.Close()); err != nil {
		panic("BUG: " + err.Error()) // memory does not fail
	}
	return out.Bytes()
}

// Cut divides the content of a file's section describe.Section: the description, which may be
// compressed, a NUL, and behind it a checksum or nothing. Files that others have linked, of ripc's
// archives or C source, have none, and sum is nil.
func Cut(section []byte) (description, sum []byte, err error) {
	if len(section) > 0 && section[0] == compressedHead {
		in := bytes.NewReader(section)
		z, err := zlib.NewReader(in)
		if err == nil {
			description, err = io.ReadAll(z)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the description: %w", err)
		}
		_, sum, _ = bytes.Cut(section[len(section)-in.Len():], []byte{0})
	} else {
		description, sum, _ = bytes.Cut(section, []byte{0})
	}
	switch len(sum) {
	case 0:
		return description, nil, nil
	case SealSize:
		return description, sum, nil
	}
	return nil, nil, fmt.Errorf("behind the description lie %d bytes, not a checksum of %d", len(sum), SealSize)
}

// Seal writes the checksum into a linked file, which needs room for it in its section
// describe.Section.
func Seal(file []byte) error {
	f, err := Open(bytes.NewReader(file))
	if err != nil {
		return err
	}
	s := f.Section()
	if s == nil || s.Size() < SealSize {
		return fmt.Errorf("no section %s with room for a checksum", describe.Section)
	}
	sum, err := f.Sum()
	if err != nil {
		return err
	}
	_, at, n := s.Outer()
	copy(file[at+n-SealSize:], sum)
	return nil
}

// Check fails with ErrDamaged unless sum is the checksum of f. It fails with another error if parts
// of the file are missing.
func Check(f File, sum []byte) error {
	got, err := f.Sum()
	if err != nil {
		return err
	}
	if !bytes.Equal(got, sum) {
		return ErrDamaged
	}
	return nil
}
