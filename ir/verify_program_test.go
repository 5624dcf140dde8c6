package ir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ripc/ir"
)

func TestVerifyProgram(t *testing.T) {
	b := func(name string) ir.Buffer { return ir.Buffer{Name: name, Type: ir.U8, Shape: []int{64}} }
	add := &ir.Func{Name: "add", Body: &ir.Block{}, Params: []ir.Param{{Buffer: b("p")}, {Buffer: b("q")}, {Buffer: b("r"), Out: true}}}
	program := func() *ir.Program {
		return &ir.Program{
			Name: "p", Arena: 192, Funcs: []*ir.Func{add},
			Buffers: []ir.ProgBuf{
				{Buffer: b("in"), Kind: ir.InputBuf}, {Buffer: b("w"), Kind: ir.ConstBuf, Data: make([]byte, 64)},
				{Buffer: b("t"), Kind: ir.ArenaBuf}, {Buffer: b("u"), Kind: ir.ArenaBuf, Offset: 128},
				{Buffer: b("out"), Kind: ir.OutputBuf},
			},
			Stages: []ir.Stage{
				{Name: "one", Op: "add", Func: "add", Args: []string{"in", "w", "t"}},
				{Name: "two", Op: "add", Func: "add", Args: []string{"t", "w", "u"}},
				{Name: "three", Op: "add", Func: "add", Args: []string{"t", "u", "out"}},
			},
		}
	}
	within := func(f *ir.Func, param int) *ir.Func { // whose parameter has numbers up to 7
		g := *f
		g.Params = slices.Clone(f.Params)
		g.Params[param].Range = ir.Range{From: 0, To: 7}
		return &g
	}
	over := func(input string) *ir.Func { // whose output may lie over that input
		g := *add
		g.Params = slices.Clone(add.Params)
		g.Params[2].Over = input
		return &g
	}
	tests := []struct {
		name   string
		change func(p *ir.Program)
		want   string
	}{
		{"as it is", func(p *ir.Program) {}, ""},
		{"name", func(p *ir.Program) { p.Name = "" }, "\"\" is not a name"},
		{"func of the same name", func(p *ir.Program) { p.Funcs = append(p.Funcs, add) }, "has the name of another"},
		{"bad func", func(p *ir.Program) { p.Funcs = append(p.Funcs, &ir.Func{Name: "g"}) }, "@g: a statement is missing"},
		{"buffer named twice", func(p *ir.Program) { p.Buffers[1].Name = "in" }, "%in is declared twice"},
		{"buffer name", func(p *ir.Program) { p.Buffers[1].Name = "a/b" }, "\"a/b\" is not a name"},
		{"buffer shape", func(p *ir.Program) { p.Buffers[0].Shape = []int{0} }, "the shape [0]"},
		{"buffer kind", func(p *ir.Program) { p.Buffers[0].Kind = 7 }, "the kind of buffer is invalid"},
		{"layout", func(p *ir.Program) { p.Buffers[0].Layout = "N C" }, "the layout \"N C\" is not one word"},
		{"levels", func(p *ir.Program) { p.Buffers[0].Levels = ir.Levels{Kind: ir.Bipolar, Bits: 8, Scale: 0.5} }, ""},
		{"int32 words", func(p *ir.Program) {
			p.Buffers[0].Type, p.Buffers[0].Levels = ir.I32, ir.Levels{Kind: ir.BipolarInv, Bits: 1, Scale: 1, Channels: 2048}
		}, "the argument is %in: i32[64]"}, // the levels are right, the func's parameter is another
		{"int32 words of fewer channels", func(p *ir.Program) {
			p.Buffers[0].Type, p.Buffers[0].Levels = ir.I32, ir.Levels{Kind: ir.BipolarInv, Bits: 1, Scale: 1, Channels: 2016}
		}, "channels=2016 does not fit the buffer"},
		{"bytes with channels", func(p *ir.Program) {
			p.Buffers[0].Levels = ir.Levels{Kind: ir.BipolarInv, Bits: 1, Scale: 1, Channels: 2048}
		}, "channels=2048 does not fit the buffer"},
		{"levels of the arena", func(p *ir.Program) { p.Buffers[2].Levels = ir.Levels{Kind: ir.Bipolar, Bits: 2, Scale: 1} }, "the buffer has levels, and is arena"},
		{"levels of nothing", func(p *ir.Program) { p.Buffers[0].Levels = ir.Levels{Bits: 2, Scale: 1} }, "levels=none2 scale=1 makes no sense"},
		{"levels of 9 bits", func(p *ir.Program) { p.Buffers[0].Levels = ir.Levels{Kind: ir.Bipolar, Bits: 9, Scale: 1} }, "levels=bipolar9 scale=1 makes no sense"},
		{"scale", func(p *ir.Program) { p.Buffers[0].Levels = ir.Levels{Kind: ir.Bipolar, Bits: 1, Scale: math.NaN()} }, "scale=NaN makes no sense"},
		{"levels of floats", func(p *ir.Program) {
			p.Buffers[0].Type, p.Buffers[0].Levels = ir.F32, ir.Levels{Kind: ir.Unipolar, Bits: 2, Scale: 1}
		}, "levels=unipolar2 scale=1 does not fit the buffer"},
		{"levels of other planes", func(p *ir.Program) {
			p.Buffers[0].Shape, p.Buffers[0].Enc = []int{1, 64}, ir.Encoding{Kind: ir.Unipolar, Channels: 512}
			p.Buffers[0].Levels = ir.Levels{Kind: ir.Unipolar, Bits: 2, Scale: 1}
		}, "levels=unipolar2 scale=1 does not fit the buffer"},
		{"offset", func(p *ir.Program) { p.Buffers[3].Offset = 96 }, "64 bytes at 96 are not in an arena of 192 bytes"},
		{"negative offset", func(p *ir.Program) { p.Buffers[3].Offset = -64 }, "64 bytes at -64"},
		{"past the arena", func(p *ir.Program) { p.Buffers[3].Offset = 192 }, "64 bytes at 192"},
		{"contents", func(p *ir.Program) { p.Buffers[1].Data = make([]byte, 63) }, "63 bytes of contents, not 64"},
		{"no func", func(p *ir.Program) { p.Stages[0].Func = "sub" }, "stage \"one\": there is no func @sub"},
		{"op", func(p *ir.Program) { p.Stages[0].Op = "" }, "the op \"\" is not one word"},
		{"macs", func(p *ir.Program) { p.Stages[0].MACs = -1 }, "-1 operations"},
		{"arguments", func(p *ir.Program) { p.Stages[0].Args = []string{"in", "t"} }, "2 arguments"},
		{"no buffer", func(p *ir.Program) { p.Stages[0].Args = []string{"in", "w", "v"} }, "there is no buffer %v"},
		{"type", func(p *ir.Program) { p.Buffers[0].Type = ir.I8 }, "the argument is %in: i8[64]"},
		{"range that the argument has not", func(p *ir.Program) { p.Funcs[0] = within(add, 0) }, "elements of %in: u8[64] can be others"},
		{"range that the argument has", func(p *ir.Program) {
			p.Funcs[0], p.Buffers[0].Range, p.Buffers[2].Range = within(add, 0), ir.Range{From: 1, To: 5}, ir.Range{From: 1, To: 7}
		}, "the stage may write others than %t: u8[64] from 1 to 7 has"},
		{"range of a constant", func(p *ir.Program) {
			p.Stages[2].Args[1] = "w"
			p.Funcs[0], p.Buffers[1].Data[63] = within(add, 1), 7
		}, ""},
		{"constant outside", func(p *ir.Program) { p.Funcs[0], p.Buffers[1].Data[63] = within(add, 1), 8 }, "element 63 of the constant is another"},
		{"range of floats", func(p *ir.Program) { p.Buffers[0].Type, p.Buffers[0].Range = ir.F32, ir.Range{From: 0, To: 5} }, "only integers have a range"},
		{"another shape", func(p *ir.Program) { p.Buffers[0].Shape = []int{8, 8} }, ""},
		{"size", func(p *ir.Program) { p.Buffers[0].Shape = []int{8, 9} }, "the argument is %in: u8[8, 9]"},
		{"encoding", func(p *ir.Program) {
			p.Buffers[0].Shape, p.Buffers[0].Enc = []int{1, 64}, ir.Encoding{Kind: ir.Unipolar, Channels: 512}
		}, "the argument is %in: u8[1, 64] unipolar c=512"},
		{"writes a constant", func(p *ir.Program) { p.Stages[0].Args = []string{"in", "in", "w"} }, "the stage writes the const %w"},
		{"writes an input", func(p *ir.Program) { p.Stages[0].Args = []string{"w", "w", "in"} }, "the stage writes the input %in"},
		{"reads too early", func(p *ir.Program) { p.Stages[0].Args = []string{"u", "w", "t"} }, "%u is read, but not written before"},
		{"reads what is gone", func(p *ir.Program) { p.Buffers[3].Offset = 0; p.Stages[1].Args = []string{"w", "w", "u"} }, "%t is read, but not written before, or overwritten since"},
		{"in place", func(p *ir.Program) { p.Stages[1].Args = []string{"t", "w", "t"} }, "%t and %t are in the same place"},
		{"overlap", func(p *ir.Program) { p.Buffers[3].Offset = 0 }, "%t and %u are in the same place"},
		{"an output over an input", func(p *ir.Program) {
			p.Buffers[3].Offset, p.Funcs, p.Stages[2].Args[0] = 0, []*ir.Func{over("p")}, "w"
		}, ""},
		{"over an input that is read again", func(p *ir.Program) { p.Buffers[3].Offset, p.Funcs = 0, []*ir.Func{over("p")} }, "%t is read, but not written before, or overwritten since"},
		{"over another input", func(p *ir.Program) {
			p.Buffers[3].Offset, p.Funcs, p.Stages[2].Args[0] = 0, []*ir.Func{over("q")}, "w"
		}, "%t and %u are in the same place"},
		{"beside the place of the input", func(p *ir.Program) {
			p.Buffers[2].Shape, p.Buffers[3].Shape, p.Buffers[3].Offset, p.Funcs = []int{128}, []int{128}, 64, []*ir.Func{over("p")}
			for k := range 3 {
				p.Funcs[0].Params[k].Shape = []int{128}
			}
			p.Buffers[0].Shape, p.Buffers[1].Shape, p.Buffers[1].Data = []int{128}, []int{128}, make([]byte, 128)
		}, "%t and %u are in the same place"},
		{"over no parameter", func(p *ir.Program) { p.Funcs = []*ir.Func{over("z")} }, "it cannot lie in the place of %z"},
		{"over itself", func(p *ir.Program) { p.Funcs = []*ir.Func{over("r")} }, "it cannot lie in the place of %r"},
		{"over a smaller input", func(p *ir.Program) {
			p.Funcs = []*ir.Func{over("p")}
			p.Funcs[0].Params[0].Shape = []int{32}
		}, "it cannot lie in the place of %p"},
		{"output not written", func(p *ir.Program) { p.Stages = p.Stages[:2] }, "no stage writes this output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := program()
			tt.change(p)
			check(t, ir.VerifyProgram(p), tt.want)
		})
	}
}

