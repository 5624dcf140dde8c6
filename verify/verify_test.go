package verify_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/container"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets"
	"ripc/verify"
)

// needTools finds LLVM.
func needTools(t testing.TB) *toolchain.Tools {
	t.Helper()
	tools, err := toolchain.Find()
	need.OK(t, err)
	return tools
}

// machine is a target that can be run here: the host, or a board if qemu is there.
func machine(t testing.TB, name string) targets.Target {
	t.Helper()
	tg, err := targets.Lookup(name)
	need.OK(t, err)
	if name != targets.HostName {
		need.Tool(t, "qemu-"+tg.Arch)
	}
	return tg
}

func build(t testing.TB, tg targets.Target, p *ir.Program) map[codegen.Kind][]byte {
	t.Helper()
	files, err := codegen.Build(context.Background(), codegen.Input{Program: p, Target: tg,
		Emit: []codegen.Kind{codegen.SO, codegen.LL}}, llvm.Backend{Tools: needTools(t)})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// check verifies the library so against tiny.
func check(t testing.TB, so []byte, scheduled *ir.Program, threads int) *verify.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tiny.so")
	if err := os.WriteFile(file, so, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Verify(context.Background(), verify.Input{Program: tiny(false, ir.Xor), Scheduled: scheduled, SO: file,
		Threads: threads, Inputs: picture()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wrong fails the test unless stage, and no other, differs, and the network too.
func wrong(t *testing.T, r *verify.Report, stage int, suspect verify.Suspect) verify.StageResult {
	t.Helper()
	if r.OK || len(r.Stages) != 4 || len(r.Network) != 1 {
		t.Fatalf("the mistake does not show: %+v", r)
	}
	for i, s := range r.Stages {
		t.Log(s)
		if s.OK != (i != stage) || !s.OK && s.Suspect != suspect {
			t.Errorf("the mistake is in stage %d (suspect %q); got %+v", stage, suspect, s)
		}
	}
	return r.Stages[stage]
}

func TestVerify(t *testing.T) {
	for _, name := range []string{targets.HostName, "rpi3", "rpi2"} {
		t.Run(name, func(t *testing.T) {
			tg := machine(t, name)
			p := tiny(true, ir.Xor)
			so := build(t, tg, p)[codegen.SO]
			for _, threads := range []int{0, 1, 2, 3} {
				r := check(t, so, p, threads)
				if !r.OK || len(r.Stages) != 4 || r.Simulated() != (name != targets.HostName) || r.Threads != max(threads, 1) {
					t.Errorf("%d threads: %+v", threads, r)
				}
			}
		})
	}
}

// TestSimulatedBatches simulates few stages at a time, down to one.
func TestSimulatedBatches(t *testing.T) {
	so := flip(t, build(t, machine(t, "rpi3"), tiny(true, ir.Xor))[codegen.SO], tiny(true, ir.Xor), "w2", 4*64+40)
	file := filepath.Join(t.TempDir(), "tiny.so")
	if err := os.WriteFile(file, so, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{1, 2 * 192, 3 * 192} {
		in := verify.Input{Program: tiny(false, ir.Xor), SO: file, Inputs: picture()}
		r, err := verify.Keeping(context.Background(), in, keep)
		if err != nil {
			t.Fatal(err)
		}
		wrong(t, r, 1, verify.Constants)
	}
}

// sealed is so with the checksum that belongs to it now: what is wrong with it is for verify to find.
func sealed(t *testing.T, so []byte) []byte {
	t.Helper()
	if err := container.Seal(so); err != nil {
		t.Fatal(err)
	}
	return so
}

// flip changes one bit in the file's copy of a constant.
func flip(t *testing.T, so []byte, p *ir.Program, name string, bit int) []byte {
	t.Helper()
	data := p.BufferByName(name).Data
	if bytes.Count(so, data) != 1 {
		t.Fatalf("%s is not in the file just once", name)
	}
	so = bytes.Clone(so)
	so[bytes.Index(so, data)+bit/8] ^= 1 << (bit % 8)
	return sealed(t, so)
}

func TestFlippedConstant(t *testing.T) {
	for _, name := range []string{targets.HostName, "rpi3", "rpi2"} {
		t.Run(name, func(t *testing.T) {
			p := tiny(true, ir.Xor)
			so := build(t, machine(t, name), p)[codegen.SO]
			t.Run("threshold", func(t *testing.T) { // the sign of t1[5]: now every score is high enough
				s := wrong(t, check(t, flip(t, so, p, "t1", 5*32+31), p, 2), 0, verify.Constants)
				if d := s.Differences[0]; s.Name != "fire/bits" || d.Buffer != "h" || d.Count != rows || d.Index[2] != 0 {
					t.Errorf("%+v", s)
				}
				alongChannel(t, s.Differences[0].Where, hidden, 5)
			})
			t.Run("weight", func(t *testing.T) { // a bit of class 4
				s := wrong(t, check(t, flip(t, so, p, "w2", 4*64+40), p, 1), 1, verify.Constants)
				if d := s.Differences[0]; s.Name != "fire/scores" || d.Count != rows || d.Index[0] != 0 || d.Index[1] != 4 {
					t.Errorf("%+v", s)
				}
				alongChannel(t, s.Differences[0].Where, classes, 4)
			})
			t.Run("scale", func(t *testing.T) { // the lowest bit of s[9], which both halves of the output use
				r := check(t, flip(t, so, p, "s", 9*32), nil, 1)
				if r.OK || !r.Stages[1].OK || r.Stages[2].OK || r.Stages[3].OK || r.Stages[3].Suspect != verify.Constants || r.Network[0].Count != 2*rows {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// alongChannel wants each row wrong in one channel of so many, and nowhere else.
func alongChannel(t *testing.T, w *verify.Where, channels, c int) {
	t.Helper()
	if w == nil || len(w.Axes) == 0 {
		t.Fatal("nothing says where the differences lie")
	}
	last := w.Axes[len(w.Axes)-1]
	if w.Wrong != rows || w.Elems != rows*channels || w.Padding != 0 || last.Name != "channel" || last.Extent != channels || !slices.Equal(last.Wrong, []int{c}) {
		t.Errorf("%+v; want channel %d of %d, in all rows", w, c, channels)
	}
	if m := w.Map; m.Across != "channel" || m.Wrong[0][c] != rows {
		t.Errorf("map %+v", m)
	}
}

// TestWrongSchedule compiles a Program whose schedule changed the meaning.
func TestWrongSchedule(t *testing.T) {
	p := tiny(true, ir.And)
	r := check(t, build(t, machine(t, targets.HostName), p)[codegen.SO], p, 1)
	s := wrong(t, r, 1, verify.Schedule)
	if got := s.Findings(); s.Stage != 1 || s.Name != "fire/scores" || s.Op != "dense" || s.Func != "dense" || len(got) != 1 ||
		!strings.HasPrefix(got[0], "%z[0, 0]: got ") || !strings.HasSuffix(got[0], "elements differ") {
		t.Errorf("%+v: %q", s, got)
	}
}

func TestVerifyErrors(t *testing.T) {
	so := build(t, machine(t, targets.HostName), tiny(true, ir.Xor))[codegen.SO]
	file := filepath.Join(t.TempDir(), "tiny.so")
	if err := os.WriteFile(file, so, 0o666); err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context, change func(in *verify.Input)) error {
		in := verify.Input{Program: tiny(false, ir.Xor), SO: file, Inputs: picture()}
		change(&in)
		_, err := verify.Verify(ctx, in)
		return err
	}
	var me *verify.MismatchError
	for what, change := range map[string]func(in *verify.Input){
		"stages": func(in *verify.Input) { in.Program.Stages = in.Program.Stages[:3] },
		"name":   func(in *verify.Input) { in.Program.Stages[1].Name = "x" },
		"offset": func(in *verify.Input) {
			in.Scheduled = tiny(true, ir.Xor)
			in.Scheduled.Buffers[3].Offset = 0
		},
		"output": func(in *verify.Input) { in.Program.Buffers[7].Name = "z9" },
	} {
		if err := call(context.Background(), change); !errors.As(err, &me) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(in *verify.Input){
		"no file":    func(in *verify.Input) { in.SO += "x" },
		"no inputs":  func(in *verify.Input) { in.Inputs = nil },
		"short":      func(in *verify.Input) { in.Inputs[0] = in.Inputs[0][1:] },
		"no threads": func(in *verify.Input) { in.Threads = -1 },
	} {
		if err := call(context.Background(), change); err == nil || errors.As(err, &me) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := call(ctx, func(in *verify.Input) {
		in.Progress = func(done, total int, stage string) {
			if done == 2 {
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
