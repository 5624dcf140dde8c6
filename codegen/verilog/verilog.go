// Package verilog writes designs of package dataflow as Verilog: a top module of streams and
// instances, memories as hexadecimal files, sums of products for the shapes at hand, and the
// modules of rtl, which are written by hand. The text is the same for every family of FPGAs.
package verilog

import (
	"embed"
	"fmt"
	"io/fs"
	"math/big"
	"strconv"
	"strings"

	"ripc/dataflow"
)

//go:embed rtl
var rtl embed.FS

// Files makes the files of d by name. The top module is called top; its file is top.v.
func Files(d *dataflow.Design, top string) (map[string][]byte, error) {
	files := map[string][]byte{"top.v": []byte(topText(d, top)), "dot.v": []byte(dots(dotShapes(d))),
		"bytes.v": []byte(bytesText(d, top))}
	err := fs.WalkDir(rtl, "rtl", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".v") || e.Name() == tapFile {
			return err
		}
		files[e.Name()], err = rtl.ReadFile(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, u := range d.Units {
		for _, r := range u.ROMs {
			var b strings.Builder
			for _, w := range r.Words {
				b.WriteString(Hex(w) + "\n")
			}
			files[u.Name+r.Suffix] = []byte(b.String())
		}
	}
	return files, nil
}

// tapFile has the module that only simulations need.
const tapFile = "tap.v"

// Simulation is the files that a simulation needs besides Files: taps, which the text reads if
// RIPC_TAP is defined, and the program that plays beats.
func Simulation() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range []string{tapFile, "bench.cpp"} {
		data, err := rtl.ReadFile("rtl/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// Hex is a word as $readmemh reads it.
func Hex(w dataflow.Word) string {
	v, mask := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(w.Width)), big.NewInt(1))
	for i := len(w.Fields) - 1; i >= 0; i-- {
		v.Lsh(v, uint(w.Width))
		v.Or(v, new(big.Int).And(big.NewInt(w.Fields[i]), mask))
	}
	return v.Text(16)
}

// topText is the top module: the streams, each with a comment, and the units.
func topText(d *dataflow.Design, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s by ripc: %d layers with weights, %d cycles a picture, by %s.\n", quote(d.Graph.Name),
		len(d.MVUs()), d.Cycles, quote(d.Slowest))
	fmt.Fprintf(&b, `module %s(
  input clk, input rst,
  input [%d:0] s_data, input s_valid, output s_ready,
  output [%d:0] m_data, output m_valid, input m_ready);
`, name, d.First.Width()-1, d.Last.Width()-1)
	for _, s := range d.Streams {
		what := s.Note
		if s.Tensor != "" {
			what = strings.TrimSpace(quote(s.Tensor) + " " + what)
		}
		fmt.Fprintf(&b, "\n  // %s: %s, %s", s.Name, what, s.Shape)
		if s.Taps > 1 {
			fmt.Fprintf(&b, " x %d taps", s.Taps)
		}
		fmt.Fprintf(&b, "; %d of %d bits a beat\n  wire [%d:0] %s_data; wire %s_valid, %s_ready;\n", s.Lanes, s.Bits,
			s.Width()-1, s.Name, s.Name, s.Name)
		if s.Tensor != "" {
			last := 0
			if s == d.Last {
				last = 1
			}
			fmt.Fprintf(&b, "`ifdef RIPC_TAP\n  tap #(.W(%[1]d), .NAME(\"%[2]s\"), .LAST(%[3]d))\n    tap_%[2]s(clk, "+
				"rst, %[2]s_valid, %[2]s_ready, %[2]s_data);\n`endif\n", s.Width(), s.Name, last)
		}
	}
	fmt.Fprintf(&b, `
  assign %[1]s_data = s_data; assign %[1]s_valid = s_valid; assign s_ready = %[1]s_ready;
  assign m_data = %[2]s_data; assign m_valid = %[2]s_valid; assign %[2]s_ready = m_ready;
`, d.First.Name, d.Last.Name)
	for _, u := range d.Units {
		b.WriteString("\n" + instance(u))
	}
	b.WriteString("endmodule\n")
	return b.String()
}

