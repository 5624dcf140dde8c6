package verilator

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ripc/core"
	"ripc/internal/tools"
)

// Core is a compiled simulation of a core beside a memory.
type Core struct {
	dir    string
	remove func() error
	lanes  int
}

// NewCore compiles a simulation for programs of p's design and sizes, with a memory that answers
// after latency cycles. Run returns the first words of the memory. It fails with
// *tools.MissingError.
func NewCore(ctx context.Context, p *core.Program, latency, words int) (*Core, error) {
	options := []string{"--top-module", "bench", "--prefix", "Vbench"}
	for _, v := range append(p.Config.Parameters(), fmt.Sprint("LATENCY=", latency), fmt.Sprint("WORDS=", p.Words()),
		fmt.Sprint("PROGRAM=", p.At), fmt.Sprint("RESULTS=", words)) {
		options = append(options, "-G"+v)
	}
	dir, remove, err := build(ctx, core.Simulation(), options)
	if err != nil {
		return nil, err
	}
	return &Core{dir, remove, p.Config.Lanes}, nil
}

// Close removes the simulation; of nil there is none.
func (s *Core) Close() error {
	if s == nil {
		return nil
	}
	return s.remove()
}

// Run plays the program in a memory. It returns the words that NewCore was asked for as numbers
// of 32 bits, and the number of cycles.
func (s *Core) Run(ctx context.Context, memory []uint32) (out []uint32, cycles int, err error) {
	n := s.lanes / 32
	if err := os.WriteFile(filepath.Join(s.dir, "memory.hex"), Hex(memory, s.lanes), 0o666); err != nil {
		return nil, 0, err
	}
	text, err := tools.Run(ctx, s.dir, filepath.Join(s.dir, "obj", "sim"))
	if err != nil {
		return nil, 0, err
	}
	if cycles, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return nil, 0, err
	}
	data, err := os.ReadFile(filepath.Join(s.dir, "memory.out"))
	if err != nil {
		return nil, 0, err
	}
	for _, word := range strings.Fields(string(data)) {
		for k := n - 1; k >= 0 && !strings.HasPrefix(word, "//") && !strings.HasPrefix(word, "@"); k-- {
			v, err := strconv.ParseUint(word[k*8:k*8+8], 16, 32)
			if err != nil {
				return nil, 0, err
			}
			out = append(out, uint32(v))
		}
	}
	return out, cycles, nil
}

// Hex is a memory with words of a number of bits as $readmemh reads it.
func Hex(memory []uint32, lanes int) []byte {
	var b bytes.Buffer
	for word := range slices.Chunk(memory, lanes/32) {
		for _, v := range slices.Backward(word) {
			fmt.Fprintf(&b, "%08x", v)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
