package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/runtime/npy"
	"ripc/targets"
)

var (
	lceDir  = flag.String("lce", "../testdata/lce", "folder with index.json and the cases of TestImportLCE")
	lceNets = flag.String("lce-networks", "", "folder with .tflite files that TestImportLCENetworks verifies")
	lceFull = flag.Bool("lce-all", false, "TestImportLCE compiles every case for every board, not only some")
)

// lceCase is a file of Larq Compute Engine with inputs (NAME.in0.npy ...) and the outputs that its interpreter makes of
// them (NAME.out0.npy ...).
type lceCase struct {
	Name       string
	Inputs     []string // names of the tensors; "" is any
	Outputs    []string
	ATol, RTol float64
}

// lceCases are the cases that a folder lists.
func lceCases(t *testing.T, dir string) []lceCase {
	t.Helper()
	return readIndex[[]lceCase](t, dir)
}

// readIndex reads what the index.json of a folder says of the cases there.
func readIndex[T any](t *testing.T, dir string) (index T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	return index
}

// TestImportLCE compiles and runs converted files, interprets made ones, and compares with Larq Compute Engine.
func TestImportLCE(t *testing.T) {
	cases := lceCases(t, *lceDir)
	if len(cases) < 10 {
		t.Fatalf("%d cases", len(cases))
	}
	takes := need.Part(t, 4)
	for i, c := range cases {
		boards := []string{"host"}
		if strings.HasPrefix(c.Name, "op_") || strings.HasPrefix(c.Name, "random_") || !takes(i) {
			boards = []string{ripc.EngineInterp}
		}
		switch {
		case *lceFull:
			boards = []string{"host", "rpi3", "rpi3-armv7"}
		case i%12 == 3:
			boards = append(boards, "rpi3")
		case i%12 == 9:
			boards = append(boards, "rpi3-armv7")
		}
		for _, board := range boards {
			t.Run(c.Name+"/"+board, func(t *testing.T) {
				t.Parallel()
				c.check(t, *lceDir, board)
			})
		}
	}
}

// lceNeeds ends the test where LLVM's tools or the emulator of a board are missing.
func lceNeeds(t *testing.T, board string) {
	t.Helper()
	_, err := toolchain.Find()
	need.OK(t, err)
	if board == targets.HostName {
		return
	}
	tg, err := targets.Lookup(board)
	if err != nil {
		t.Fatal(err)
	}
	need.Tool(t, "qemu-"+tg.Arch)
}

// TestImportTFLite runs files of LiteRT, compiled and in the interpreter, and compares with what LiteRT made of them.
func TestImportTFLite(t *testing.T) {
	const dir = "../testdata/tflite"
	takes := need.Part(t, 2)
	for i, c := range lceCases(t, dir) {
		for k, board := range []string{ripc.EngineInterp, targets.HostName} {
			if !takes(i + k) {
				continue
			}
			t.Run(c.Name+"/"+board, func(t *testing.T) {
				t.Parallel()
				c.check(t, dir, board)
			})
		}
	}
}

// TestRefusedTFLite: what is said of a network with an operator that is not supported names the operator, not damage.
func TestRefusedTFLite(t *testing.T) {
	t.Parallel()
	_, err := ripc.Load(context.Background(), "testdata/refused_lstm.tflite")
	if err == nil || !strings.Contains(err.Error(), "UNIDIRECTIONAL_SEQUENCE_LSTM, operator 0): this builtin operator (version 1) is not supported") {
		t.Error(err)
	}
}

// check runs the case in folder dir for a board, or in the interpreter.
func (c lceCase) check(t *testing.T, dir, board string) {
	request := ripc.RunRequest{Options: ripc.Options{Target: board}, Threads: 1}
	if board == ripc.EngineInterp {
		request.Options.Target, request.Engine = "", board
	} else {
		lceNeeds(t, board)
	}
	stem := filepath.Join(dir, c.Name)
	var inputs []string
	for k, name := range c.Inputs {
		file := fmt.Sprintf("%s.in%d.npy", stem, k)
		if name != "" {
			file = name + "=" + file
		}
		inputs = append(inputs, file)
	}
	request.Path, request.Inputs = stem+".tflite", inputs
	res, err := ripc.Run(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outputs) != len(c.Outputs) {
		t.Fatalf("%d outputs, want %d", len(res.Outputs), len(c.Outputs))
	}
	for k, out := range res.Outputs {
		if c.Outputs[k] != "" && out.Tensor.Title() != c.Outputs[k] {
			t.Errorf("output %d is called %q, want %q", k, out.Tensor.Title(), c.Outputs[k])
		}
		want, err := npy.ReadFile(fmt.Sprintf("%s.out%d.npy", stem, k))
		if err != nil {
			t.Fatal(err)
		}
		got := &npy.Array{DType: out.Tensor.DType, Shape: out.Tensor.Shape, Data: out.Data}
		if err := near(got, want, c.ATol, c.RTol); err != nil {
			t.Errorf("output %q: %v", c.Outputs[k], err)
		}
	}
}

