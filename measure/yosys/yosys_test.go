package yosys

import (
	"errors"
	"os"
	"testing"

	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// TestSynthesize counts the cells of a register of eight bits.
func TestSynthesize(t *testing.T) {
	source := map[string][]byte{"a.v": []byte("module a(input clk, input [7:0] d, output reg [7:0] q); always @(posedge clk) q <= d; endmodule\n")}
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
