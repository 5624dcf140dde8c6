// pool is the largest of KX x KY levels, windows side by side. Rows and columns that fill no window
// are dropped. A pixel has F beats of L levels of B bits.
module pool #(parameter L=4, B=1, F=1, IX=26, IY=26, KX=2, KY=2)(
  input clk, input rst,
  input [L*B-1:0] s_data, input s_valid, output s_ready,
  output reg [L*B-1:0] m_data, output reg m_valid, input m_ready);
  localparam W = L*B, OX = IX/KX, OY = IY/KY, D = OX*F, AB = (D > 1) ? $clog2(D) : 1, FB = (F > 1) ? $clog2(F) : 1;
  localparam XB = (KX > 1) ? $clog2(KX) : 1, YB = (KY > 1) ? $clog2(KY) : 1;
  reg [W-1:0] row[0:D-1]; // the largest so far
  reg [FB-1:0] f; reg [XB-1:0] kx; reg [YB-1:0] ky; reg [AB-1:0] a;
  reg [$clog2(IX+1)-1:0] x; reg [$clog2(IY+1)-1:0] y;
  wire lf = (f == F-1), lx = (x == IX-1), ly = (y == IY-1), lkx = (kx == KX-1), lky = (ky == KY-1);
  wire drop = (x >= KX*OX) | (y >= KY*OY), last = lkx & lky & !drop, first = (kx == 0) & (ky == 0);
  assign s_ready = !last | !m_valid | m_ready;
  wire go = s_valid & s_ready;
  wire [AB-1:0] up = (a == D-1) ? 0 : a+1'b1, an = !lf ? up : lx ? 0 : lkx ? up : a-(F-1);
  reg [W-1:0] q, qb; reg byp; wire [W-1:0] o = byp ? qb : q; wire [W-1:0] v;
  genvar i;
  generate for (i = 0; i < L; i = i+1) begin: lane
    wire [B-1:0] s = s_data[i*B +: B], t = o[i*B +: B];
    if (B == 1) assign v[i] = s | (t & !first); else assign v[i*B +: B] = (first | (s > t)) ? s : t;
  end endgenerate
  always @(posedge clk) begin
    if (go & !drop) row[a] <= v;
    if (go) begin q <= row[an]; qb <= v; byp <= (an == a); end
    if (go & last) m_data <= v;
    if (rst) begin f <= 0; kx <= 0; ky <= 0; x <= 0; y <= 0; a <= 0; m_valid <= 0; end
    else begin
      m_valid <= (go & last) | (m_valid & !m_ready);
      if (go) begin
        f <= lf ? 0 : f+1'b1; a <= an;
        if (lf) begin
          x <= lx ? 0 : x+1'b1; kx <= (lx | lkx) ? 0 : kx+1'b1;
          if (lx) begin y <= ly ? 0 : y+1'b1; ky <= (ly | lky) ? 0 : ky+1'b1; end
        end
      end
    end
  end
endmodule

// argmax is the place of the largest of N signed numbers, of the last one of equals with LAST.
module argmax #(parameter W=8, N=10, O=4, LAST=0)(
  input clk, input rst,
  input [W-1:0] s_data, input s_valid, output s_ready,
  output reg [O-1:0] m_data, output reg m_valid, input m_ready);
  reg signed [W-1:0] best; reg [O-1:0] k, at;
  wire last = (k == N-1), go = s_valid & s_ready;
  wire better = (k == 0) | ($signed(s_data) > best) | (LAST[0] & ($signed(s_data) == best));
  assign s_ready = !last | !m_valid | m_ready;
  always @(posedge clk) begin
    if (go & better) begin best <= s_data; at <= k; end
    if (go & last) m_data <= better ? k : at;
    if (rst) begin k <= 0; m_valid <= 0; end
    else begin
      if (go) k <= last ? 0 : k+1'b1;
      m_valid <= (go & last) | (m_valid & !m_ready);
    end
  end
endmodule

// largest is the largest of K beats, level by level: a pool behind a window.
module largest #(parameter L=4, B=1, K=9)(
  input clk, input rst,
  input [L*B-1:0] s_data, input s_valid, output s_ready,
  output reg [L*B-1:0] m_data, output reg m_valid, input m_ready);
  reg [L*B-1:0] best; reg [$clog2(K+1)-1:0] k; wire [L*B-1:0] v;
  wire first = (k == 0), last = (k == K-1), go = s_valid & s_ready;
  assign s_ready = !last | !m_valid | m_ready;
  genvar i;
  generate for (i = 0; i < L; i = i+1) begin: lane
    wire [B-1:0] s = s_data[i*B +: B], t = best[i*B +: B];
    assign v[i*B +: B] = (first | (s > t)) ? s : t;
  end endgenerate
  always @(posedge clk) begin
    if (go) best <= v;
    if (go & last) m_data <= v;
    if (rst) begin k <= 0; m_valid <= 0; end
    else begin
      if (go) k <= last ? 0 : k+1'b1;
      m_valid <= (go & last) | (m_valid & !m_ready);
    end
  end
endmodule
