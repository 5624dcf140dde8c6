package container

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"ripc/internal/abi"
	"ripc/runtime/describe"
)

// OpenCL is the architecture of kernels in OpenCL C.
const OpenCL = "opencl"

// PTX is the architecture of kernels in PTX.
const PTX = "nvptx64"

// WebGPU is the architecture of kernels in WGSL.
const WebGPU = "webgpu"

// Parts of a bundle besides the description. The suffix of the kernels' name is their language.
const (
	Kernels   = "kernels."
	Constants = "constants"
)

// bundleMagic tells bundles from other zip archives, as models may be.
const bundleMagic = "RIPC"

// Bundle is bundleMagic, then a zip archive of uncompressed parts: the description with its seal,
// kernels for a device, and constants.
type Bundle struct {
	parts []Part
	seal  *io.SectionReader
}

// Part is an entry of a bundle.
type Part struct {
	Name string
	Data []byte
}

// NewBundle writes a bundle of parts behind a description, and seals it.
func NewBundle(description []byte, parts ...Part) ([]byte, error) {
	all := append([]Part{{describe.Section, append(bytes.Clone(description), 0)}}, parts...)
	all[0].Data = append(all[0].Data, sumParts(all)...)
	var out bytes.Buffer
	out.WriteString(bundleMagic)
	w := zip.NewWriter(&out)
	w.SetOffset(int64(out.Len()))
	for _, p := range all {
		f, err := w.CreateHeader(&zip.FileHeader{Name: p.Name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(p.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return out.Bytes(), nil
}

// sumParts is the checksum of parts. The first one is the description without its seal.
func sumParts(parts []Part) []byte {
	h := sha256.New()
	for _, p := range parts {
		for _, text := range [][]byte{[]byte(p.Name), p.Data} {
			_ = binary.Write(h, binary.LittleEndian, uint64(len(text)))
			h.Write(text)
		}
	}
	return h.Sum(nil)
}

func openBundle(r io.ReaderAt) (File, error) {
	size := int64(0)
	if s, ok := r.(interface{ Size() int64 }); ok {
		size = s.Size()
	} else if s, ok := r.(io.Seeker); ok {
		var err error
		if size, err = s.Seek(0, io.SeekEnd); err != nil {
			return nil, err
		}
	} else {
		return nil, errors.New("its size is unknown")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	// The reader looks for the archive's end, and passes over bytes behind it.
	end := make([]byte, 22)
	if _, err := r.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(end, []byte("PK\x05\x06")) || end[20] != 0 || end[21] != 0 {
		return nil, errors.New("it has bytes behind its end")
	}
	b, room := &Bundle{}, uint64(size) // parts that share bytes would exceed it
	for _, f := range z.File {
		at, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		switch {
		case f.Method != zip.Store:
			return nil, fmt.Errorf("part %q is compressed", f.Name)
		case f.UncompressedSize64 > room:
			return nil, fmt.Errorf("part %q claims %d bytes, and the file has %d left", f.Name, f.UncompressedSize64,
				room)
		case b.Part(f.Name) != nil:
			return nil, fmt.Errorf("part %q is there twice", f.Name)
		}
		room -= f.UncompressedSize64
		s := io.NewSectionReader(r, at, int64(f.UncompressedSize64))
		if f.Name == describe.Section {
			b.seal = io.NewSectionReader(r, at, s.Size())
		}
		data := make([]byte, f.UncompressedSize64)
		if _, err := io.ReadFull(s, data); err != nil {
			return nil, err
		}
		b.parts = append(b.parts, Part{f.Name, data})
	}
	return b, nil
}

// Format is "bundle".
func (*Bundle) Format() string { return "bundle" }

// Arch is that of the language of the kernels.
func (b *Bundle) Arch() string {
	for _, language := range [][2]string{{"cl", OpenCL}, {"ptx", PTX}, {"wgsl", WebGPU}} {
		if b.Part(Kernels+language[0]) != nil {
			return language[1]
		}
	}
	return ""
}

// IsProgram is false.
func (*Bundle) IsProgram() bool { return false }

// Section is the description with its seal.
func (b *Bundle) Section() *io.SectionReader { return b.seal }

// Part returns the contents of a part, or nil.
func (b *Bundle) Part(name string) []byte {
	i := slices.IndexFunc(b.parts, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return b.parts[i].Data
}

// Sum is of all parts without the seal.
func (b *Bundle) Sum() ([]byte, error) {
	parts := slices.Clone(b.parts)
	if len(parts) == 0 || parts[0].Name != describe.Section || len(parts[0].Data) < SealSize {
		return nil, errors.New("its first part is no sealed description")
	}
	parts[0].Data = parts[0].Data[:len(parts[0].Data)-SealSize]
	return sumParts(parts), nil
}

// Data is the constants.
func (b *Bundle) Data() ([]Segment, error) { return []Segment{{Data: b.Part(Constants)}}, nil }

// Symbol tells where constants are.
func (b *Bundle) Symbol(name string) (addr uint64, ok bool) { return 0, name == abi.Weights }
