// Package cuda is the back end for NVIDIA's GPUs. It writes LLVM IR (codegen/llvm/emit). LLVM's
// tools make PTX of it, the text that GPU drivers assemble. It needs nothing of CUDA.
//
// Subnormals are flushed in code, and "/" and square roots are the instructions that round to
// nearest even, so kernels have the interpreter's bits by NVIDIA's specification. No GPU was at
// hand: tests assemble the text, and run none of it.
package cuda

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"ripc/caches"
	"ripc/codegen"
	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/toolchain"
	"ripc/ir"
	"ripc/targets"
)

// Name is this back end's name in --backend.
const Name = "cuda"

// Backend implements codegen.Backend. The zero Backend looks for LLVM's tools when it needs them.
type Backend struct {
	Tools *toolchain.Tools
}

// Name is "cuda".
func (Backend) Name() string { return Name }

// Kinds lists the kernels alone, and the bundle that engines open.
func (Backend) Kinds() []codegen.Kind {
	return []codegen.Kind{codegen.Bundle, codegen.PTX, codegen.Runnable}
}

// Accepts takes NVIDIA's GPUs.
func (Backend) Accepts(t targets.Target, _ codegen.Kind) error {
	return codegen.AcceptKernels(Name, codegen.PTX, t, "it is no GPU of NVIDIA's")
}

// separator divides the modules of a Func in codegen.Kernel.Text.
const separator = "\n; next kernel\n"

// Kernel makes LLVM text of f, a module for each kernel. It fails with *ir.Error if a block takes
// more threads or memory than t has.
func (Backend) Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	modules, launches, err := emit.DeviceKernels(f, symbol, t, floats)
	if err != nil {
		return codegen.Kernel{}, err
	}
	var texts []string
	for _, m := range modules {
		texts = append(texts, string(m.LL))
	}
	return codegen.DeviceKernel(f, symbol, t, []byte(strings.Join(texts, separator)), launches)
}

// Limit fails with *ir.Error if a block of f takes more than t has.
func (Backend) Limit(f *ir.Func, t targets.Target) error { return codegen.CheckBlocks(f, t) }

// Prepare finds LLVM's tools.
func (b Backend) Prepare(context.Context, targets.Target) (ready codegen.Backend, version string, err error) {
	if b.Tools == nil {
		if b.Tools, err = toolchain.Find(); err != nil {
			return nil, "", err
		}
	}
	return b, b.Tools.Version(), nil
}

// Files makes files.
func (b Backend) Files(ctx context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	ready, _, err := b.Prepare(ctx, m.Target)
	if err != nil {
		return nil, err
	}
	ptx, err := assemble(ctx, ready.(Backend).Tools, m)
	if err != nil {
		return nil, err
	}
	return m.DeviceFiles(kinds, ptx)
}

// assemble compiles all kernels of m, and joins them: the first one's head serves all.
func assemble(ctx context.Context, tools *toolchain.Tools, m *codegen.Image) ([]byte, error) {
	cache, err := caches.Objects()
	if err != nil {
		return nil, err
	}
	var jobs []toolchain.Job
	for _, f := range m.Order {
		k := m.Kernels[f]
		for i, text := range strings.Split(string(k.Text), separator) {
			jobs = append(jobs, toolchain.Job{Name: k.Launches[i].Kernel, LL: []byte(text), Target: m.Target,
				Kind: toolchain.Asm})
		}
	}
	texts, err := tools.CompileAll(ctx, cache, jobs)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	const last = ".address_size 64\n"
	for i, text := range texts {
		head, body, ok := bytes.Cut(text, []byte(last))
		if !ok {
			return nil, fmt.Errorf("kernel %s: LLVM's PTX has no %q", jobs[i].Name, strings.TrimSpace(last))
		}
		if i == 0 {
			out.Write(head)
			out.WriteString(last)
		}
		out.Write(body)
	}
	return out.Bytes(), nil
}
