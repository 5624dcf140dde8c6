package container

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"ripc/runtime/describe"
)

// wasmFile is a module of WebAssembly.
type wasmFile struct {
	r             io.ReaderAt
	section, data *io.SectionReader // nil if there is none
}

// Numbers of sections of a module.
const (
	customSection = 0
	dataSection   = 11
)

// wasmHead begins a module of version 1.
const wasmHead = "\x00asm\x01\x00\x00\x00"

func openWASM(r io.ReaderAt) (File, error) {
	f := wasmFile{r: r}
	all := io.NewSectionReader(r, 0, math.MaxInt64)
	head := make([]byte, len(wasmHead))
	if _, err := io.ReadFull(all, head); err != nil || string(head) != wasmHead {
		return nil, errors.Join(fmt.Errorf("its version is % x", head[4:]), err)
	}
	for at := int64(len(head)); ; {
		in := &counted{r: bufio.NewReader(io.NewSectionReader(r, at, math.MaxInt64-at))}
		id, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		size, err := binary.ReadUvarint(in)
		if err != nil || size > math.MaxUint32 {
			return nil, errors.Join(fmt.Errorf("a section at byte %d has no size", at), err)
		}
		body, end := at+in.n, at+in.n+int64(size)
		switch id {
		case dataSection:
			f.data = io.NewSectionReader(r, body, int64(size))
		case customSection:
			n, err := binary.ReadUvarint(in)
			if err != nil || n > size {
				return nil, errors.Join(fmt.Errorf("a section at byte %d has no name", at), err)
			}
			name := make([]byte, min(n, uint64(len(describe.Section)+1)))
			if _, err := io.ReadFull(in.r, name); err != nil {
				return nil, err
			}
			if from := at + in.n + int64(n); string(name) == describe.Section && from <= end {
				f.section = io.NewSectionReader(r, from, end-from)
			}
		}
		at = end
	}
}

// counted counts the bytes that ReadByte reads.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) ReadByte() (byte, error) {
	c.n++
	return c.r.ReadByte()
}

func (wasmFile) Format() string               { return "WebAssembly" }
func (wasmFile) Arch() string                 { return "wasm32" }
func (wasmFile) IsProgram() bool              { return false }
func (f wasmFile) Section() *io.SectionReader { return f.section }
func (wasmFile) Symbol(string) (uint64, bool) { return 0, false }

// Sum is of all of the file but the checksum.
func (f wasmFile) Sum() ([]byte, error) {
	h := sha256.New()
	from := int64(0)
	if f.section != nil && f.section.Size() >= SealSize {
		_, at, n := f.section.Outer()
		if got, err := io.Copy(h, io.NewSectionReader(f.r, 0, at+n-SealSize)); err != nil || got != at+n-SealSize {
			return nil, errors.Join(errors.New("the file ends within a section"), err)
		}
		from = at + n
	}
	_, err := io.Copy(h, io.NewSectionReader(f.r, from, math.MaxInt64-from))
	return h.Sum(nil), err
}

// Data lists the segments that are put at a fixed address, and those that code puts somewhere, at
// address 0.
func (f wasmFile) Data() ([]Segment, error) {
	if f.data == nil {
		return nil, nil
	}
	all, err := io.ReadAll(f.data)
	if err != nil {
		return nil, err
	}
	in := bytes.NewReader(all)
	next := func() uint64 {
		n, e := binary.ReadUvarint(in)
		err = errors.Join(err, e)
		return n
	}
	var segments []Segment
	for range next() {
		const passive, constant, end = 1, 0x41, 0x0b
		var s Segment
		if mode := next(); mode != passive {
			if mode != 0 || next() != constant {
				return nil, fmt.Errorf("a data segment of mode %d", mode)
			}
			s.Addr = next() & math.MaxUint32 // non-negative in all that linkers make
			if next() != end {
				return nil, errors.New("a data segment at an address that is computed")
			}
		}
		n := next()
		if err != nil || n > uint64(in.Len()) {
			return nil, errors.Join(errors.New("the data section ends early"), err)
		}
		s.Data = all[len(all)-in.Len():][:n]
		if _, err := in.Seek(int64(n), io.SeekCurrent); err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	return segments, nil
}
