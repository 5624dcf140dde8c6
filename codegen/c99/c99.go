// Package c99 is the back end that writes one freestanding file of C99, which any compiler builds for any little-endian chip
// with IEEE floats. It needs no tools, but for a shared library, which the system's C compiler makes (Compiler).
//
// The text follows the schedule: loops stand as they were scheduled, instructions are functions of what they mean, and
// constants are an array. What C leaves open is spelled out (helpers.go): integers wrap in unsigned arithmetic, shifts
// and divisions round down, floats become integers by saturation, a fused multiply-add is rounded once without libm, and
// subnormal numbers are flushed. So the bits are those of the interpreter, whatever the compiler and its options.
package c99

import (
	"context"
	"fmt"

	"ripc/codegen"
	"ripc/ir"
	"ripc/targets"
)

// Name is what the user calls this back end.
const Name = "c"

// Backend implements codegen.Backend.
type Backend struct {
	Compiler Compiler // makes shared libraries
}

// Name is "c".
func (Backend) Name() string { return Name }

// Kinds lists C source, and shared libraries made of it.
func (Backend) Kinds() []codegen.Kind { return []codegen.Kind{codegen.Source, codegen.SO} }

// Accepts takes every target: all of ripc's are little-endian, with IEEE floats.
func (Backend) Accepts(targets.Target) error { return nil }

// Kernel makes C of f, with the helpers and instructions that it uses before it.
func (Backend) Kernel(f *ir.Func, symbol string, _ targets.Target) (codegen.Kernel, error) {
	u := newUnit()
	frame := codegen.Layout(f)
	text, err := u.kernel(f, symbol)
	if err != nil {
		return codegen.Kernel{}, err
	}
	all := u.helperText() + u.instrText() + text
	return codegen.Kernel{Symbol: symbol, Text: []byte(all), Scratch: frame.Scratch, Stack: frame.Stack}, nil
}

// Files makes files.
func (b Backend) Files(ctx context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	source, err := file(m)
	if err != nil {
		return nil, err
	}
	files := map[codegen.Kind][]byte{}
	for _, k := range kinds {
		switch k {
		case codegen.Source:
			files[k] = source
		case codegen.SO:
			if m.Progress != nil {
				m.Progress(0, 1)
			}
			if files[k], err = b.Compiler.Shared(ctx, m.Name, source); err != nil {
				return nil, err
			}
			if m.Progress != nil {
				m.Progress(1, 1)
			}
		default:
			return nil, fmt.Errorf("internal error: back end %s was asked for .%s", Name, k)
		}
	}
	return files, nil
}
