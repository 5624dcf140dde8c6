package verilog

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/internal/golden"
	"ripc/internal/models"
	"ripc/targets/fpga"
)

func design(t *testing.T, name string, rename string) *dataflow.Design {
	t.Helper()
	load := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), load, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rename != "" {
		g.Name = rename
		for _, n := range g.Nodes {
			n.Name = rename + n.Name
		}
	}
	s, err := dataflow.NewSegment(g)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fpga.Lookup("arty-a7")
	p, err := fold.FindWithin(s, 2000, b)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Build(s, p.Folds)
}

// TestTop: the text of a network with all units.
func TestTop(t *testing.T) {
	files, err := Files(design(t, "fpga/every.json", ""), "every_accelerator")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/every.v", files["top.v"])
	again, err := Files(design(t, "fpga/every.json", ""), "every_accelerator")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if !bytes.Equal(data, again[name]) {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

// TestNames: names of the model end no comment.
func TestNames(t *testing.T) {
	files, err := Files(design(t, "fpga/every.json", "a;b\n*/ endmodule\u2028 `define x "), "top")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Files(design(t, "fpga/every.json", ""), "top")
	if err != nil {
		t.Fatal(err)
	}
	if code(files["top.v"]) != code(plain["top.v"]) {
		t.Error("names are more than comments")
	}
}

// code is text without comments.
func code(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestHeaps: a heap adds up to the number of bits that agree, for all numbers of elements and planes.
func TestHeaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 128; n += 1 + n/32 {
		for planes := 1; planes <= 8; planes += 1 + n/8 {
			h := newHeap(n, planes)
			for range 20 {
				e := map[string]uint{}
				want := uint(0)
				for p := range planes {
					for i := range n {
						v := uint(random.IntN(2))
						e[fmt.Sprintf("e%d[%d]", p, i)] = v
						want += v << p
					}
				}
				for i, c := range h.counters {
					sum := uint(0)
					for _, in := range c.in {
						v, ok := e[in]
						if !ok {
							t.Fatalf("%d x %d: %s is read before it is made", n, planes, in)
						}
						sum += v
					}
					for k := range bits.Len(uint(len(c.in))) {
						e[fmt.Sprintf("h%d[%d]", i, k)] = sum >> k & 1
					}
				}
				got := uint(0)
				for weight, column := range h.columns {
					if len(column) > 2 {
						t.Fatalf("%d x %d: %d bits are left", n, planes, len(column))
					}
					for _, b := range column {
						got += e[b] << weight
					}
				}
				if got != want {
					t.Fatalf("%d x %d: %d, want %d", n, planes, got, want)
				}
			}
		}
	}
}

// needIcarus skips a test where Icarus Verilog is missing, unless the tools are required.
func needIcarus(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("iverilog"); err != nil {
		if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
			t.Fatal(err)
		}
		t.Skip("iverilog is missing; scripts/setup-fpga.sh installs it")
	}
}

// TestIcarus: a second reader of Verilog, with a strict grammar, takes the whole accelerator.
func TestIcarus(t *testing.T) {
	needIcarus(t)
	files, err := Files(design(t, "fpga/every.json", ""), "top")
	if err != nil {
		t.Fatal(err)
	}
	dir, args := t.TempDir(), []string{"-g2005", "-o", "top.out"}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".v" {
			args = append(args, name)
		}
	}
	cmd := exec.Command("iverilog", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCounters: the modules that count three and six bits do, as Icarus Verilog reads them, and so do whole sums.
func TestCounters(t *testing.T) {
	needIcarus(t)
	dir := t.TempDir()
	text := dots([]dotShape{{7, 1, 1, 5}, {19, 3, 1, 9}, {5, 4, 3, 11}}) + `
module test;
  reg [6:0] x1, w1; wire signed [4:0] y1; dot #(.N(7), .XB(1), .WB(1), .CW(5)) d1(x1, w1, y1);
  reg [56:0] x2; reg [18:0] w2; wire signed [8:0] y2; dot #(.N(19), .XB(3), .WB(1), .CW(9)) d2(x2, w2, y2);
  reg [19:0] x3; reg [14:0] w3; wire signed [10:0] y3; dot #(.N(5), .XB(4), .WB(3), .CW(11)) d3(x3, w3, y3);
  integer k, i, p, s1, s2, s3, bad;
  initial begin
    bad = 0;
    for (k = 0; k < 4000; k = k+1) begin
      {x1, w1} = k; x2 = {$random, $random}; w2 = $random; x3 = $random; w3 = $random; #1;
      s1 = 0; for (i = 0; i < 7; i = i+1) s1 = s1+(x1[i] == w1[i]);
      s2 = 0; for (i = 0; i < 19; i = i+1) for (p = 0; p < 3; p = p+1) s2 = s2+((x2[i*3+p] == w2[i]) << p);
      s3 = 0; for (i = 0; i < 5; i = i+1) s3 = s3+$signed({1'b0, x3[i*4 +: 4]})*$signed(w3[i*3 +: 3]);
      if (y1 != s1 || y2 != s2 || y3 != s3) bad = bad+1;
    end
    $display("bad %0d", bad);
  end
endmodule
`
	file := filepath.Join(dir, "test.v")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("iverilog", "-g2012", "-o", filepath.Join(dir, "test"), file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "test")).CombinedOutput()
	if err != nil || string(out) != "bad 0\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
