package codegen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Image is the input of a back end: a Program with the code of its kernels, the places of all
// constants, and its description.
type Image struct {
	Input
	Name        string            // C identifier, prefix of the artifact's exports
	Kernels     map[string]Kernel // by Func
	Order       []string          // Funcs that stages use, in the order of the Program
	Offsets     map[string]int64  // of constants in Weights, multiples of abi.Align
	Floats      *Floats           // of the Program
	Weights     [][]byte          // all constants with the gaps between them: consecutive pieces
	Description *describe.Artifact
	ABI         string // hash of the build, in hexadecimal digits, which ties a header to its code
}

// newImage generates the kernels, lays out the constants and writes the description.
func newImage(in Input, b Backend) (*Image, error) {
	m := &Image{Input: in, Name: Identifier(in.Program.Name), Kernels: map[string]Kernel{},
		Floats: NewFloats(in.Program), Description: Describe(in)}
	names := Symbols(in.Program)
	for _, f := range in.Program.Funcs {
		if names[f.Name] == "" {
			continue
		}
		k, err := b.Kernel(f, names[f.Name], in.Target, m.Floats)
		if err != nil {
			return nil, fmt.Errorf("code for %s: layer %s: %w", in.Target.Name,
				strings.Join(in.Program.LayersOf(f.Name), ", "), err)
		}
		m.Kernels[f.Name] = k
		m.Order = append(m.Order, f.Name)
	}
	m.layWeights()
	m.addCode()
	return m, nil
}

// check fails unless p is sound and a caller can bring its inputs and outputs.
func check(p *ir.Program) error {
	if err := ir.VerifyProgram(p); err != nil {
		return err
	}
	count := map[ir.BufKind]int{}
	for _, q := range p.Buffers {
		count[q.Kind]++
		if q.Kind != ir.InputBuf && q.Kind != ir.OutputBuf {
			continue
		}
		switch q.Type {
		case ir.F32, ir.I32, ir.U32, ir.I16, ir.U8, ir.I8:
			// i16 of kernels that are built alone: no model has such inputs or outputs
		default:
			return &ir.Error{Op: ir.BufferString(q.Buffer), Node: "program @" + p.Name,
				Msg:  fmt.Sprintf("an %s cannot be %s", q.Kind, q.Type),
				Help: "inputs and outputs are f32, i32, u32, i16, u8 or i8"}
		}
	}
	if count[ir.InputBuf] == 0 || count[ir.OutputBuf] == 0 {
		return &ir.Error{Node: "program @" + p.Name,
			Msg: fmt.Sprintf("%d inputs and %d outputs; at least one of each is needed",
				count[ir.InputBuf], count[ir.OutputBuf])}
	}
	return nil
}

// layWeights puts all constants into one block, without copying them.
func (m *Image) layWeights() {
	m.Offsets, _ = constOffsets(m.Program)
	end := int64(0)
	for _, q := range m.Program.Buffers {
		if q.Kind != ir.ConstBuf {
			continue
		}
		if gap := m.Offsets[q.Name] - end; gap > 0 {
			m.Weights = append(m.Weights, make([]byte, gap))
		}
		m.Weights = append(m.Weights, q.Data)
		end = m.Offsets[q.Name] + int64(len(q.Data))
	}
}

// constOffsets gives each constant a place, at a multiple of abi.Align, and says how long they are
// together.
func constOffsets(p *ir.Program) (offsets map[string]int64, size int64) {
	offsets = map[string]int64{}
	for _, q := range p.Buffers {
		if q.Kind == ir.ConstBuf {
			offsets[q.Name] = abi.RoundUp(size)
			size = offsets[q.Name] + int64(q.Bytes())
		}
	}
	return offsets, size
}

// Exports are the names of the functions that the artifact shows.
func (m *Image) Exports() []string { return append(abi.Exports(m.Name), abi.Run(m.Name, m.ABI)) }

// hash is of all that callers rely on: the interface, as the header says it, and the network, as
// the Program's text says it without roles, which has the hashes of all constants in it.
func (m *Image) hash() string {
	sum := sha256.Sum256(append(m.header(""), m.Program.Meaning()...))
	return hex.EncodeToString(sum[:8])
}
