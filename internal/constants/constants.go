// Package constants finds the block of all constants in a compiled artifact.
package constants

import (
	"crypto/sha256"
	"fmt"

	"ripc/internal/abi"
	"ripc/internal/container"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Read returns the size bytes of constants in the artifact at path: those at the symbol, or in a
// file without symbols the block for which unlike returns the least number. unlike may stop
// counting at limit, if that is not negative. The result is nil if the file is too short. Read sees
// the bytes that a loader maps.
func Read(path string, size int64, unlike func(block []byte, limit int) int) ([]byte, error) {
	f, file, err := container.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	segments, err := f.Data()
	if err != nil {
		return nil, err
	}
	addr, ok := f.Symbol(abi.Weights)
	var best []byte
	least := -1
	for _, s := range segments {
		last := int64(len(s.Data)) - size
		if ok && addr >= s.Addr && int64(addr-s.Addr) <= last {
			return s.Data[addr-s.Addr:][:size], nil
		}
		for at := -int64(s.Addr) & (abi.Align - 1); !ok && !s.Code && at <= last; at += abi.Align {
			if n := unlike(s.Data[at:at+size], least); least < 0 || n < least {
				best, least = s.Data[at:at+size], n
			}
		}
	}
	return best, nil
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
