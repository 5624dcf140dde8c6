package e2e_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/engine/bareboard"
	"ripc/internal/need"
	"ripc/runtime/npy"
	"ripc/targets/boards"
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
				r.Options.Target, r.Threads = b.Target, 1
				rep, err := ripc.Verify(t.Context(), r)
				if missing := (*bareboard.ToolError)(nil); errors.As(err, &missing) {
					need.Board(t, err)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range rep.Stages {
					if !s.OK {
						t.Error(s)
					}
				}
				if !rep.OK || rep.Crash != nil || len(rep.Network) > 0 || !rep.Simulated {
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

// TestMicrocontrollersExample builds and runs examples/mcu as its README says: it must print the interpreter's bits.
func TestMicrocontrollersExample(t *testing.T) {
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
			makefile, err := os.ReadFile("../examples/mcu/Makefile")
			if err != nil {
				t.Fatal(err)
			}
			if line := "FLAGS." + b.Target + " := " + strings.Join(b.Flags, " ") + "\n"; !strings.Contains(string(makefile), line) {
				t.Errorf("examples/mcu/Makefile does not have package boards' flags: %s", line)
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

// command builds the ripc command.
func command(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ripc")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../cmd/ripc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
