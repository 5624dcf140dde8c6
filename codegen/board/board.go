// Package board is the back end that makes programs of networks for chips without an operating
// system: for the boards of targets/boards. The code is that of package c99, unchanged. Start-up
// code and all else comes from engine/bareboard, which runs the programs, too.
package board

import (
	"context"
	"fmt"

	"ripc/codegen"
	"ripc/codegen/c99"
	"ripc/engine/bareboard"
	"ripc/ir"
	"ripc/targets"
	"ripc/targets/boards"
)

// Name is this back end's name in --backend.
const Name = "board"

// Backend implements codegen.Backend.
type Backend struct{}

// Name is "board".
func (Backend) Name() string { return Name }

// Kinds lists the files for engines; C to ship comes from package c99.
func (Backend) Kinds() []codegen.Kind { return []codegen.Kind{codegen.Runnable} }

// Accepts takes the targets that have a board.
func (Backend) Accepts(t targets.Target, _ codegen.Kind) error {
	if _, ok := boards.Of(t.Name); !ok {
		return &codegen.TargetError{Backend: Name, Target: t.Name, Reason: "there is no board for it"}
	}
	return nil
}

// Kernel makes C of f.
func (Backend) Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (codegen.Kernel, error) {
	return c99.Backend{}.Kernel(f, symbol, t, floats)
}

// Limit bounds nothing.
func (Backend) Limit(*ir.Func, targets.Target) error { return nil }

// Prepare asks for the version of the board's compiler.
func (b Backend) Prepare(ctx context.Context, t targets.Target) (codegen.Backend, string, error) {
	board, ok := boards.Of(t.Name)
	if !ok {
		return nil, "", b.Accepts(t, codegen.Runnable)
	}
	version, err := bareboard.CompilerVersion(ctx, board)
	return b, version, err
}

// Files makes the program. It fails as bareboard.Build.
func (Backend) Files(ctx context.Context, m *codegen.Image, kinds []codegen.Kind) (map[codegen.Kind][]byte, error) {
	b, ok := boards.Of(m.Target.Name)
	if !ok || len(kinds) != 1 || kinds[0] != codegen.Runnable {
		return nil, fmt.Errorf("internal error: back end %s was asked for %v for %s", Name, kinds, m.Target.Name)
	}
	files, err := c99.Backend{}.Files(ctx, m, []codegen.Kind{codegen.Source})
	if err != nil {
		return nil, err
	}
	if m.Progress != nil {
		m.Progress(0, 1)
	}
	program, err := bareboard.Build(ctx, bareboard.Source{Name: m.Name, Inputs: len(m.Description.Inputs),
		Outputs: len(m.Description.Outputs), Code: files[codegen.Source], Header: m.HeaderText()}, b)
	if err != nil {
		return nil, err
	}
	if m.Progress != nil {
		m.Progress(1, 1)
	}
	return map[codegen.Kind][]byte{codegen.Runnable: program}, nil
}