// TestVerifyProgramArena: what is read must have been written last in its place, in random programs over a small arena; the
// bytes themselves, each with the buffer that wrote it, say what is right.
func TestVerifyProgramArena(t *testing.T) {
	copies := func(in, out int) *ir.Func {
		return &ir.Func{Name: fmt.Sprintf("copy%dto%d", in, out), Body: &ir.Block{},
			Params: []ir.Param{{Buffer: ir.Buffer{Name: "x", Type: ir.U8, Shape: []int{in}}}, {Buffer: ir.Buffer{Name: "y", Type: ir.U8, Shape: []int{out}}, Out: true}}}
	}
	right, wrong := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &ir.Program{Name: "p", Arena: 10 * 64, Buffers: []ir.ProgBuf{{Buffer: ir.Buffer{Name: "in", Type: ir.U8, Shape: []int{8}}, Kind: ir.InputBuf},
			{Buffer: ir.Buffer{Name: "out", Type: ir.U8, Shape: []int{8}}, Kind: ir.OutputBuf}}}
		for i := range 7 {
			size, at := 1+r.IntN(200), r.IntN(7)
			p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: fmt.Sprintf("b%d", i), Type: ir.U8, Shape: []int{size}}, Kind: ir.ArenaBuf, Offset: int64(64 * at)})
		}
		owner, want, made := make([]string, p.Arena), true, map[string]bool{}
		stage := func(from, to *ir.ProgBuf) {
			f := copies(from.Shape[0], to.Shape[0])
			if !made[f.Name] {
				made[f.Name], p.Funcs = true, append(p.Funcs, f)
			}
			p.Stages = append(p.Stages, ir.Stage{Name: "s", Op: "copy", Func: f.Name, Args: []string{from.Name, to.Name}})
			if from.Kind == ir.ArenaBuf {
				for _, o := range owner[from.Offset:][:from.Shape[0]] {
					want = want && o == from.Name
				}
			}
			if to.Kind == ir.ArenaBuf {
				for i := range to.Shape[0] {
					owner[int(to.Offset)+i] = to.Name
				}
			}
		}
		last := &p.Buffers[0]
		for range 2 + r.IntN(6) {
			next := &p.Buffers[2+r.IntN(7)]
			if next == last || next.Offset < last.Offset+int64(last.Shape[0]) && last.Offset < next.Offset+int64(next.Shape[0]) {
				next = &p.Buffers[1]
			}
			if stage(last, next); next.Kind == ir.ArenaBuf {
				last = &p.Buffers[2+r.IntN(7)]
				if r.IntN(4) > 0 {
					last = next
				}
			}
		}
		stage(&p.Buffers[0], &p.Buffers[1])
		err := ir.VerifyProgram(p)
		if (err == nil) != want && (err == nil || !strings.Contains(err.Error(), "in the same place")) {
			t.Fatalf("seed %d: %v, want well-formed %v\n%s", seed, err, want, p)
		}
		if want {
			right++
		} else {
			wrong++
		}
	}
	if right < 100 || wrong < 100 {
		t.Errorf("%d programs were right and %d wrong", right, wrong)
	}
}

