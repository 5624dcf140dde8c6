package bareboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/engine/simulate"
	"ripc/internal/files"
	"ripc/internal/need"
	"ripc/runtime"
	"ripc/targets"
	"ripc/targets/boards"
)

// each runs f on every board; without the tools the test ends.
func each(t *testing.T, f func(t *testing.T, b boards.Board)) {
	for _, b := range boards.All() {
		t.Run(b.Target, func(t *testing.T) {
			for _, tool := range []string{b.Compiler, b.Simulator} {
				_, err := findTool(tool, "by this test")
				need.Board(t, err)
			}
			f(t, b)
		})
	}
}

// TestBoards: a board is one of a target without an operating system, and has a linker script. It needs no tools.
func TestBoards(t *testing.T) {
	for _, b := range boards.All() {
		if tg, err := targets.Lookup(b.Target); err != nil || !tg.Bare {
			t.Errorf("the row of %s in targets/boards: there is no target %q without an operating system (Bare: %v, %v)", b.Machine, b.Target, tg.Bare, err)
		}
		if _, err := os.Stat(filepath.Join("firmware", b.Script())); err != nil {
			t.Errorf("the board of %s needs a linker script with its FLASH and RAM, engine/bareboard/firmware/%s: %v", b.Target, b.Script(), err)
		}
	}
}

// tiny is the network in testdata, with macros.
func tiny(t *testing.T, b boards.Board, defines string) Source {
	t.Helper()
	s := Source{Name: "tiny", Inputs: 1, Outputs: 1}
	var err error
	if s.Code, err = os.ReadFile("testdata/tiny.c"); err != nil {
		t.Fatal(err)
	}
	if s.Header, err = os.ReadFile("testdata/tiny.h"); err != nil {
		t.Fatal(err)
	}
	s.Code = append([]byte("#define TINY_TARGET \""+b.Target+"\"\n"+defines), s.Code...)
	return s
}

// build makes a Machine of the network in testdata.
func build(t *testing.T, b boards.Board, defines string, o Options) *Machine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.elf")
	program, err := Build(context.Background(), tiny(t, b, defines), b)
	if err == nil {
		err = os.WriteFile(path, program, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// floats are the bytes of xs.
func floats(xs ...float32) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// with is a job on a memory that xs and rubbish fill.
func (m *Machine) with(last int, xs ...float32) simulate.Job {
	rubbish := bytes.Repeat([]byte{0xee}, 64)
	return simulate.Job{Inputs: [][]byte{floats(xs...)}, Outputs: [][]byte{rubbish[:16]}, Workspace: rubbish, Last: last}
}

func TestStagesAndNetwork(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		m := build(t, b, "", Options{})
		results, err := m.Run(context.Background(), []simulate.Job{
			m.with(1, 1, 2, 3, 4),
			{Continue: true, First: 1, Last: 2},
			m.with(2, -1, -2, -3, -4),
		})
		if err != nil {
			t.Fatal(err)
		}
		rubbish := bytes.Repeat([]byte{0xee}, 16)
		for k, want := range []struct{ work, out []byte }{
			{floats(2, 4, 6, 8), rubbish}, {floats(2, 4, 6, 8), floats(3, 5, 7, 9)}, {floats(-2, -4, -6, -8), floats(-1, -3, -5, -7)},
		} {
			got := results[k]
			if !bytes.Equal(got.Workspace[:16], want.work) || !bytes.Equal(got.Outputs[0], want.out) || !bytes.Equal(got.Workspace[16:32], rubbish) {
				t.Errorf("job %d left workspace %x and output %x", k, got.Workspace, got.Outputs[0])
			}
		}
		f := m.Footprint()
		if used := results[0].StackBytes; used < 16 || used > 1024 || f.Stack != 32<<10 {
			t.Errorf("%d bytes of a stack of %d were used; a few hundred were expected", used, f.Stack)
		}
		// Two buffers of 16 and one of 64 bytes with 64 behind each, aligned.
		if f.RAM < 3*64+96 || f.RAM > 1024 || f.Flash < 512 || f.Flash > 8192 || f.RAMLimit != 4<<20 || f.FlashLimit != 4<<20 {
			t.Errorf("footprint is %+v", f)
		}
	})
}

// TestFloatSettings: the float unit does as Options say, which shows in code that does not flush by itself.
func TestFloatSettings(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		const least = math.SmallestNonzeroFloat32
		for flush, want := range map[bool][]byte{false: floats(2*least, 2, 0, 0), true: floats(0, 2, 0, 0)} {
			m := build(t, b, "", Options{FlushToZero: flush})
			results, err := m.Run(context.Background(), []simulate.Job{m.with(1, least, 1, 0, 0)})
			if err != nil {
				t.Fatal(err)
			}
			if got := results[0].Workspace[:16]; !bytes.Equal(got, want) {
				t.Errorf("flush %v: %x, want %x", flush, got, want)
			}
		}
	})
}

