package e2e_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/engine"
	"ripc/engine/bareboard"
	"ripc/engine/simulate"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/tensorio"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
	"ripc/targets/boards"
	"ripc/verify"
)

// mcuImages is how many images examples/mcu and the tests here look at.
const mcuImages = 20

// digitsData reads the first images, and what they show.
func digitsData(t *testing.T) (images *npy.Array, labels []byte) {
	t.Helper()
	x, err := npy.ReadFile("../examples/digits/data/x_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	y, err := npy.ReadFile("../examples/digits/data/y_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	for i := range mcuImages {
		labels = append(labels, y.Data[8*i])
	}
	each := len(x.Data) / x.Shape[0]
	x.Shape[0], x.Data = mcuImages, x.Data[:mcuImages*each]
	return x, labels
}

// TestMicrocontrollers compares whole networks on boards without an operating system with the interpreter, stage by stage,
// on images and on hard numbers.
func TestMicrocontrollers(t *testing.T) {
	t.Parallel()
	images, _ := digitsData(t)
	input := filepath.Join(t.TempDir(), "images.npy")
	if err := images.WriteFile(input); err != nil {
		t.Fatal(err)
	}
	for _, b := range boards.All() {
		for name, r := range map[string]ripc.VerifyRequest{
			"digits, images":       {Path: "../examples/digits/digits.json", Inputs: []string{input}},
			"digits, hard numbers": {Path: "../examples/digits/digits.json", Seed: 1},
			"convolution, 2 bits":  {Path: "../examples/convs/convD_n2_unipolar.json"},
		} {
			t.Run(b.Target+", "+name, func(t *testing.T) {
				need.Board(t, nil)
				r.Options.Target, r.Threads = b.Target, 1
				rep, err := ripc.Verify(t.Context(), r)
				onBoard(t, err)
				for _, s := range rep.Stages {
					if !s.OK {
						t.Error(s)
					}
				}
				if !rep.OK || rep.Crash != nil || len(rep.Network) > 0 || !rep.Simulated() {
					t.Errorf("%+v", rep)
				}
				if f := rep.Footprint; f == nil || f.Stack == 0 {
					t.Errorf("footprint: %+v", f)
				} else {
					t.Logf("flash %d bytes, RAM %d bytes and %d of stack on %s", f.Flash, f.RAM, f.Stack, f.Board)
				}
			})
		}
	}
}

// TestMicrocontrollersRandom compares ten random networks with random schedules on each board, first as verify does, then
// with a float unit that flushes subnormals and knows one NaN only: results must not depend on its settings.
func TestMicrocontrollersRandom(t *testing.T) {
	t.Parallel()
	for b, board := range boards.All() {
		t.Run(board.Target, func(t *testing.T) {
			need.Board(t, nil)
			g := rand.New(rand.NewPCG(uint64(b), 78))
			var texts []map[string]any
			for i := range batch {
				texts = append(texts, randnet.Model(rand.New(rand.NewPCG(uint64(b*batch+i), 78)), fmt.Sprintf("c%d_", b*batch+i)))
			}
			path := filepath.Join(t.TempDir(), "net.json")
			if err := os.WriteFile(path, randnet.Join(texts, b), 0o600); err != nil {
				t.Fatal(err)
			}
			o := ripc.Options{Target: board.Target}
			p, err := definition(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Schedules, o.Emit = randomTraces(p, board.Target, g), []codegen.Kind{codegen.Runnable, codegen.Source, codegen.Header}
			c, err := ripc.Compile(t.Context(), path, o)
			onBoard(t, err)
			program := filepath.Join(t.TempDir(), "net.elf")
			if err := os.WriteFile(program, c.Files[codegen.Runnable], 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, SO: program, Options: o, Seed: uint64(b), Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !rep.OK {
				t.Error(faults(rep))
			}

			d := codegen.Describe(codegen.Input{Program: c.Program})
			feed, err := tensorio.Load(d.Inputs, nil, tensorio.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			hard, _ := verify.Hard(d.Inputs, feed.Run(0), 1)
			want, err := engine.Interpret(c.Program, d, nil).Run(t.Context(), []engine.Job{{Inputs: hard.Inputs, Last: len(d.Stages), Outputs: true}})
			if err != nil {
				t.Fatal(err)
			}
			source := bareboard.Source{Name: d.Name, Inputs: len(d.Inputs), Outputs: len(d.Outputs), Code: c.Files[codegen.Source], Header: c.Files[codegen.Header]}
			for what, program := range map[string]string{"code that flushes": program, "code that leaves it to the unit": linkedFlushing(t, source, board)} {
				m, err := bareboard.Open(program, bareboard.Options{FlushToZero: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Run(t.Context(), []simulate.Job{{Inputs: hard.Inputs, Last: len(d.Stages)}})
				if err != nil {
					t.Fatal(err)
				}
				for i, q := range d.Outputs {
					if same := sameNumbers(q, got[0].Outputs[i], want[0].Outputs[i]); !same {
						t.Errorf("%s: output %s differs with a float unit that flushes", what, q.Name)
					}
				}
			}
		})
	}
}

// TestMicrocontrollersFlush: C that leaves flushing to the float unit has the same results, and float layers execute few instructions
// a multiply-accumulate, fewer so.
func TestMicrocontrollersFlush(t *testing.T) {
	t.Parallel()
	for _, b := range boards.All() {
		for _, flush := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, RIPC_FLUSH_TO_ZERO %v", b.Target, flush), func(t *testing.T) {
				need.Board(t, nil)
				c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json", ripc.Options{Target: b.Target, Emit: []codegen.Kind{codegen.Source, codegen.Header}})
				if err != nil {
					t.Fatal(err)
				}
				d := codegen.Describe(codegen.Input{Program: c.Program})
				s := bareboard.Source{Name: d.Name, Inputs: len(d.Inputs), Outputs: len(d.Outputs), Code: c.Files[codegen.Source], Header: c.Files[codegen.Header]}
				most, path := 12.0, "" // instructions a multiply-accumulate
				if flush {
					most, path = 6, linkedFlushing(t, s, b)
				} else {
					path = linked(t, s, b)
				}
				m, err := bareboard.Open(path, bareboard.Options{FlushToZero: flush, Count: true})
				if err != nil {
					t.Fatal(err)
				}
				feed, err := tensorio.Load(d.Inputs, nil, tensorio.Seeded(1))
				if err != nil {
					t.Fatal(err)
				}
				hard, _ := verify.Hard(d.Inputs, feed.Run(0), 1)
				fc := len(d.Stages) - 1
				for _, inputs := range [][][]byte{feed.Run(0), hard.Inputs} {
					want, err := engine.Interpret(c.Program, d, nil).Run(t.Context(), []engine.Job{{Inputs: inputs, Last: len(d.Stages), Outputs: true}})
					if err != nil {
						t.Fatal(err)
					}
					got, err := m.Run(t.Context(), []simulate.Job{
						{Inputs: inputs, Last: fc, Discard: true},
						{Continue: true, First: fc, Last: fc + 1},
					})
					if err != nil {
						t.Fatal(err)
					}
					if !sameNumbers(d.Outputs[0], got[1].Outputs[0], want[0].Outputs[0]) {
						t.Errorf("output %s differs", d.Outputs[0].Name)
					}
					if each := float64(got[1].Instructions) / float64(d.Stages[fc].MACs); each > most {
						t.Errorf("%s: %.1f instructions a multiply-accumulate, %v at most", d.Stages[fc].Name, each, most)
					} else {
						t.Logf("%s: %.1f instructions a multiply-accumulate", d.Stages[fc].Name, each)
					}
				}
			})
		}
	}
}

// TestMicrocontrollersNetworks: networks of 8 and 4 bits take few instructions and little memory without any option, since a learned model
// chooses their algorithms and products are added two at a time. wake has the shape of MLPerf Tiny's visual wake words.
func TestMicrocontrollersNetworks(t *testing.T) {
	t.Parallel()
	for _, b := range boards.All() {
		for path, most := range map[string]struct{ instructions, ram float64 }{
			"testdata/wake.json":        {60e6, 115 << 10},
			"testdata/digits_w4a4.json": {25e6, 16 << 10},
		} {
			t.Run(b.Target+", "+filepath.Base(path), func(t *testing.T) {
				need.Board(t, nil)
				r, err := ripc.Bench(t.Context(), ripc.BenchRequest{Path: path, Threads: 1, Options: ripc.Options{Target: b.Target}})
				onBoard(t, err)
				if r.Instructions == nil || float64(*r.Instructions) > most.instructions || float64(r.Footprint.RAM) > most.ram {
					t.Errorf("%+v, %+v; at most %v instructions and %v bytes were expected", r.Figures, r.Footprint, most.instructions, most.ram)
				} else {
					t.Logf("%d instructions, RAM %d bytes", *r.Instructions, r.Footprint.RAM)
				}
			})
		}
	}
}

// TestMicrocontrollersDSP: products of bytes by Arm's DSP extension and in plain C have the interpreter's bits.
func TestMicrocontrollersDSP(t *testing.T) {
	t.Parallel()
	for _, b := range boards.All() {
		for _, path := range []string{"testdata/wake.json", "testdata/digits_w4a4.json"} {
			c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: b.Target, Emit: []codegen.Kind{codegen.Source, codegen.Header}})
			if err != nil {
				t.Fatal(err)
			}
			d := codegen.Describe(codegen.Input{Program: c.Program})
			s := bareboard.Source{Name: d.Name, Inputs: len(d.Inputs), Outputs: len(d.Outputs), Code: c.Files[codegen.Source], Header: c.Files[codegen.Header]}
			if !bytes.Contains(s.Code, []byte("= rc_smlad(")) {
				t.Errorf("%s for %s has no products of halves", path, b.Target)
			}
			feed, err := tensorio.Load(d.Inputs, nil, tensorio.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			hard, _ := verify.Hard(d.Inputs, feed.Run(0), 1)
			for _, dsp := range []string{"1", "0"} {
				t.Run(fmt.Sprintf("%s, %s, RIPC_DSP %s", b.Target, d.Name, dsp), func(t *testing.T) {
					need.Board(t, nil)
					m, err := bareboard.Open(linkedWith(t, s, b, "RIPC_DSP "+dsp), bareboard.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for _, inputs := range [][][]byte{feed.Run(0), hard.Inputs} {
						want, err := engine.Interpret(c.Program, d, nil).Run(t.Context(), []engine.Job{{Inputs: inputs, Last: len(d.Stages), Outputs: true}})
						if err != nil {
							t.Fatal(err)
						}
						got, err := m.Run(t.Context(), []simulate.Job{{Inputs: inputs, Last: len(d.Stages)}})
						if err != nil {
							t.Fatal(err)
						}
						for i, q := range d.Outputs {
							if !sameNumbers(q, got[0].Outputs[i], want[0].Outputs[i]) {
								t.Errorf("output %s differs", q.Name)
							}
						}
					}
				})
			}
		}
	}
}

// onBoard ends the test for an error of what a simulated board did: as need.Board says where a tool of the board is missing.
func onBoard(t *testing.T, err error) {
	t.Helper()
	if missing := (*bareboard.ToolError)(nil); errors.As(err, &missing) {
		need.Board(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// linked is the path of a program for b.
func linked(t *testing.T, s bareboard.Source, b boards.Board) string {
	t.Helper()
	program, err := bareboard.Build(t.Context(), s, b)
	onBoard(t, err)
	path := filepath.Join(t.TempDir(), "net.elf")
	if err := os.WriteFile(path, program, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// linkedFlushing is linked of C that leaves flushing to the float unit.
func linkedFlushing(t *testing.T, s bareboard.Source, b boards.Board) string {
	t.Helper()
	return linkedWith(t, s, b, "RIPC_FLUSH_TO_ZERO")
}

// linkedWith is linked of C with a macro that is defined.
func linkedWith(t *testing.T, s bareboard.Source, b boards.Board, macro string) string {
	t.Helper()
	s.Code = append([]byte("#define "+macro+"\n"), s.Code...)
	return linked(t, s, b)
}

// sameNumbers compares contents of t; any NaN is like any other.
func sameNumbers(t describe.Tensor, a, b []byte) bool {
	if t.DType != "f32" {
		return bytes.Equal(a, b)
	}
	for i := 0; i < len(a); i += 4 {
		x, y := binary.LittleEndian.Uint32(a[i:]), binary.LittleEndian.Uint32(b[i:])
		if x != y && (x&^(1<<31) <= 0x7f800000 || y&^(1<<31) <= 0x7f800000) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestMicrocontrollersExample builds and runs examples/mcu as its README says: it must print the interpreter's bits.
func TestMicrocontrollersExample(t *testing.T) {
	t.Parallel()
	images, labels := digitsData(t)
	input := filepath.Join(t.TempDir(), "images.npy")
	if err := images.WriteFile(input); err != nil {
		t.Fatal(err)
	}
	for _, b := range boards.All() {
		t.Run(b.Target, func(t *testing.T) {
			for _, tool := range []string{b.Compiler, b.Simulator, "make"} {
				_, err := exec.LookPath(tool)
				need.Board(t, err)
			}
			want := expected(t, input, labels)
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "make", "-s", "-C", "../examples/mcu", "run", "TARGET="+b.Target, "BUILD="+filepath.Join(dir, "build"), "RIPC="+command(t))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), want) {
				t.Errorf("got\n%s\nwithout\n%s", out, want)
			}
		})
	}
}

// expected is what the example is to print for the images, by the interpreter.
func expected(t *testing.T, input string, labels []byte) string {
	t.Helper()
	r, err := ripc.Run(t.Context(), ripc.RunRequest{Path: "../examples/digits/digits.json", Inputs: []string{input}, Engine: ripc.EngineInterp, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	const classes = 10
	logits := r.Outputs[0].Data
	var b strings.Builder
	right := 0
	for i, label := range labels {
		var bits []uint32
		best := 0
		for k := range classes {
			bits = append(bits, binary.LittleEndian.Uint32(logits[4*(i*classes+k):]))
			if math.Float32frombits(bits[k]) > math.Float32frombits(bits[best]) {
				best = k
			}
		}
		if best == int(label) {
			right++
		}
		fmt.Fprintf(&b, "image %d shows %d, seen as %d:", i, label, best)
		for _, x := range bits {
			fmt.Fprintf(&b, " %08x", x)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d of %d are right; ", right, len(labels))
	return b.String()
}
