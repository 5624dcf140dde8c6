package verilog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/dataflow"
)

// TestWraps plays pictures through the modules around a design: a serial line, and the bus of a processor. Results are those of
// the definition; the bus counts beats, marks the last of each picture, and its reset begins anew.
func TestWraps(t *testing.T) {
	needIcarus(t)
	d := design(t, "architectures/finn_mlp4_w1a1.onnx", "")
	files, err := Files(d, "net")
	if err != nil {
		t.Fatal(err)
	}
	const div, pictures = 4, 3
	serial, err := Serial(d, "net", 1000*div, 1000)
	if err != nil {
		t.Fatal(err)
	}
	axi, err := AXI(d, "net")
	if err != nil {
		t.Fatal(err)
	}
	files["serial.v"], files["axi.v"] = serial, axi
	random := rand.New(rand.NewPCG(1, 2))
	var in, want strings.Builder
	for range pictures {
		x := make([]int64, d.First.Elems())
		for i := range x {
			x[i] = random.Int64N(1 << d.First.Bits)
		}
		y := d.Eval(x)[d.Out]
		if m := d.SumsLeave(); m != nil {
			y = m.Raw(y)
		}
		for _, w := range d.First.Words(x) {
			in.WriteString(byteText(w, inBytes(d.First)))
		}
		for _, w := range d.Last.Words(y) {
			want.WriteString(byteText(w, inBytes(d.Last)))
		}
	}
	sent, got := pictures*inBytes(d.First)*d.First.Beats(), pictures*inBytes(d.Last)*d.Last.Beats()
	files["in.hex"] = []byte(in.String())
	files["test.v"] = fmt.Appendf(nil, `module test;
  localparam SENT = %[1]d, GOT = %[2]d, IB = %[3]d, OB = %[4]d, BEATS = %[5]d, CYCLES = %[6]d, PICTURES = %[7]d;
  reg clk = 0; always #1 clk = !clk;
  reg [7:0] in[0:SENT-1]; initial $readmemh("in.hex", in);
  integer i, j, k, p, file;

  // The serial line: a host that sends a picture, and then reads its result.
  reg rx = 1; wire tx; reg [7:0] b;
  net_serial #(.DIV(%[8]d)) serial(clk, rx, tx);
  task send(input [7:0] v); begin
    rx = 0; repeat (%[8]d) @(posedge clk);
    for (j = 0; j < 8; j = j+1) begin rx = v[j]; repeat (%[8]d) @(posedge clk); end
    rx = 1; repeat (%[8]d) @(posedge clk);
  end endtask
  task receive; begin
    @(negedge tx) repeat (%[8]d/2) @(posedge clk);
    for (j = 0; j < 8; j = j+1) begin repeat (%[8]d) @(posedge clk); b[j] = tx; end
    $fwrite(file, "%%02x\n", b);
  end endtask

  // The bus.
  reg resetn = 0, valid = 0, ready = 0, aw = 0, ar = 0; reg [4:0] address = 0; reg [31:0] data = 0;
  reg [IB*8-1:0] beat; wire [OB*8-1:0] out; wire s_ready, m_valid, m_last, bvalid, rvalid; wire [31:0] rdata;
  net_axi axi(.aclk(clk), .aresetn(resetn), .s_axis_tdata(beat), .s_axis_tvalid(valid), .s_axis_tready(s_ready),
    .s_axis_tlast(1'b0), .m_axis_tdata(out), .m_axis_tvalid(m_valid), .m_axis_tready(ready), .m_axis_tlast(m_last),
    .s_axi_awaddr(address), .s_axi_awvalid(aw), .s_axi_awready(), .s_axi_wdata(data), .s_axi_wstrb(4'hf), .s_axi_wvalid(aw),
    .s_axi_wready(), .s_axi_bresp(), .s_axi_bvalid(bvalid), .s_axi_bready(1'b1), .s_axi_araddr(address), .s_axi_arvalid(ar),
    .s_axi_arready(), .s_axi_rdata(rdata), .s_axi_rresp(), .s_axi_rvalid(rvalid), .s_axi_rready(1'b1));
  task write(input [4:0] a, input [31:0] v); begin
    @(negedge clk) address = a; data = v; aw = 1; @(negedge clk) aw = 0; @(negedge clk);
  end endtask
  task check(input [4:0] a, input [31:0] v); begin
    @(negedge clk) address = a; ar = 1; @(negedge clk) ar = 0;
    if (!rvalid || rdata !== v) $display("register %%0d is %%0d, want %%0d", a, rdata, v);
    @(negedge clk);
  end endtask
  integer sent, got; reg bus = 0;
  always @(negedge clk) if (bus) begin
    if (!valid && sent < SENT/IB) begin
      for (k = 0; k < IB; k = k+1) beat[k*8 +: 8] = in[sent*IB+k];
      valid = 1;
    end
    ready = $random;
  end
  always @(posedge clk) if (bus) begin
    if (valid & s_ready) begin sent = sent+1; valid <= 0; end
    if (m_valid & ready) begin
      for (k = 0; k < OB; k = k+1) $fwrite(file, "%%02x\n", out[k*8 +: 8]);
      if (m_last !== (got %% BEATS == BEATS-1)) $display("beat %%0d: last is %%0d", got, m_last);
      got = got+1;
    end
  end
  initial begin
    file = $fopen("serial.txt");
    repeat (20) @(posedge clk);
    for (p = 0; p < PICTURES; p = p+1) fork
      for (i = 0; i < SENT/PICTURES; i = i+1) send(in[p*SENT/PICTURES+i]);
      repeat (GOT/PICTURES) receive;
    join
    $fclose(file);
    @(negedge clk) resetn = 1;
    check(16, CYCLES);
    for (p = 0; p < 2; p = p+1) begin
      write(0, 1); check(8, 0); check(12, 0); write(0, 0);
      file = $fopen(p ? "again.txt" : "axi.txt"); sent = 0; got = 0; bus = 1;
      while (got < GOT/OB) @(posedge clk);
      bus = 0; valid = 0; ready = 0;
      check(8, SENT/IB); check(12, GOT/OB);
      $fclose(file);
    end
    $finish;
  end
  initial begin #20000000 $display("it takes too long"); $finish; end
endmodule
`, sent, got, inBytes(d.First), inBytes(d.Last), d.Last.Beats(), d.Cycles, pictures, div)
	dir, args := t.TempDir(), []string{"-g2012", "-o", "test.out"}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".v" {
			args = append(args, name)
		}
	}
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run("iverilog", args...)
	if out := run("vvp", "-n", "test.out"); strings.Contains(out, "want ") || strings.Contains(out, "last is") || strings.Contains(out, "takes too") {
		t.Error(out)
	}
	for _, name := range []string{"serial.txt", "axi.txt", "again.txt"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want.String() {
			t.Errorf("%s: %v\n%.300s\nwant\n%.300s", name, err, text, want.String())
		}
	}
}

// byteText is the bytes of a beat, the lowest first, a line each.
func byteText(w dataflow.Word, n int) string {
	digits := strings.Repeat("0", 2*n) + Hex(w)
	digits = digits[len(digits)-2*n:]
	var b strings.Builder
	for i := n - 1; i >= 0; i-- {
		b.WriteString(digits[2*i:2*i+2] + "\n")
	}
	return b.String()
}
