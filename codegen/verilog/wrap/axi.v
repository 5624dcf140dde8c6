// {{.Top}}_axi is {{.Top}} for the bus of a processor: pictures come and results leave as AXI4-Streams of {{.In}} and {{.Out}}
// bits, beats in whole bytes, and registers of 32 bits are read and written by AXI4-Lite:
//
//	0x00  control: bit 0 resets the core while it is 1
//	0x04  cycles since the reset
//	0x08  beats that came in
//	0x0c  beats that left
//	0x10  cycles that a picture takes in a full pipeline
//
// The last beat of each picture's result carries tlast.
module {{.Top}}_axi(
  input aclk, input aresetn,
  input [{{.In}}-1:0] s_axis_tdata, input s_axis_tvalid, output s_axis_tready, input s_axis_tlast,
  output [{{.Out}}-1:0] m_axis_tdata, output m_axis_tvalid, input m_axis_tready, output m_axis_tlast,
  input [4:0] s_axi_awaddr, input s_axi_awvalid, output s_axi_awready,
  input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output [1:0] s_axi_bresp, output reg s_axi_bvalid, input s_axi_bready,
  input [4:0] s_axi_araddr, input s_axi_arvalid, output s_axi_arready,
  output reg [31:0] s_axi_rdata, output [1:0] s_axi_rresp, output reg s_axi_rvalid, input s_axi_rready);
  reg halt; wire rst = !aresetn | halt;
  reg [31:0] cycles, came, left; reg [{{.Count}}-1:0] beat; // of the picture's result
  wire last = (beat == {{.Beats}}-1), out = m_axis_tvalid & m_axis_tready;
  wire [{{.Out}}-1:0] data;
  assign m_axis_tdata = data, m_axis_tlast = last;
{{- if lt .OutBits .Out}}
  assign data[{{.Out}}-1:{{.OutBits}}] = 0;
{{- end}}
  {{.Top}} core(.clk(aclk), .rst(rst), .s_data(s_axis_tdata[{{.InBits}}-1:0]), .s_valid(s_axis_tvalid & !rst),
    .s_ready(s_axis_tready), .m_data(data[{{.OutBits}}-1:0]), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));
  always @(posedge aclk)
    if (rst) begin cycles <= 0; came <= 0; left <= 0; beat <= 0; end
    else begin
      cycles <= cycles+1'b1;
      if (s_axis_tvalid & s_axis_tready) came <= came+1'b1;
      if (out) begin left <= left+1'b1; beat <= last ? 0 : beat+1'b1; end
    end

  // Registers: a write is taken when address and data are there, a read at once.
  wire write = s_axi_awvalid & s_axi_wvalid & (!s_axi_bvalid | s_axi_bready);
  wire read = s_axi_arvalid & (!s_axi_rvalid | s_axi_rready);
  assign s_axi_awready = write, s_axi_wready = write, s_axi_arready = read, s_axi_bresp = 0, s_axi_rresp = 0;
  always @(posedge aclk)
    if (!aresetn) begin halt <= 0; s_axi_bvalid <= 0; s_axi_rvalid <= 0; end
    else begin
      s_axi_bvalid <= write | (s_axi_bvalid & !s_axi_bready);
      s_axi_rvalid <= read | (s_axi_rvalid & !s_axi_rready);
      if (write & (s_axi_awaddr[4:2] == 0) & s_axi_wstrb[0]) halt <= s_axi_wdata[0];
      if (read)
        case (s_axi_araddr[4:2])
          0: s_axi_rdata <= halt;
          1: s_axi_rdata <= cycles;
          2: s_axi_rdata <= came;
          3: s_axi_rdata <= left;
          default: s_axi_rdata <= {{.Cycles}};
        endcase
    end
endmodule