// Observed is a module called top around the module core, a netlist of d, with a tap at the output.
func Observed(d *dataflow.Design, core string) []byte {
	return fmt.Appendf(nil, `module top(
  input clk, input rst,
  input [%d:0] s_data, input s_valid, output s_ready,
  output [%d:0] m_data, output m_valid, input m_ready);
  %s core(.clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
    .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));
  tap #(.W(%d), .NAME("%s"), .LAST(1)) last(clk, rst, m_valid, m_ready, m_data);
endmodule
`, d.First.Width()-1, d.Last.Width()-1, core, d.Last.Width(), d.Last.Name)
}

// bytesText is a module around the top module, with streams of bytes: a beat is the least number of
// bytes that hold it, the lowest first.
func bytesText(d *dataflow.Design, top string) string {
	in, out := (d.First.Width()+7)/8*8, (d.Last.Width()+7)/8*8
	return fmt.Sprintf(`// %[1]s_bytes is %[1]s with streams of bytes. A beat is the least number of bytes that hold it, the
// lowest first.
module %[1]s_bytes(
  input clk, input rst,
  input [7:0] s_data, input s_valid, output s_ready,
  output [7:0] m_data, output m_valid, input m_ready);
  wire [%[2]d:0] in_data; wire in_valid, in_ready;
  wire [%[3]d:0] out_data; wire out_valid, out_ready;
  dwc #(.IW(8), .OW(%[4]d)) joined(.clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
    .m_data(in_data), .m_valid(in_valid), .m_ready(in_ready));
  %[1]s core(.clk(clk), .rst(rst), .s_data(in_data[%[5]d:0]), .s_valid(in_valid), .s_ready(in_ready),
    .m_data(out_data[%[6]d:0]), .m_valid(out_valid), .m_ready(out_ready));
%[8]s  dwc #(.IW(%[7]d), .OW(8)) parts(.clk(clk), .rst(rst), .s_data(out_data), .s_valid(out_valid), .s_ready(out_ready),
    .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));
endmodule
`, top, in-1, out-1, in, d.First.Width()-1, d.Last.Width()-1, out, fill(out, d.Last.Width()))
}

// fill sets the bits of a beat's bytes behind the beat to 0.
func fill(all, width int) string {
	if all == width {
		return ""
	}
	return fmt.Sprintf("  assign out_data[%d:%d] = 0;\n", all-1, width)
}

// quote is a name of the model in a comment: one line of ASCII.
func quote(name string) string { return strconv.QuoteToASCII(name) }

// instance is the text of one unit.
func instance(u *dataflow.Unit) string {
	var params, ports []string
	for _, p := range u.Params {
		v := fmt.Sprint(p.Value)
		switch x := p.Value.(type) {
		case string:
			v = `"` + x + `"`
		case dataflow.Word:
			v = fmt.Sprintf("%d'h%s", x.Width*len(x.Fields), Hex(x))
		}
		params = append(params, fmt.Sprintf(".%s(%s)", p.Name, v))
	}
	port := func(streams []*dataflow.Stream, single string) {
		for i, s := range streams {
			name := single
			if len(streams) > 1 {
				name = string(rune('a' + i))
			}
			for _, part := range []string{"data", "valid", "ready"} {
				ports = append(ports, fmt.Sprintf(".%s_%s(%s_%s)", name, part, s.Name, part))
			}
		}
	}
	port(u.In, "s")
	port(u.Out, "m")
	layer := ""
	if u.Layer != "" {
		layer = "  // of " + quote(u.Layer) + "\n"
	}
	return fmt.Sprintf("%s  %s #(%s)\n    %s(.clk(clk), .rst(rst), %s);\n", layer, u.Module, strings.Join(params, ", "),
		u.Name, strings.Join(ports, ", "))
}
