package accelerator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/accelerator"
	"ripc/compile"
	"ripc/core"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/internal/golden"
	"ripc/internal/models"
	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// load is the accelerator of a network of testdata with the least cycles, times a factor.
func load(t *testing.T, name, board string, factor int) *accelerator.Accelerator {
	t.Helper()
	read := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), read, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fpga.Lookup(board)
	_, err = accelerator.New(g, b, accelerator.FoldOptions{Cycles: 1}, compile.Options{})
	o := accelerator.FoldOptions{Cycles: 1}
	if budget := (*fold.BudgetError)(nil); errors.As(err, &budget) {
		o.Cycles = factor * budget.Least
	}
	a, err := accelerator.New(g, b, o, compile.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return a
}

// TestVerify: whole networks, with a head and a tail on the processor, and every stream.
func TestVerify(t *testing.T) {
	names := []string{"fpga/every.json"}
	if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
		names = append(names, "architectures/bnn.onnx", "architectures/dorefa_w1a2.onnx", "architectures/lsq_w2a2.onnx",
			"architectures/har.onnx", "architectures/bipointnet.onnx", "architectures/meliusnet.onnx",
			"architectures/reactnet_plain.onnx", "architectures/keywords.onnx", "twin/bipolar2.json", "twin/unipolar3.json",
			"integers/tfl_block_s8.tflite", "integers/tfl_depthwise_u8.tflite", "qonnx/digits_w1a2.onnx", "twin/shortcuts.json",
			"architectures/spelled_where.onnx", "fpga/joins.json", "integers/qlinear_fire_s8.onnx", "fewbits/mean_2x2.onnx")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			a := load(t, name, "pynq-z2", 3)
			r, err := a.Verify(t.Context(), accelerator.VerifyOptions{Seed: 1}, func(int, int, string) {})
			if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
				t.Skip(err)
			}
			if err != nil || !r.OK || r.Mixes[0].Cycles != float64(a.Design.Cycles) {
				t.Errorf("%v %+v", err, r)
			}
		})
	}
}

// TestCore: a network on an instruction core, with a head and a tail on the processor. A weight that
// was changed is found.
func TestCore(t *testing.T) {
	a := load(t, "twin/unipolar3.json", "pynq-z2", 3)
	k, err := accelerator.NewCore(t.Context(), a.Graph, a.Target, core.Default().String(), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []bool{false, true} {
		if wrong {
			k.Program.Memory[k.Words()*core.Default().Lanes/32] ^= 1
		}
		r, err := k.Verify(t.Context(), 1)
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil || r.OK == wrong || r.Tensors[0].OK == wrong {
			t.Errorf("wrong %v: %+v, %v", wrong, r, err)
		}
	}
}

// TestNetlists: the netlists of three families do what the design does.
func TestNetlists(t *testing.T) {
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		t.Skip("make fpga runs it")
	}
	for _, board := range []string{"pynq-z2", "ulx3s-25f", "tang-nano-20k"} {
		t.Run(board, func(t *testing.T) {
			a := load(t, "fpga/every.json", board, 3)
			r, err := a.Verify(t.Context(), accelerator.VerifyOptions{Seed: 1, Netlist: true}, func(int, int, string) {})
			if err != nil || !r.OK || len(r.Netlist) == 0 {
				t.Errorf("%v %+v", err, r)
			}
		})
	}
}

