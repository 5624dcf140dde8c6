// Streams are valid, ready and data. All memories are read into a register, so that every family's
// block RAM can hold them.

// fifo lets D beats wait, and one more in its output register.
module fifo #(parameter W=8, D=16)(
  input clk, input rst,
  input [W-1:0] s_data, input s_valid, output s_ready,
  output reg [W-1:0] m_data, output reg m_valid, input m_ready);
  localparam B = (D > 1) ? $clog2(D) : 1;
  reg [W-1:0] mem[0:D-1];
  reg [B-1:0] wp, rp; reg [$clog2(D+1)-1:0] n;
  assign s_ready = (n != D);
  wire push = s_valid & s_ready, pop = (n != 0) & (!m_valid | m_ready);
  always @(posedge clk) begin
    if (push) mem[wp] <= s_data;
    if (pop) m_data <= mem[rp];
    if (rst) begin wp <= 0; rp <= 0; n <= 0; m_valid <= 0; end
    else begin
      if (push) wp <= (wp == D-1) ? 0 : wp+1'b1;
      if (pop) rp <= (rp == D-1) ? 0 : rp+1'b1;
      if (push & !pop) n <= n+1'b1; else if (pop & !push) n <= n-1'b1;
      m_valid <= pop | (m_valid & !m_ready);
    end
  end
endmodule

// dwc joins or splits beats by a whole ratio, the first beat in the low bits.
module dwc #(parameter IW=8, OW=32)(
  input clk, input rst,
  input [IW-1:0] s_data, input s_valid, output s_ready,
  output [OW-1:0] m_data, output m_valid, input m_ready);
  wire go = s_valid & s_ready;
  generate if (OW > IW) begin: up
    localparam R = OW/IW;
    reg [OW-1:0] d; reg v; reg [$clog2(R)-1:0] k;
    assign m_data = d; assign m_valid = v; assign s_ready = !v | m_ready;
    always @(posedge clk) begin
      if (go) d <= {s_data, d[OW-1:IW]};
      if (rst) begin v <= 0; k <= 0; end
      else if (go) begin v <= (k == R-1); k <= (k == R-1) ? 0 : k+1'b1; end
      else if (m_ready) v <= 0;
    end
  end else begin: down
    localparam R = IW/OW;
    reg [IW-1:0] d; reg [$clog2(R+1)-1:0] k;
    assign m_data = d[OW-1:0]; assign m_valid = (k != 0); assign s_ready = (k == 0) | ((k == 1) & m_ready);
    always @(posedge clk) begin
      if (go | m_ready) d <= (k < 2) ? s_data : d >> OW;
      if (rst) k <= 0; else if (go) k <= R; else if (m_valid & m_ready) k <= k-1'b1;
    end
  end endgenerate
endmodule

// fork2 gives every beat to both readers.
module fork2 #(parameter W=8)(
  input clk, input rst,
  input [W-1:0] s_data, input s_valid, output s_ready,
  output [W-1:0] a_data, output a_valid, input a_ready,
  output [W-1:0] b_data, output b_valid, input b_ready);
  reg da, db; // had the beat already
  assign a_data = s_data; assign b_data = s_data;
  assign a_valid = s_valid & !da; assign b_valid = s_valid & !db;
  assign s_ready = (da | a_ready) & (db | b_ready);
  always @(posedge clk)
    if (rst | (s_valid & s_ready)) begin da <= 0; db <= 0; end
    else begin
      if (a_valid & a_ready) da <= 1;
      if (b_valid & b_ready) db <= 1;
    end
endmodule

