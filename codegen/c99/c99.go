// Package c99 is the back end that writes one freestanding file of C99, which any compiler builds
// for any little-endian chip with IEEE floats. It needs no tools, but for a shared library, which
// the system's C compiler makes (Compiler).
//
// The text follows the schedule: loops stand as they were scheduled, instructions are functions of
// their meaning, and constants are an array. Products by Arm's DSP extension are inline assembly
// where the compiler has it, beside plain C (dsp.go).
//
// Behaviour that C leaves open is made explicit (helpers.h). Integers wrap in unsigned arithmetic,
// and shifts and divisions round down. Floats become integers by saturation, a fused multiply-add
// is rounded once without libm, and subnormal numbers are flushed. So the bits are those of the
// interpreter, for any compiler and its options.
package c99

import (
	"bytes"
	"context"
	"fmt"

	"ripc/codegen"
	"ripc/codegen/clike"
	"ripc/internal/container"
	"ripc/ir"
	"ripc/targets"
)

// Name is this back end's name in --backend.
const Name = "c"

// Backend implements codegen.Backend.
type Backend struct {
	Compiler Compiler // makes shared libraries
}

// Name is "c".
func (Backend) Name() string { return Name }

// Kinds lists C source, and the files that the system's C compiler makes of it.
func (Backend) Kinds() []codegen.Kind {
	return []codegen.Kind{codegen.Source, codegen.Package, codegen.SO, codegen.Runnable}
}

// Accepts takes every CPU, but makes no shared library where nothing could load it.
func (b Backend) Accepts(t targets.Target, k codegen.Kind) error {
	if t.IsDevice() {
		return &codegen.TargetError{Backend: Name, Target: t.Name, Reason: "a device runs kernels, not functions of C"}
	}
	if k != codegen.SO {
		return nil
	}
	if t.Bare {
		return &codegen.TargetError{Backend: Name, Target: t.Name,
			Reason: "the chip has no system that loads libraries"}
	}
	if host, err := targets.Host(); err == nil && b.Compiler.command() == hostCompiler && host.Arch != t.Arch {
		return b.foreignError(host.Arch, t)
	}
	return nil
}

// foreignError reports that b's compiler makes code for another architecture than t's.
func (b Backend) foreignError(arch string, t targets.Target) error {
	return &codegen.TargetError{Backend: Name, Target: t.Name, Reason: fmt.Sprintf(
		"%s makes code for %s, not for %s; name a compiler for it with the environment variable CC, or emit c",
		b.Compiler.command(), arch, t.Arch)}
}

// Kernel makes C of f, with the helpers and instructions that it uses before it.
func (Backend) Kernel(f *ir.Func, symbol string, _ targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	u := clike.NewUnit(floats)
	frame := codegen.Layout(f)
	text, err := u.Kernel(f, symbol)
	if err != nil {
		return codegen.Kernel{}, err
	}
	all := u.HelperText() + u.InstrText() + text
	return codegen.Kernel{Symbol: symbol, Text: []byte(all), Scratch: frame.Scratch, Stack: frame.Stack}, nil
}

// Limit bounds nothing.
func (Backend) Limit(*ir.Func, targets.Target) error { return nil }

// Prepare needs nothing. The version is unknown.
func (b Backend) Prepare(context.Context, targets.Target) (codegen.Backend, string, error) {
	return b, "", nil
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
		case codegen.Package:
			if files[k], err = packed(m, source); err != nil {
				return nil, err
			}
		case codegen.SO, codegen.Runnable:
			if m.Progress != nil {
				m.Progress(0, 1)
			}
			if files[k], err = b.Compiler.CompileShared(ctx, m.Name, source); err != nil {
				return nil, err
			}
			if err := b.checkArch(files[k], m.Target, k); err != nil {
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

// checkArch fails unless a library for t has t's architecture. A Runnable is for the machine that
// the compiler makes code for: the source is the same.
func (b Backend) checkArch(lib []byte, t targets.Target, k codegen.Kind) error {
	if k == codegen.Runnable {
		return nil
	}
	f, err := container.Open(bytes.NewReader(lib))
	if err != nil {
		return fmt.Errorf("%s made no library: %w", b.Compiler.command(), err)
	}
	if got := f.Arch(); got != t.Arch {
		return b.foreignError(got, t)
	}
	return nil
}
