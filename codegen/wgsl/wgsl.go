// Package wgsl is the back end for WebGPU. It writes kernels in WGSL, which the browser compiles as
// a page is opened, so it needs no tools.
//
// The language has integers of 32 bits and floats alone. Narrower integers are extracted from words
// of memory. A Func that computes with wider ones is refused.
package wgsl

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/deps"
	"ripc/runtime/describe"
	"ripc/targets"
)

// Name is this back end's name in --backend.
const Name = "wgsl"

// Backend implements codegen.Backend.
type Backend struct{}

//go:embed prelude.wgsl
var prelude string

// Name is "wgsl".
func (Backend) Name() string { return Name }

// Kinds lists the kernels alone, and the bundle that engines open.
func (Backend) Kinds() []codegen.Kind {
	return []codegen.Kind{codegen.Bundle, codegen.WGSL, codegen.Runnable}
}

// Accepts takes WebGPU.
func (Backend) Accepts(t targets.Target, _ codegen.Kind) error {
	return codegen.AcceptKernels(Name, codegen.WGSL, t, "it is no device of WebGPU")
}

// Kernel makes WGSL of f. It fails with *ir.Error if a block takes more threads or memory than t
// has, or if f needs integers of 64 bits.
func (Backend) Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	text, launches, err := kernels(f, symbol, t, floats)
	if err != nil {
		return codegen.Kernel{}, err
	}
	return codegen.DeviceKernel(f, symbol, t, []byte(text), launches)
}

// Limit fails as Kernel does.
func (Backend) Limit(f *ir.Func, t targets.Target) error {
	_, _, err := kernels(f, "f", t, nil)
	return err
}

// Prepare needs nothing.
func (b Backend) Prepare(context.Context, targets.Target) (codegen.Backend, string, error) {
	return b, "", nil
}

// Files makes files.
func (Backend) Files(_ context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	text := []byte(fmt.Sprintf("/* The kernels of network %s, compiled by ripc %s for %s. Generated; do not edit. */\n",
		m.Name, codegen.Comment(m.Version), m.Target.Name) + prelude)
	for _, name := range m.Order {
		text = append(text, m.Kernels[name].Text...)
	}
	return m.DeviceFiles(kinds, text)
}

// kernels writes the kernels of f, each for a launch, with names that begin with symbol. Argument i
// of a kernel is an element of places: where the input, output or scratch memory begins.
func kernels(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (text string,
	launches []describe.Launch, err error) {
	if err := deps.CheckDevice(f); err != nil {
		return "", nil, err
	}
	d, err := deps.DeviceOf(f)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	err = ir.Try(func() {
		for i, k := range d.Kernels {
			l := k.Launch(fmt.Sprintf("%s_%d", symbol, i))
			w := newWriter(f, k, floats)
			l.Shared = w.kernel(d, l)
			if err := codegen.CheckBlock(f, t, l.Threads, l.Shared); err != nil {
				panic(err)
			}
			out.WriteString(w.head.String() + w.String() + "\n")
			launches = append(launches, l)
		}
	})
	return out.String(), launches, err
}
