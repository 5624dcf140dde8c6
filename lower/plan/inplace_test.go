package plan_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/interp"
	"ripc/ir/irtext"
	"ripc/lower/plan"
)

// kernels are Funcs of two inputs of 96 floats: one that may write over either, one over its second, one that may not.
const kernels = `func @add(%a: f32[96], %b: f32[96], out %y: f32[96]) {
  for %i in 0:96 vectorize {
    %y[%i] = %a[%i] + %b[%i]
  }
}
func @reversed(%a: f32[96], %b: f32[96], out %y: f32[96]) {
  for %i in 0:96 vectorize {
    %y[%i] = %a[95 - %i] - %b[%i]
  }
}
func @shifted(%a: f32[96], %b: f32[96], out %y: f32[96]) {
  for %o in 0:25 {
    for %i in 0:4 vectorize {
      %y[min(%o * 4, 92) + %i] = %a[min(%o * 4, 92) + %i] * %b[min(%o * 4, 92) + %i]
    }
  }
}
`

func funcs(t interface{ Fatal(args ...any) }) []*ir.Func {
	file, err := irtext.Parse("kernels.ripir", []byte(kernels))
	if err != nil {
		t.Fatal(err)
	}
	return file.Funcs
}

func floats(name string, kind ir.BufKind) ir.ProgBuf {
	return ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.F32, Shape: []int{96}}, Kind: kind}
}

// TestInPlace: what lies where what, in chains of stages.
func TestInPlace(t *testing.T) {
	for _, c := range []struct {
		name   string
		stages [][]string // func, its arguments
		over   map[string]string
		arena  int64 // in tensors
	}{
		{"a chain of sums", [][]string{{"add", "x", "x2", "a"}, {"add", "a", "x", "b"}, {"add", "b", "x", "c"}, {"add", "c", "x", "out"}},
			map[string]string{"add": "a"}, 1},
		{"an input that is read again", [][]string{{"add", "x", "x2", "a"}, {"add", "a", "x", "b"}, {"add", "a", "b", "c"}, {"add", "c", "x", "out"}},
			map[string]string{"add": "a"}, 2},
		{"only the second is read where it is written", [][]string{{"add", "x", "x2", "a"}, {"reversed", "x", "a", "b"}, {"add", "b", "x", "out"}},
			map[string]string{"reversed": "b"}, 1},
		{"the first is not", [][]string{{"add", "x", "x2", "a"}, {"reversed", "a", "x", "b"}, {"add", "b", "x", "out"}}, map[string]string{}, 2},
		{"tiles that overlap", [][]string{{"add", "x", "x2", "a"}, {"shifted", "a", "x", "b"}, {"add", "b", "x", "out"}}, map[string]string{}, 2},
		{"one tensor twice", [][]string{{"add", "x", "x2", "a"}, {"add", "a", "a", "b"}, {"reversed", "b", "x", "out"}}, map[string]string{}, 2},
		{"inputs and outputs of the caller", [][]string{{"add", "x", "x2", "out"}}, map[string]string{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &ir.Program{Name: "p", Funcs: funcs(t), Buffers: []ir.ProgBuf{floats("x", ir.InputBuf), floats("x2", ir.InputBuf), floats("out", ir.OutputBuf)}}
			for i, s := range c.stages {
				if y := s[3]; y != "out" {
					p.Buffers = append(p.Buffers, floats(y, ir.ArenaBuf))
				}
				p.Stages = append(p.Stages, ir.Stage{Name: fmt.Sprint(i), Op: s[0], Func: s[0], Args: s[1:]})
			}
			p.Arena = plan.InPlace(p)
			if err := ir.VerifyProgram(p); err != nil {
				t.Error(err)
			}
			if p.Arena != c.arena*96*4 {
				t.Errorf("the arena has %d bytes, want %d tensors:\n%s", p.Arena, c.arena, p)
			}
			for _, f := range p.Funcs {
				if f.Params[2].Over != c.over[f.Name] {
					t.Errorf("@%s writes over %q, want %q", f.Name, f.Params[2].Over, c.over[f.Name])
				}
			}
		})
	}
}

// TestInPlaceRuns: random Programs compute in their arena what they compute with memory of its own for each buffer, and take no more of it
// than without writing in place.
func TestInPlaceRuns(t *testing.T) {
	fewer := 0
	rapid.Check(t, func(t *rapid.T) {
		p := &ir.Program{Name: "p", Funcs: funcs(t), Buffers: []ir.ProgBuf{floats("x", ir.InputBuf)}}
		for i := range rapid.IntRange(1, 8).Draw(t, "stages") {
			y, kind := fmt.Sprint("t", i), ir.ArenaBuf
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				kind = ir.OutputBuf
			}
			f := p.Funcs[rapid.IntRange(0, 2).Draw(t, "func")].Name
			s := ir.Stage{Name: y, Op: f, Func: f}
			for range 2 { // of what was written last, mostly
				k := len(p.Buffers) - 1 - rapid.IntRange(0, min(len(p.Buffers), 3)-1).Draw(t, "read")
				s.Args = append(s.Args, p.Buffers[k].Name)
			}
			s.Args = append(s.Args, y)
			p.Buffers, p.Stages = append(p.Buffers, floats(y, kind)), append(p.Stages, s)
		}
		p.Buffers[len(p.Buffers)-1].Kind = ir.OutputBuf
		plain := plan.Arena(p)
		p.Arena = plan.InPlace(p)
		if err := ir.VerifyProgram(p); err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		if p.Arena > plain {
			t.Fatalf("%d bytes, %d without writing in place", p.Arena, plain)
		}
		if p.Arena < plain {
			fewer++
		}
		x := rapid.SliceOfN(rapid.ByteRange(0, 63), 96*4, 96*4).Draw(t, "x")
		want, err := interp.RunProgram(t.Context(), p, [][]byte{x}, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		arena, own := make([]byte, p.Arena), map[string][]byte{"x": x}
		at := func(name string) []byte {
			b := p.BufferByName(name)
			if b.Kind == ir.ArenaBuf {
				return arena[b.Offset:][:b.Bytes()]
			}
			if own[name] == nil {
				own[name] = make([]byte, b.Bytes())
			}
			return own[name]
		}
		for _, s := range p.Stages {
			c, err := interp.Compile(p.FuncByName(s.Func))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(t.Context(), [][]byte{at(s.Args[0]), at(s.Args[1]), at(s.Args[2])}); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, b := range p.Buffers {
			if b.Kind == ir.OutputBuf {
				if !bytes.Equal(at(b.Name), want[n]) {
					t.Fatalf("%s is another in the arena:\n%s", b.Name, p)
				}
				n++
			}
		}
	})
	if fewer == 0 {
		t.Error("nothing was written in place")
	}
}
