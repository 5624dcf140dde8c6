package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ripc/internal/describe"
	"ripc/ir"
)

// describe writes down what the artifact is.
func (b *build) describe() {
	p, t := b.in.Program, b.in.Target
	b.desc = &describe.Artifact{
		Format: describe.Format, Compiler: b.in.Version, Name: b.name,
		Target: t.Name, Arch: t.Arch, CPU: t.CPU, Features: append([]string{}, t.Features...), QemuCPU: t.QemuCPU,
		ArenaBytes: roundUp(p.Arena), WeightBytes: int64(len(b.weights)), Stages: []describe.Stage{},
	}
	for _, q := range p.Buffers {
		switch q.Kind {
		case ir.InputBuf:
			b.desc.Inputs = append(b.desc.Inputs, b.tensor(&q))
		case ir.OutputBuf:
			b.desc.Outputs = append(b.desc.Outputs, b.tensor(&q))
		}
	}
	for _, s := range p.Stages {
		k := b.kernels[s.Func]
		b.desc.ScratchBytes = max(b.desc.ScratchBytes, roundUp(k.Scratch))
		d := describe.Stage{
			Name: s.Name, Op: s.Op, Kernel: k.Symbol, Trace: b.in.Traces[s.Func], MACs: s.MACs,
			Reads: []describe.Tensor{}, Writes: []describe.Tensor{}, Note: note(s.Note, k.Notes),
		}
		for i, q := range p.FuncByName(s.Func).Params {
			if a := b.tensor(p.BufferByName(s.Args[i])); q.Out {
				d.Writes = append(d.Writes, a)
			} else {
				d.Reads = append(d.Reads, a)
			}
		}
		b.desc.Stages = append(b.desc.Stages, d)
	}
}

// note joins the Program's note on a stage with those of code generation.
func note(stage string, kernel []string) string {
	all := slices.DeleteFunc(append([]string{stage}, kernel...), func(s string) bool { return s == "" })
	return strings.Join(all, "; ")
}

// tensor describes a buffer.
func (b *build) tensor(q *ir.ProgBuf) describe.Tensor {
	t := describe.Tensor{
		Name: q.Name, DType: q.Type.String(), Shape: append([]int{}, q.Shape...), Layout: q.Layout, Where: q.Kind.String(),
	}
	if q.Enc.Kind != ir.NoEncoding {
		t.Encoding, t.Channels, t.Packed = q.Enc.Kind.String(), q.Enc.Channels, true
		if len(q.Shape) > 0 {
			t.Bits = q.Shape[0]
		}
	}
	switch q.Kind {
	case ir.InputBuf, ir.OutputBuf:
		for _, r := range b.in.Program.Buffers {
			if r.Name == q.Name {
				break
			}
			if r.Kind == q.Kind {
				t.Offset++
			}
		}
	case ir.ArenaBuf:
		t.Offset = q.Offset
	case ir.ConstBuf:
		t.Offset = b.offsets[q.Name]
	}
	return t
}

// descriptionText is the JSON that the artifact carries, on one line.
func (b *build) descriptionText() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(b.desc); err != nil {
		return nil, fmt.Errorf("description of %s: %w", b.name, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
