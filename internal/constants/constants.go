// Package constants finds the block of all constants in a compiled artifact.
package constants

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Read returns the size bytes of constants in the artifact at path: those at the symbol, or in a
// file without symbols the block for which unlike returns the least number. unlike may stop
// counting at limit, if that is not negative. The result is nil if the file is too short. Read sees
// the bytes that a loader maps.
func Read(path string, size int64, unlike func(block []byte, limit int) int) ([]byte, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, _ := f.Symbols() // fails if there are none
	for _, s := range symbols {
		if s.Name == abi.Weights {
			return loaded(f, s.Value, size)
		}
	}
	var best []byte
	least := -1
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X != 0 || int64(p.Filesz) < size {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := io.ReadFull(p.Open(), data); err != nil {
			return nil, err
		}
		for at := -int64(p.Vaddr) & (abi.Align - 1); at <= int64(len(data))-size; at += abi.Align {
			if n := unlike(data[at:at+size], least); least < 0 || n < least {
				best, least = data[at:at+size], n
			}
		}
	}
	return best, nil
}

// loaded returns size bytes at an address, nil if the file does not bring them.
func loaded(f *elf.File, addr uint64, size int64) ([]byte, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr > p.Filesz || size > int64(p.Filesz-(addr-p.Vaddr)) {
			continue
		}
		data := make([]byte, size)
		if _, err := p.ReadAt(data, int64(addr-p.Vaddr)); err != nil {
			return nil, err
		}
		return data, nil
	}
	return nil, nil
}

// Named reads the constants of an artifact, by name. hashes, by name in hexadecimal, are the sha256
// of those that are sought.
func Named(so string, hashes map[string]string) (map[string][]byte, error) {
	d, err := runtime.ReadDescription(so)
	if err != nil {
		return nil, err
	}
	at := map[string]describe.Tensor{}
	for _, s := range d.Stages {
		for _, t := range s.Reads {
			if n, err := runtime.OperandBytes(t); err == nil && t.Where == ir.ConstBuf.String() && t.Offset >= 0 &&
				t.Offset <= d.WeightBytes-int64(n) {
				at[t.Name] = t
			}
		}
	}
	piece := func(block []byte, t describe.Tensor) []byte {
		n, _ := runtime.OperandBytes(t) // it was right above
		return block[t.Offset : t.Offset+int64(n)]
	}
	block, err := Read(so, d.WeightBytes, func(block []byte, limit int) int {
		n := 0
		for name, hash := range hashes {
			if t, ok := at[name]; ok && fmt.Sprintf("%x", sha256.Sum256(piece(block, t))) != hash {
				if n++; n == limit {
					break
				}
			}
		}
		return n
	})
	if err != nil || block == nil {
		return nil, &runtime.FileError{Path: so, Msg: "its constants cannot be read", Err: err}
	}
	data := map[string][]byte{}
	for name, t := range at {
		data[name] = piece(block, t)
	}
	return data, nil
}
