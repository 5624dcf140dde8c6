package codegen

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Describe returns the description of the artifact that Build would make, without ScratchBytes,
// which code generation determines. It needs in.Program, which must be sound. Traces, Target and
// Version only fill fields of the result.
func Describe(in Input) *describe.Artifact {
	p, t := in.Program, in.Target
	tensors, size := describeBuffers(p)
	d := &describe.Artifact{
		Format: describe.Format, Compiler: in.Version, Name: Identifier(p.Name),
		Target: t.Name, Arch: t.Arch, CPU: t.CPU, Features: append([]string{}, t.Features...), QemuCPU: t.QemuCPU,
		ArenaBytes: abi.RoundUp(p.Arena), WeightBytes: size, Stages: []describe.Stage{},
	}
	for _, q := range p.Buffers {
		switch q.Kind {
		case ir.InputBuf:
			d.Inputs = append(d.Inputs, tensors[q.Name])
		case ir.OutputBuf:
			d.Outputs = append(d.Outputs, tensors[q.Name])
		}
	}
	kernels, index := Symbols(p), p.Index()
	for _, s := range p.Stages {
		st := describe.Stage{
			Name: s.Name, Op: s.Op, Kernel: kernels[s.Func], Trace: in.Traces[s.Func], MACs: s.MACs,
			Reads: []describe.Tensor{}, Writes: []describe.Tensor{}, Layer: s.Layer, Note: s.Note,
		}
		for i, q := range index.Func(s.Func).Params {
			if q.Out {
				st.Writes = append(st.Writes, tensors[s.Args[i]])
			} else {
				st.Reads = append(st.Reads, tensors[s.Args[i]])
			}
		}
		d.Stages = append(d.Stages, st)
	}
	return d
}

// addCode adds the results of code generation.
func (m *Image) addCode() {
	for i, s := range m.Program.Stages {
		k := m.Kernels[s.Func]
		m.Description.ScratchBytes = max(m.Description.ScratchBytes, abi.RoundUp(k.Scratch))
		m.Description.Stages[i].ByLane, m.Description.Stages[i].Launches = k.ByLane, k.Launches
	}
}

// affine is the encoding, in descriptions, of unipolar levels with a zero point.
const affine = "affine"

// describeBuffers describes p's buffers, by name, and gives the size of all constants.
func describeBuffers(p *ir.Program) (map[string]describe.Tensor, int64) {
	all, index := map[string]describe.Tensor{}, map[ir.BufKind]int64{}
	offsets, size := constOffsets(p)
	for _, q := range p.Buffers {
		t := describe.Tensor{
			Name: q.Name, Label: q.Label, DType: q.Type.String(), Shape: append([]int{}, q.Shape...), Layout: q.Layout,
			Where: q.Kind.String(),
		}
		if l := q.Levels; l != (ir.Levels{}) {
			t.Encoding, t.Bits, t.Scale, t.ZeroPoint, t.RealOffset = l.Kind.String(), l.Bits, l.Scale, l.Zero, l.Offset
			if l.Zero != 0 {
				t.Encoding = affine
			}
			if q.Type == ir.I8 {
				t.Encoding, t.ZeroPoint = affine, l.Zero-128
			}
			if len(q.Shape) > 0 {
				t.Channels = q.Shape[len(q.Shape)-1]
			}
		}
		if q.Levels.Channels != 0 {
			t.Packed, t.Channels = true, q.Levels.Channels
		}
		if q.Enc.Kind != ir.NoEncoding {
			t.Encoding, t.Channels, t.Packed = q.Enc.Kind.String(), q.Enc.Channels, true
			if len(q.Shape) > 0 {
				t.Bits = q.Shape[0]
			}
		}
		switch q.Kind {
		case ir.InputBuf, ir.OutputBuf:
			t.Offset = index[q.Kind]
			index[q.Kind]++
		case ir.ArenaBuf:
			t.Offset = q.Offset
		case ir.ConstBuf:
			t.Offset = offsets[q.Name]
		}
		all[q.Name] = t
	}
	return all, size
}

// DescriptionText is the JSON that the artifact carries, on one line.
func (m *Image) DescriptionText() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.Description); err != nil {
		return nil, fmt.Errorf("description of %s: %w", m.Name, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