func TestMisbehaviour(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		m := build(t, b, "", Options{})
		run := func(x float32) error {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			_, err := m.Run(ctx, []simulate.Job{m.with(1, 1, 0, 0, 0), m.with(1, x, 0, 0, 0)})
			return err
		}
		var overrun *simulate.OverrunError
		if err := run(12); !errors.As(err, &overrun) || overrun.What != "output 0 of job 1" {
			t.Errorf("writing behind the output: %v", err)
		}
		var ended *simulate.RunError
		if err := run(13); !errors.As(err, &ended) || ended.Status != "exit code 100" || !strings.Contains(err.Error(), "fault: ") {
			t.Errorf("writing where nothing is: %v", err)
		}
		var status *runtime.StatusError
		if err := run(15); !errors.As(err, &status) || status.Code != 2 {
			t.Errorf("returning 2: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		if _, err := m.Run(ctx, []simulate.Job{m.with(1, 14, 0, 0, 0)}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a loop without end: %v", err)
		}
		limited := files.WithToolLimit(t.Context(), 500*time.Millisecond)
		_, err := m.Run(limited, []simulate.Job{m.with(1, 14, 0, 0, 0)})
		if late := (*files.ToolLimitError)(nil); !errors.As(err, &late) || !strings.Contains(err.Error(), "to run 1 job of ") {
			t.Errorf("a loop without end and nobody who limits it: %v", err)
		}
	})
}

// TestCount: a loop of two instructions is counted, also over more ticks than a lap of the timer has.
func TestCount(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		const rounds = 40e6
		m := build(t, b, "#define TINY_ROUNDS 40000000\n", Options{Count: true})
		results, err := m.Run(context.Background(), []simulate.Job{m.with(1, 1, 0, 0, 0), m.with(1, 10, 0, 0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if n := results[0].Instructions; n < 20 || n > 1000 {
			t.Errorf("a dozen floats: %d instructions", n)
		}
		if n := results[1].Instructions; n < 2*rounds+20 || n > 2*rounds+1000 {
			t.Errorf("%d instructions; %d were expected, and a few", n, int64(2*rounds))
		}
	})
}

// TestDeepStack: a stack that leaves its place ends the program instead of spoiling memory.
func TestDeepStack(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		m := build(t, b, "#define TINY_STACK 40000\n", Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_, err := m.Run(ctx, []simulate.Job{m.with(1, 1, 0, 0, 0)})
		var ended *simulate.RunError
		var overrun *simulate.OverrunError
		if !errors.As(err, &ended) && (!errors.As(err, &overrun) || overrun.What != "the stack") {
			t.Errorf("a stack of 40000 bytes: %v", err)
		}
	})
}

func TestTooLarge(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		_, err := Build(context.Background(), tiny(t, b, "#define TINY_BYTES 5000000\n"), b)
		var size *SizeError
		if !errors.As(err, &size) || size.Flash < 5000000 || size.Flash > 5010000 || size.FlashLimit != 4<<20 ||
			!strings.Contains(err.Error(), "flash: 500") || strings.Contains(err.Error(), "RAM") {
			t.Errorf("5 MB of constants: %v", err)
		}
		_, err = Build(context.Background(), tiny(t, b, "#define TINY_VARIABLE 4194304\n"), b)
		if !errors.As(err, &size) || size.RAM < 4<<20 || !strings.Contains(err.Error(), "RAM: 42") || strings.Contains(err.Error(), "flash") {
			t.Errorf("4 MB of variables: %v", err)
		}
		_, err = Build(context.Background(), tiny(t, b, "#define TINY_VARIABLE undefined\n"), b)
		var failed *BuildError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "'undefined' undeclared") {
			t.Errorf("code that does not compile: %v", err)
		}
	})
}

func TestNothingThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := boards.All()[0]
	_, err := Build(context.Background(), Source{Name: "x"}, b)
	var missing *ToolError
	if !errors.As(err, &missing) || missing.Tool != b.Compiler || !strings.Contains(err.Error(), boards.Install) {
		t.Errorf("without a compiler: %v", err)
	}
}

// TestAnyName: what firmware calls its things does not forbid a network that name.
func TestAnyName(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		for _, name := range []string{"network", "startup", "board", "main_", "run"} {
			s := tiny(t, b, "")
			rename := strings.NewReplacer("tiny", name, "TINY_TARGET", "TINY_TARGET", "TINY_", strings.ToUpper(name)+"_").Replace
			s.Name, s.Code, s.Header = name, []byte(rename(string(s.Code))), []byte(rename(string(s.Header)))
			if _, err := Build(context.Background(), s, b); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestProfile: of a loop of two instructions, each is counted as often as it was executed, in the job that executed it.
func TestProfile(t *testing.T) {
	each(t, func(t *testing.T, b boards.Board) {
		const rounds = 40e6
		m := build(t, b, "#define TINY_ROUNDS 40000000\n", Options{Count: true})
		if err := m.Profile(); err != nil {
			t.Fatal(err)
		}
		results, err := m.Run(context.Background(), []simulate.Job{m.with(1, 1, 0, 0, 0), m.with(1, 10, 0, 0, 0), m.with(2, 1, 0, 0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range []uint64{20, 2*rounds + 20, 20} {
			n := results[k].Instructions
			if n < want || n > want+1000 || n != results[k].Profile.Instructions() {
				t.Errorf("job %d: %d instructions; %d were expected, and a few", k, n, want)
			}
		}
		back := uint64(0) // from the end of the loop to its beginning
		for _, j := range results[1].Profile.Jumps {
			if j.To < j.From {
				back = max(back, j.Times)
			}
		}
		if back < rounds-10 || back >= rounds {
			t.Errorf("%d jumps back in a loop of %d rounds", back, int(rounds))
		}
		listing, err := m.Listing(t.Context())
		if err != nil || !bytes.Contains(listing, []byte("<run_network_stages>:")) {
			t.Errorf("the listing has no run_network_stages: %v", err)
		}
	})
}
