// window yields, for each output position and each group of FG beats of a pixel's F, the KY x KX
// taps of that group, row by row. A tap outside the picture is PAD. ROWS rows, a power of two, are
// kept. Pictures follow each other without a gap. With WAIT no border comes before its picture begins.
module window #(parameter W=8, F=1, FG=1, IX=28, IY=28, OX=26, OY=26, KX=3, KY=3, SX=1, SY=1, DX=1, DY=1, PL=0, PT=0,
  ROWS=4, WAIT=0, parameter [W-1:0] PAD=0)(
  input clk, input rst,
  input [W-1:0] s_data, input s_valid, output s_ready,
  output [W-1:0] m_data, output m_valid, input m_ready);
  localparam G = F/FG, RB = IX*F, D = ROWS*RB, AB = $clog2(D), CB = $clog2(RB)+1, SB = $clog2(ROWS), KB = SB+2;
  localparam NB = $clog2(IX+KX*DX+SX+PL)+2, MB = $clog2(2*IY+KY*DY+SY+PT+ROWS)+2;
  localparam signed [NB-1:0] IXS = -PL; localparam signed [MB-1:0] IYS = -PT, IYM = IY, SYM = SY;
  localparam [CB-1:0] CAS = -PL*F;
  reg [W-1:0] mem[0:D-1];
  reg [AB-1:0] wa; reg [CB-1:0] wc; reg signed [MB-1:0] avail; reg [SB-1:0] r0; // rows written, slot of row 0
  reg [$clog2(FG+1)-1:0] f; reg [$clog2(G+1)-1:0] g;
  reg [$clog2(KX+1)-1:0] kx; reg [$clog2(KY+1)-1:0] ky; reg [$clog2(OX+1)-1:0] ox; reg [$clog2(OY+1)-1:0] oy;
  reg signed [NB-1:0] ix, ix0; reg signed [MB-1:0] iy, iy0;
  reg [CB-1:0] ca, ca0, cg; // place in the row: of the tap, of the window's first, of its group's first; modulo 2^CB

  // Stage 1: the tap's place, and which loops end with it.
  wire lf = (f == FG-1), lg = (g == G-1), lkx = (kx == KX-1), lky = (ky == KY-1), lox = (ox == OX-1), loy = (oy == OY-1);
  wire step; // to the next tap
  wire tapend = step & lf, kernelend = tapend & lkx & lky, pixelend = kernelend & lg, rowend = pixelend & lox, end_ = rowend & loy;
  wire [SB-1:0] slot = r0+iy[SB-1:0];
  wire signed [MB-1:0] old = (iy0[MB-1] | oy == 0) ? {MB{1'b0}} : iy0, nxt = iy0+SYM, oldn = nxt[MB-1] ? {MB{1'b0}} : nxt;
  wire signed [MB-1:0] freed = loy ? IYM-old : oldn-old; // rows that the last window of a row was the last to need
  wire [CB-1:0] first = (G > 1) ? cg : ca0;

  // Stage 2: the tap waits until its row and place are written.
  reg tap, inb, last, lastrow; reg signed [MB-1:0] row; reg [CB-1:0] col; reg [AB-1:0] ra; reg [KB-1:0] free;
  reg v, pad; reg [W-1:0] q;
  wire begun = !WAIT[0] | (avail > 0) | ((avail == 0) & (wc != 0));
  wire ready = tap & (inb ? $signed({avail, wc}) > $signed({row, col}) : begun);
  wire en = !v | m_ready, go = en & ready;
  assign step = go | !tap;
  assign m_valid = v; assign m_data = pad ? PAD : q;

  // Rows that may still be written: ROWS less those from the first that a window needs to the last begun.
  reg [KB-1:0] room, freeing; reg full; assign s_ready = !full;
  wire wgo = s_valid & s_ready, rowdone = wgo & (wc == RB-1);
  wire [KB-1:0] roomn = room-rowdone+freeing;
  always @(posedge clk) begin
    if (wgo) mem[wa] <= s_data;
    if (en) begin q <= mem[ra]; pad <= !inb; end
    if (step) begin
      inb <= (ix >= 0) & (ix < IX) & (iy >= 0) & (iy < IY); row <= iy; col <= ca; ra <= slot*RB+ca;
      lastrow <= rowend; last <= end_; free <= freed[KB-1:0];
    end
    if (rst) begin
      wa <= 0; wc <= 0; room <= ROWS; full <= 0; freeing <= 0; avail <= 0; r0 <= 0; v <= 0; tap <= 0;
      f <= 0; g <= 0; kx <= 0; ky <= 0; ox <= 0; oy <= 0;
      ix <= IXS; ix0 <= IXS; iy <= IYS; iy0 <= IYS; ca <= CAS; ca0 <= CAS; cg <= CAS;
    end else begin
      tap <= 1;
      if (en) v <= ready;
      if (wgo) begin wa <= (wa == D-1) ? 0 : wa+1'b1; wc <= rowdone ? 0 : wc+1'b1; end
      freeing <= (go & lastrow) ? free : 0; room <= roomn; full <= (roomn == 0);
      avail <= avail+$signed({1'b0, rowdone})-(go & last ? IYM : $signed({MB{1'b0}}));
      if (end_) r0 <= r0+IY;
      if (step) begin f <= lf ? 0 : f+1'b1; ca <= ca+1'b1; end
      if (tapend) begin
        kx <= lkx ? 0 : kx+1'b1; ix <= ix+DX; ca <= ca+1'b1+(DX*F-FG);
        if (lkx) begin ky <= lky ? 0 : ky+1'b1; ix <= ix0; iy <= iy+DY; ca <= first; end
      end
      if (kernelend) begin g <= lg ? 0 : g+1'b1; iy <= iy0; cg <= cg+FG; ca <= first+FG; end
      if (pixelend) begin
        ox <= lox ? 0 : ox+1'b1;
        ix <= ix0+SX; ix0 <= ix0+SX; ca <= ca0+SX*F; ca0 <= ca0+SX*F; cg <= ca0+SX*F;
      end
      if (rowend) begin
        oy <= loy ? 0 : oy+1'b1;
        ix <= IXS; ix0 <= IXS; ca <= CAS; ca0 <= CAS; cg <= CAS; iy <= iy0+SY; iy0 <= iy0+SY;
      end
      if (end_) begin iy <= IYS; iy0 <= IYS; end
    end
  end
endmodule