// TestVerifyProgramMany: twice the stages do not take four times as long.
func TestVerifyProgramMany(t *testing.T) {
	b := func(name string, kind ir.BufKind) ir.ProgBuf {
		return ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.U8, Shape: []int{64}}, Kind: kind}
	}
	x, y := b("x", ir.InputBuf), b("y", ir.OutputBuf)
	p := &ir.Program{Name: "p", Arena: 128, Buffers: []ir.ProgBuf{x, y}}
	p.Funcs = []*ir.Func{{Name: "copy", Body: &ir.Block{}, Params: []ir.Param{{Buffer: x.Buffer}, {Buffer: y.Buffer, Out: true}}}}
	last := "x"
	for i := range 50_000 {
		t := b(fmt.Sprintf("t%d", i), ir.ArenaBuf)
		t.Offset = int64(i % 2 * 64)
		p.Buffers = append(p.Buffers, t)
		p.Stages = append(p.Stages, ir.Stage{Name: t.Name, Op: "copy", Func: "copy", Args: []string{last, t.Name}})
		last = t.Name
	}
	p.Stages = append(p.Stages, ir.Stage{Name: "y", Op: "copy", Func: "copy", Args: []string{last, "y"}})
	start := time.Now()
	if err := ir.VerifyProgram(p); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 20*time.Second { // well below a second; 2,500 million comparisons took minutes
		t.Errorf("50,000 stages took %v", d)
	}
}
