package yosys

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// TestSynthesize counts the cells of a register of eight bits, four of them in a module that is kept apart.
func TestSynthesize(t *testing.T) {
	source := map[string][]byte{"a.v": []byte(`module a(input clk, input [7:0] d, output [7:0] q);
  part #(4) low(clk, d[3:0], q[3:0]);
  reg [3:0] r; assign q[7:4] = r; always @(posedge clk) r <= d[7:4];
endmodule
(* keep_hierarchy = "yes" *) module part #(parameter N=1)(input clk, input [N-1:0] d, output reg [N-1:0] q);
  always @(posedge clk) q <= d;
endmodule
`)}
	families := fpga.Families()
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" { // make fpga takes all
		families = families[:1]
	}
	for _, f := range families {
		r, err := Synthesize(t.Context(), source, "a", f, "")
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if r.Used[fpga.FFs] != 8 || r.Used[fpga.RAMKbits] != 0 || r.Version == "" {
			t.Errorf("%s: %+v", f.Name, r)
		}
		again, err := Synthesize(t.Context(), source, "a", f, "")
		if err != nil || again.Used[fpga.FFs] != 8 {
			t.Errorf("%s: from the cache %+v, %v", f.Name, again, err)
		}
	}
	_, err := Synthesize(t.Context(), map[string][]byte{"a.v": []byte("module a(")}, "a", fpga.Families()[0], "")
	if fault := (*tools.Error)(nil); !errors.As(err, &fault) || fault.Text == "" {
		t.Errorf("%v", err)
	}
}

// TestNetlist: a netlist has no cell without a model, or with a wrong one: block RAM, though a memory asks for it, shift registers of
// 7-series, of which Yosys drops the enable, and adders of Gowin, by which it compares wrongly.
func TestNetlist(t *testing.T) {
	source := map[string][]byte{"a.v": []byte(`module a(input clk, input en, input [7:0] x, output reg [7:0] q);
  (* ram_style = "block" *) reg [7:0] m[0:255]; reg [7:0] y, z;
  always @(posedge clk) if (en) begin m[x] <= q; y <= (m[x] <= x) ? x : m[x]; z <= y; q <= z; end
endmodule
`)}
	for board, cells := range map[string]string{"pynq-z2": "RAMB|SRL", "tang-nano-20k": `\bALU\b|\bSDP`} {
		f, _ := fpga.Lookup(board)
		text, models, err := Netlist(t.Context(), source, "a", f.Family)
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if cell := regexp.MustCompile(cells).Find(text); cell != nil || !regexp.MustCompile(`FDRE|DFFE`).Match(text) {
			t.Errorf("%s: %s in the netlist", board, cell)
		}
		if _, err := os.Stat(models); err != nil {
			t.Error(err)
		}
	}
}