// near wants the same type and shape, and |got - want| <= atol + rtol*|want|; with 0 and 0, the same numbers.
func near(got, want *npy.Array, atol, rtol float64) error {
	if got.DType != want.DType || fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) {
		return fmt.Errorf("%s %v, want %s %v", got.DType, got.Shape, want.DType, want.Shape)
	}
	g, err := numbers(got)
	if err != nil {
		return err
	}
	w, err := numbers(want)
	if err != nil {
		return err
	}
	wrong, first, worst := 0, 0, 0.0
	for i := range w {
		d := math.Abs(g[i] - w[i])
		if d <= atol+rtol*math.Abs(w[i]) || g[i] == w[i] || g[i] != g[i] && w[i] != w[i] {
			continue
		}
		if wrong == 0 {
			first = i
		}
		wrong, worst = wrong+1, max(worst, d)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d numbers differ by up to %g; the first, %d, is %g, want %g", wrong, len(w), worst, first, g[first], w[first])
	}
	return nil
}

func numbers(a *npy.Array) ([]float64, error) {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	out := make([]float64, n)
	switch a.DType {
	case "f32":
		v, err := a.Float32s()
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = float64(v[i])
		}
	case "i32":
		v, err := a.Int32s()
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = float64(v[i])
		}
	case "i8":
		for i := range out {
			out[i] = float64(int8(a.Data[i]))
		}
	case "u8":
		for i := range out {
			out[i] = float64(a.Data[i])
		}
	default:
		return nil, fmt.Errorf("numbers of type %s", a.DType)
	}
	return out, nil
}

// TestImportLCEDigits runs the network for digits on all test images, and on some for boards: logits near those of Larq
// Compute Engine, and as many digits right.
func TestImportLCEDigits(t *testing.T) {
	const model, data = "../testdata/lce/digits_w1a1", "../examples/digits/data/"
	images, err := npy.ReadFile(data + "x_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	labels, err := npy.ReadFile(data + "y_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	want, err := npy.ReadFile(model + ".logits.npy")
	if err != nil {
		t.Fatal(err)
	}
	for board, n := range map[string]int{"host": 360, "rpi3": 20, "rpi3-armv7": 20} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			lceNeeds(t, board)
			x := &npy.Array{DType: "f32", Shape: []int{n, 16, 16, 1}, Data: images.Data[:n*16*16*4]} // one channel: NCHW and NHWC are the same
			file := filepath.Join(t.TempDir(), "x.npy")
			if err := x.WriteFile(file); err != nil {
				t.Fatal(err)
			}
			res, err := ripc.Run(context.Background(), ripc.RunRequest{Path: model + ".tflite", Options: ripc.Options{Target: board}, Inputs: []string{file}, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := &npy.Array{DType: res.Outputs[0].Tensor.DType, Shape: res.Outputs[0].Tensor.Shape, Data: res.Outputs[0].Data}
			if err := near(got, &npy.Array{DType: "f32", Shape: []int{n, 10}, Data: want.Data[:n*10*4]}, 1e-3, 0); err != nil {
				t.Error(err)
			}
			logits, err := got.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i := range n {
				row := logits[10*i : 10*i+10]
				if slices.Index(row, slices.Max(row)) == int(labels.Data[8*i]) {
					right++
				}
			}
			if n == 360 && right != 355 || right < n*9/10 {
				t.Errorf("%d of %d digits are right", right, n)
			}
		})
	}
}

// TestImportLCEWrite: what ripc import writes compiles to the library that the file itself compiles to.
func TestImportLCEWrite(t *testing.T) {
	for _, name := range []string{"bconv_bitpacked_inout_c96_co64_s2", "bconv_groups2_same0_c64", "digits_w1a1", "graph_int8_tiny_quicknet_like"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lceNeeds(t, targets.HostName)
			var files [2][]byte
			file := "../testdata/lce/" + name + ".tflite"
			out := filepath.Join(t.TempDir(), "model.json")
			if _, err := ripc.Import(context.Background(), file, out, ripc.Options{}); err != nil {
				t.Fatal(err)
			}
			for i, path := range []string{file, out} {
				c, err := ripc.Compile(context.Background(), path, ripc.Options{Target: "rpi4", Emit: []codegen.Kind{codegen.SO}})
				if err != nil {
					t.Fatal(err)
				}
				files[i] = c.Files[codegen.SO]
			}
			if len(files[0]) == 0 || !bytes.Equal(files[0], files[1]) {
				t.Errorf("the libraries of %d and %d bytes differ", len(files[0]), len(files[1]))
			}
		})
	}
}

// TestImportLCENetworks verifies large networks, which are not kept here: every stage against the interpreter.
func TestImportLCENetworks(t *testing.T) {
	t.Parallel()
	if *lceNets == "" {
		t.Skip("give a folder with -lce-networks")
	}
	files, err := filepath.Glob(filepath.Join(*lceNets, "*.tflite"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			lceNeeds(t, targets.HostName)
			rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: file, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if !rep.OK {
				t.Error(rep)
			}
		})
	}
}
