package artifact

import (
	"fmt"

	"ripc/codegen/llvm/driver"
	"ripc/codegen/llvm/emit"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Symbols of data, hidden like those of kernels.
const (
	weightsSymbol  = "ripc_weights"
	describeSymbol = "ripc_describe_text"
)

// align is the alignment of everything in a workspace and in the weights, in bytes.
const align = 64

// module is LLVM text that becomes one object.
type module struct {
	name string
	ll   []byte
}

// build is a Program with all its code generated, before anything is compiled.
type build struct {
	in      Input
	name    string // C identifier
	modules []module
	kernels map[string]emit.Module // by Func
	offsets map[string]int64       // of constants in weights
	weights []byte
	desc    *describe.Artifact
	objects [][]byte // of modules, once compiled
}

// newBuild generates the code, lays out the constants and writes the description.
func newBuild(in Input) (*build, error) {
	b := &build{in: in, name: Identifier(in.Program.Name), kernels: map[string]emit.Module{}}
	if err := b.check(); err != nil {
		return nil, err
	}
	b.desc = Describe(in)
	if err := b.generate(); err != nil {
		return nil, err
	}
	b.layWeights()
	b.addCode()
	info := driver.DriverInfo{
		Name: b.name, Kernels: map[string]driver.Kernel{}, Offsets: b.offsets,
		Describe: describeSymbol, Arena: b.desc.ArenaBytes,
	}
	if len(b.weights) > 0 {
		info.Weights = weightsSymbol
	}
	for f, k := range b.kernels {
		info.Kernels[f] = driver.Kernel{Symbol: k.Symbol, Scratch: k.Scratch}
	}
	ll, err := driver.Driver(in.Program, info, in.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Program.Name, err)
	}
	b.modules = append(b.modules, module{b.name + "_driver", ll})
	return b, nil
}

// check fails unless the Program is sound and a caller can bring its inputs and outputs.
func (b *build) check() error {
	p := b.in.Program
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
		case ir.F32, ir.I32, ir.U32, ir.U8, ir.I8:
		default:
			return &ir.Error{Op: ir.BufferString(q.Buffer), Node: "program @" + p.Name,
				Msg:  fmt.Sprintf("an %s cannot be %s", q.Kind, q.Type),
				Help: "inputs and outputs are f32, i32, u32, u8 or i8"}
		}
	}
	if count[ir.InputBuf] == 0 || count[ir.OutputBuf] == 0 {
		return &ir.Error{Node: "program @" + p.Name, Msg: fmt.Sprintf("%d inputs and %d outputs; at least one of each is needed",
			count[ir.InputBuf], count[ir.OutputBuf])}
	}
	return nil
}

// generate makes a kernel of each Func that a stage uses, in the order of the Funcs.
func (b *build) generate() error {
	names := symbols(b.in.Program)
	for _, f := range b.in.Program.Funcs {
		if names[f.Name] == "" {
			continue
		}
		k, err := emit.Kernel(f, names[f.Name], b.in.Target)
		if err != nil {
			return fmt.Errorf("code for %s: %w", b.in.Target.Name, err)
		}
		b.kernels[f.Name] = k
		b.modules = append(b.modules, module{k.Symbol, k.LL})
	}
	return nil
}

// layWeights puts all constants into one block.
func (b *build) layWeights() {
	var size int64
	b.offsets, size = constOffsets(b.in.Program)
	b.weights = make([]byte, size)
	for _, q := range b.in.Program.Buffers {
		if q.Kind == ir.ConstBuf {
			copy(b.weights[b.offsets[q.Name]:], q.Data)
		}
	}
}

// constOffsets gives each constant a place, at a multiple of align, and says how long they are together.
func constOffsets(p *ir.Program) (offsets map[string]int64, size int64) {
	offsets = map[string]int64{}
	for _, q := range p.Buffers {
		if q.Kind == ir.ConstBuf {
			offsets[q.Name] = roundUp(size)
			size = offsets[q.Name] + int64(q.Bytes())
		}
	}
	return offsets, size
}

func roundUp(n int64) int64 { return (n + align - 1) / align * align }