// addl adds L levels of A bits, shifted by SA and inverted before that with FA, and as many of B bits,
// to O bits.
module addl #(parameter L=4, A=1, B=1, O=2, SA=0, SB=0, FA=0, FB=0)(
  input clk, input rst,
  input [L*A-1:0] a_data, input a_valid, output a_ready,
  input [L*B-1:0] b_data, input b_valid, output b_ready,
  output reg [L*O-1:0] m_data, output reg m_valid, input m_ready);
  wire go = a_valid & b_valid & (!m_valid | m_ready);
  assign a_ready = go; assign b_ready = go;
  genvar i;
  generate for (i = 0; i < L; i = i+1) begin: lane
    wire [O-1:0] a = a_data[i*A +: A]^{A{FA[0]}}, b = b_data[i*B +: B]^{B{FB[0]}};
    always @(posedge clk) if (go) m_data[i*O +: O] <= (a << SA)+(b << SB);
  end endgenerate
  always @(posedge clk) m_valid <= !rst & (go | (m_valid & !m_ready));
endmodule

// pair puts L elements of A bits beside as many of B bits.
module pair #(parameter L=4, A=1, B=1)(
  input clk, input rst,
  input [L*A-1:0] a_data, input a_valid, output a_ready,
  input [L*B-1:0] b_data, input b_valid, output b_ready,
  output [L*(A+B)-1:0] m_data, output m_valid, input m_ready);
  assign m_valid = a_valid & b_valid; assign a_ready = m_valid & m_ready; assign b_ready = m_valid & m_ready;
  genvar i;
  generate for (i = 0; i < L; i = i+1) begin: lane
    assign m_data[i*(A+B) +: A+B] = {b_data[i*B +: B], a_data[i*A +: A]};
  end endgenerate
endmodule

// lookup replaces each of L elements of A bits by its word of a table, of O bits.
module lookup #(parameter L=4, A=2, O=2, FILE="")(
  input clk, input rst,
  input [L*A-1:0] s_data, input s_valid, output s_ready,
  output [L*O-1:0] m_data, output reg m_valid, input m_ready);
  assign s_ready = !m_valid | m_ready;
  wire go = s_valid & s_ready;
  genvar i;
  generate for (i = 0; i < L; i = i+1) begin: lane
    reg [O-1:0] mem[0:(1<<A)-1], q;
    initial $readmemh({FILE, "_t.hex"}, mem);
    always @(posedge clk) if (go) q <= mem[s_data[i*A +: A]];
    assign m_data[i*O +: O] = q;
  end endgenerate
  always @(posedge clk) m_valid <= !rst & (go | (m_valid & !m_ready));
endmodule

// flip inverts bits of each pixel of F beats, where a memory has ones.
module flip #(parameter W=8, F=1, FILE="")(
  input clk, input rst,
  input [W-1:0] s_data, input s_valid, output s_ready,
  output [W-1:0] m_data, output m_valid, input m_ready);
  localparam B = (F > 1) ? $clog2(F) : 1;
  (* rom_style = "logic", ram_style = "logic" *) reg [W-1:0] mem[0:F-1];
  initial $readmemh({FILE, "_t.hex"}, mem);
  reg [B-1:0] f;
  assign m_data = s_data^mem[f]; assign m_valid = s_valid; assign s_ready = m_ready;
  always @(posedge clk) if (rst) f <= 0; else if (m_valid & m_ready) f <= (f == F-1) ? 0 : f+1'b1;
endmodule

// cat takes FA beats of a, then FB beats of b, for each pixel.
module cat #(parameter W=8, FA=1, FB=1)(
  input clk, input rst,
  input [W-1:0] a_data, input a_valid, output a_ready,
  input [W-1:0] b_data, input b_valid, output b_ready,
  output [W-1:0] m_data, output m_valid, input m_ready);
  reg [$clog2(FA+FB)-1:0] k; wire first = (k < FA);
  assign m_data = first ? a_data : b_data; assign m_valid = first ? a_valid : b_valid;
  assign a_ready = first & m_ready; assign b_ready = !first & m_ready;
  always @(posedge clk) if (rst) k <= 0; else if (m_valid & m_ready) k <= (k == FA+FB-1) ? 0 : k+1'b1;
endmodule
