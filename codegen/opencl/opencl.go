// Package opencl is the back end for devices that OpenCL reaches. It writes OpenCL C 1.2, which the
// device's driver compiles as the bundle is opened, so it needs no tools.
//
// Each Func becomes kernels (deps.DeviceOf). Integers and floats have the interpreter's bits: "/",
// square roots, and products near the smallest numbers are spelled out (codegen/clike).
package opencl

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/codegen/clike"
	"ripc/ir"
	"ripc/targets"
)

// Name is this back end's name in --backend.
const Name = "opencl"

// Backend implements codegen.Backend.
type Backend struct{}

//go:embed prelude.cl
var prelude string

// Name is "opencl".
func (Backend) Name() string { return Name }

// Kinds lists the bundle that engines open, the kernels alone, and C for programs with a context of
// their own.
func (Backend) Kinds() []codegen.Kind {
	return []codegen.Kind{codegen.Bundle, codegen.CL, codegen.Source, codegen.Runnable}
}

// Accepts takes the devices of OpenCL.
func (Backend) Accepts(t targets.Target, _ codegen.Kind) error {
	return codegen.AcceptKernels(Name, codegen.CL, t, "it is no device of OpenCL")
}

// Kernel makes OpenCL C of f, with its helpers before it. It fails with *ir.Error if a block takes
// more threads or memory than t has.
func (Backend) Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	u := clike.NewDevice(floats)
	text, launches, err := u.DeviceKernels(f, symbol)
	if err != nil {
		return codegen.Kernel{}, err
	}
	return codegen.DeviceKernel(f, symbol, t, []byte(u.HelperText()+text), launches)
}

// Limit fails with *ir.Error if a block of f takes more than t has.
func (Backend) Limit(f *ir.Func, t targets.Target) error { return codegen.CheckBlocks(f, t) }

// Prepare needs nothing.
func (b Backend) Prepare(context.Context, targets.Target) (codegen.Backend, string, error) {
	return b, "", nil
}

// Files makes files.
func (Backend) Files(_ context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	u, index := clike.NewDevice(m.Floats), m.Program.Index()
	var kernels strings.Builder
	for _, name := range m.Order {
		text, _, err := u.DeviceKernels(index.Func(name), m.Kernels[name].Symbol)
		if err != nil {
			return nil, err
		}
		kernels.WriteString(text)
	}
	head := fmt.Sprintf("/* The kernels of network %s, compiled by ripc %s for %s. Generated; do not edit. */\n",
		m.Name, codegen.Comment(m.Version), m.Target.Name)
	text := []byte(head + prelude + u.HelperText() + kernels.String())
	files, err := m.DeviceFiles(slices.DeleteFunc(slices.Clone(kinds), func(k codegen.Kind) bool {
		return k == codegen.Source
	}), text)
	if slices.Contains(kinds, codegen.Source) {
		files[codegen.Source] = source(m, text)
	}
	return files, err
}
