package verify

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// constant is a constant that a stage reads, at an offset in the artifact's block.
type constant struct {
	stage int
	buf   *ir.ProgBuf
	at    int64
}

// compareConstants compares the constants in the file with the Program's, byte for byte, and gives the differences by
// stage. Running the code cannot do that: a bit of a weight seldom shows in the result for one input. d must match p.
func compareConstants(path string, d *describe.Artifact, p *ir.Program) ([][]Difference, error) {
	all := make([][]Difference, len(p.Stages))
	var list []constant
	for i, s := range d.Stages {
		seen := map[string]bool{}
		for _, t := range s.Reads {
			b := p.BufferByName(t.Name)
			if t.Where != ir.ConstBuf.String() || b == nil || b.Kind != ir.ConstBuf || seen[t.Name] {
				continue
			}
			seen[t.Name] = true
			if t.Offset < 0 || t.Offset > d.WeightBytes-int64(b.Bytes()) {
				return nil, &MismatchError{path, fmt.Sprintf("%%%s of stage %q is at %d of %d bytes of constants", t.Name, s.Name, t.Offset, d.WeightBytes)}
			}
			list = append(list, constant{i, b, t.Offset})
		}
	}
	if len(list) == 0 {
		return all, nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	block, err := findBlock(f, d.WeightBytes, list)
	if err != nil {
		return nil, fmt.Errorf("%s: reading the constants: %w", path, err)
	}
	if block == nil {
		return nil, &MismatchError{path, fmt.Sprintf("it has no block of constants of %d bytes", d.WeightBytes)}
	}
	for _, c := range list {
		if diff, ok := compareExactly(c.buf.Buffer, block[c.at:c.at+int64(c.buf.Bytes())], c.buf.Data); !ok {
			all[c.stage] = append(all[c.stage], diff)
		}
	}
	return all, nil
}

// findBlock returns the size bytes of constants: those at the symbol, or in a file without symbols, those that are most
// like list. It is nil if there is no room for so many bytes. What is read is what a loader maps.
func findBlock(f *elf.File, size int64, list []constant) ([]byte, error) {
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
			if n := unlike(data[at:at+size], list, least); least < 0 || n < least {
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

// unlike counts the bytes in which block differs from list; it may stop at limit, if that is not negative.
func unlike(block []byte, list []constant, limit int) int {
	n := 0
	for _, c := range list {
		got := block[c.at : c.at+int64(c.buf.Bytes())]
		if bytes.Equal(got, c.buf.Data) {
			continue
		}
		for i, x := range c.buf.Data {
			if got[i] != x {
				n++
			}
		}
		if limit >= 0 && n >= limit {
			return n
		}
	}
	return n
}
