package interp

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ripc/ir"
)

// program negates its input and adds a constant, with a stage for each.
func program() *ir.Program {
	x, w, a, y := buffer("x", ir.U8, 2), buffer("w", ir.U8, 2), buffer("a", ir.U8, 2), buffer("y", ir.U8, 2)
	x.Enc = ir.Encoding{Kind: ir.Unipolar, Channels: 11}
	i := ir.V("i")
	not := fn(loop("i", 2, set(buffer("yq", ir.U8, 2), ir.Un(ir.Not, ir.At(buffer("p", ir.U8, 2), i)), i)), buffer("p", ir.U8, 2), buffer("yq", ir.U8, 2))
	not.Name = "not"
	add := fn(loop("i", 2, set(y, ir.Bin(ir.Add, ir.At(a, i), ir.At(w, i)), i)), a, w, y)
	add.Name = "add"
	return &ir.Program{Name: "p", Funcs: []*ir.Func{not, add},
		Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: w, Kind: ir.ConstBuf, Data: []byte{1, 2}}, {Buffer: a, Kind: ir.ArenaBuf}, {Buffer: y, Kind: ir.OutputBuf}},
		Stages:  []ir.Stage{{Name: "first", Func: "not", Args: []string{"x", "a"}}, {Name: "second", Func: "add", Args: []string{"a", "w", "y"}}}}
}

func TestProgram(t *testing.T) {
	var log []string
	in := []byte{0x0F, 0xF9} // 11 channels, so the upper five bits of the second byte are padding
	out, err := RunProgram(context.Background(), program(), [][]byte{in}, Options{
		Checks:   All(),
		Progress: func(done, total int, name string) { log = append(log, name+string(rune('0'+done))) },
		Observe: func(stage int, name string, bufs map[string][]byte) {
			log = append(log, name)
			if stage == 0 && (!slices.Equal(bufs["a"], []byte{0xF0, 0xFE}) || bufs["y"][0] != Poison) {
				t.Errorf("after stage 0: %x", bufs)
			}
		}})
	if err != nil || len(out) != 1 || !slices.Equal(out[0], []byte{0xF1, 0x00}) {
		t.Errorf("got %x, %v", out, err)
	}
	if in[1] != 0xF9 {
		t.Error("the caller's input was changed")
	}
	if want := "first0 first second1 second 2"; strings.Join(log, " ") != want {
		t.Errorf("log %q, want %q", strings.Join(log, " "), want)
	}
}

func TestProgramErrors(t *testing.T) {
	for want, change := range map[string]func(p *ir.Program){
		"there is no func @no":                       func(p *ir.Program) { p.Stages[0].Func = "no" },
		"there is no buffer %no":                     func(p *ir.Program) { p.Stages[0].Args[0] = "no" },
		"2 arguments for 3 parameters of @add":       func(p *ir.Program) { p.Stages[1].Args = p.Stages[1].Args[:2] },
		"@add writes the const %w":                   func(p *ir.Program) { p.Stages[1].Args[2] = "w" },
		"%a is written and is another argument too":  func(p *ir.Program) { p.Stages[1].Args[2] = "a" },
		"cannot be parameter %p: u8[2] of @not":      func(p *ir.Program) { p.Buffers[0].Shape = []int{1, 1} },
		"no data for input %w: 1 inputs given":       func(p *ir.Program) { p.Buffers[1].Kind = ir.InputBuf },
		"1 inputs given, but there are 0":            func(p *ir.Program) { p.Buffers[0].Kind = ir.ArenaBuf },
		"two buffers are called %x":                  func(p *ir.Program) { p.Buffers[1].Name = "x" },
		"%w: u8[2] has 1 bytes of data, but needs 2": func(p *ir.Program) { p.Buffers[1].Data = []byte{1} },
		`stage "first": @not: index 2 out of range`:  func(p *ir.Program) { p.Funcs[0].Body.(*ir.For).Extent = 3 },
		`stage "first": @not: loop %i has extent -1`: func(p *ir.Program) { p.Funcs[0].Body.(*ir.For).Extent = -1 },
	} {
		p := program()
		change(p)
		in := make([]byte, p.Buffers[0].Bytes())
		if _, err := RunProgram(context.Background(), p, [][]byte{in}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}