// TestHost: the parts of a network on the processor are networks of their own.
func TestHost(t *testing.T) {
	for _, name := range []string{"twin/bipolar2.json", "twin/unipolar3.json", "architectures/lsq_w2a2.onnx", "fpga/every.json",
		"architectures/har.onnx", "integers/tfl_block_s8.tflite", "architectures/meliusnet.onnx"} {
		parts := load(t, name, "pynq-z2", 2).Design.Host()
		for _, g := range []*graph.Graph{parts.Head, parts.Tail} {
			if g == nil {
				continue
			}
			if _, err := compile.DefinitionOfFused(t.Context(), g, compile.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestWrongMemory: a memory that was changed is found by the proof and in the simulation, in its stream.
func TestWrongMemory(t *testing.T) {
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		t.Skip("make fpga runs it")
	}
	a := load(t, "fpga/every.json", "pynq-z2", 3)
	for _, u := range a.Design.Units {
		if u.Layer == "groups" && len(u.ROMs) > 0 {
			for i := range u.ROMs[0].Words[0].Fields {
				u.ROMs[0].Words[0].Fields[i] ^= 1
			}
		}
	}
	r, err := a.Verify(t.Context(), accelerator.VerifyOptions{Seed: 1}, func(int, int, string) {})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK || !strings.Contains(r.Proof, "layer groups: weight 0 of row") {
		t.Errorf("%+v", r)
	}
	wrong := map[string]bool{}
	for _, s := range r.Streams {
		wrong[s.Tensor] = !s.OK
		if s.Tensor == "groups_q" && !s.OK && !strings.Contains(s.Differs[0], "picture 0, row ") {
			t.Errorf("%+v", s)
		}
	}
	if wrong["conv_q"] || !wrong["groups_q"] {
		t.Errorf("wrong streams: %v", wrong)
	}
}

// TestHeader: the header of sums and of beats.
func TestHeader(t *testing.T) {
	for name, network := range map[string]string{"every": "fpga/every.json", "levels": "lce/bconv_int8_valid_c64.tflite"} {
		h, err := load(t, network, "arty-a7", 1).Header()
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+".h", h)
	}
}

// TestPack: the header's functions make the bytes of a stream, and read them.
func TestPack(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing")
	}
	for _, network := range []string{"fpga/every.json", "fpga/joins.json", "lce/bconv_int8_valid_c64.tflite"} {
		a := load(t, network, "arty-a7", 1)
		d := a.Design
		h, err := a.Header()
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		var in, out []int64
		for range d.First.Elems() {
			in = append(in, random.Int64N(1<<d.First.Bits))
		}
		for range d.Last.Elems() {
			v := random.Int64N(1 << d.Last.Bits)
			if d.Last.Signed {
				v -= 1 << (d.Last.Bits - 1)
			}
			out = append(out, v)
		}
		levels, element := make([]string, len(in)), "unsigned char"
		for i, v := range in {
			levels[i] = fmt.Sprint(dataflow.Ascending(d.InType(), v))
		}
		want := bytesOf(d.First, in)
		if m := d.SumsLeave(); m != nil {
			element = "float"
			want = append(want, m.Sums(out)...)
		} else if d.Graph.Value(d.Out).Whole {
			element, want = "int", append(want, out...)
		} else {
			for _, v := range out { // signed levels: less 128
				want = append(want, v^128)
			}
		}
		var packed []string
		for _, b := range bytesOf(d.Last, out) {
			packed = append(packed, fmt.Sprint(b))
		}
		up := strings.ToUpper(a.Prefix())
		program := fmt.Sprintf(`%[1]s
#include <stdio.h>
int main(void) {
    static const unsigned char levels[] = {%[2]s}, packed[] = {%[3]s};
    static unsigned char bytes[%[4]s_IN_BEATS * %[4]s_IN_BYTES];
    static %[5]s out[%[4]s_OUT_ELEMENTS];
    %[6]s_pack(levels, bytes);
    for (unsigned i = 0; i < sizeof bytes; i++) printf("%%d ", bytes[i]);
    %[6]s_unpack(packed, out);
    for (int i = 0; i < %[4]s_OUT_ELEMENTS; i++) printf("%%d ", (int)out[i]);
    return 0;
}
`, h, strings.Join(levels, ","), strings.Join(packed, ","), up, element, a.Prefix())
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		build := exec.Command(cc, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, "a"), filepath.Join(dir, "a.c"))
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		text, err := exec.Command(filepath.Join(dir, "a")).Output()
		if got := strings.Trim(fmt.Sprint(want), "[]"); err != nil || got != strings.TrimSpace(string(text)) {
			t.Errorf("%s: %v\n%.200s\nwant\n%.200s", network, err, text, got)
		}
	}
}

// TestDriver: the driver for Linux gives the DMA engine the right places and lengths, and packs and unpacks. Registers are plain
// memory here; the result lies in the buffer, as if the hardware had written it.
func TestDriver(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing")
	}
	a := load(t, "fpga/every.json", "pynq-z2", 1)
	files, err := a.Driver()
	if err != nil {
		t.Fatal(err)
	}
	if files[a.Prefix()+".h"], err = a.Header(); err != nil {
		t.Fatal(err)
	}
	files["test.c"] = []byte(`#include "every_driver.h"
#include <stdio.h>
#include <string.h>
static uint32_t dma[32], core[8];
static unsigned char buffer[EVERY_BUFFER], levels[EVERY_IN_ELEMENTS], bytes[EVERY_IN_BEATS * EVERY_IN_BYTES];
int main(void) {
    static every_result got[EVERY_OUT_ELEMENTS], want[EVERY_OUT_ELEMENTS];
    unsigned long in = sizeof bytes, at = (in + 63) / 64 * 64, out = EVERY_OUT_BEATS * EVERY_OUT_BYTES;
    every_device d = {dma, core, buffer, 0x1230000000ull};
    for (unsigned i = 0; i < sizeof levels; i++) levels[i] = i * 7 % (1 << EVERY_IN_BITS);
    for (unsigned i = 0; i < out; i++) buffer[at + i] = (unsigned char)(i * 31);
    every_pack(levels, bytes);
    every_unpack(buffer + at, want);
    dma[1] = dma[13] = 2; /* idle: done at once */
    if (every_infer(&d, levels, got) || memcmp(buffer, bytes, in) || memcmp(got, want, sizeof want)) return 1;
    if (dma[0] != 1 || dma[12] != 1 || dma[6] != 0x30000000 || dma[7] != 0x12 || dma[10] != in) return 2;
    if (dma[18] != 0x30000000 + at || dma[19] != 0x12 || dma[22] != out) return 3;
    dma[13] = 0x20; /* a fault */
    return every_infer(&d, levels, got) != -1;
}
`)
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command(cc, "-Wall", "-Wextra", "-Werror", "-o", "test", "test.c", "every_driver.c")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.Command(filepath.Join(dir, "test")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// bytesOf is the bytes of the beats of s.
func bytesOf(s *dataflow.Stream, elements []int64) []int64 {
	var all []int64
	for _, w := range s.Words(elements) {
		beat := make([]int64, (s.Width()+7)/8)
		for i, v := range w.Fields {
			for b := range s.Bits {
				at := i*s.Bits + b
				beat[at/8] |= (v >> b & 1) << (at % 8)
			}
		}
		all = append(all, beat...)
	}
	return all
}
