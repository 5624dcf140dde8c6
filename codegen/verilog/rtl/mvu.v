// mvu multiplies vectors of SF beats by a matrix, SIMD elements and PE rows a cycle, and makes
// levels of the sums. NB blocks of PE rows take turns. NF of them read one vector, which is replayed.
// With EACH, every row of a block has an element of its own in a beat (depthwise layers).
//
// The accumulator of a row starts at minus its middle threshold, so that its sign is the first bit
// of the level. Each further bit is one comparison with an offset that the bits before it choose.
// With OB = 0 the sums leave. Positions are of CR x CC border classes with starts of their own.
// Tools keep the hierarchy: an engine is synthesized alone, and its size does not depend on others.
(* keep_hierarchy = "yes" *)
module mvu #(parameter SF=1, NB=1, NF=1, SIMD=1, PE=1, XB=1, WB=1, OB=1, AW=8, CW=4, OW=4, EACH=0, WBLK=1,
  SH=0, CR=1, CC=1, OX=1, OY=1, RF=0, RL=0, CF=0, CL=0, FILE="")(
  input clk, input rst,
  input [(EACH ? PE : SIMD)*XB-1:0] s_data, input s_valid, output s_ready,
  output reg [OW-1:0] m_data, output reg m_valid, input m_ready);
  localparam XW = (EACH ? PE : SIMD)*XB, WW = PE*SIMD*WB, D = SF*NB, CLS = CR*CC;
  localparam K = (OB > 1) ? OB-1 : 0; // stages behind the accumulator
  localparam SB = (SF > 1) ? $clog2(SF) : 1, FB = (NF > 1) ? $clog2(NF) : 1, BB = (NB > 1) ? $clog2(NB) : 1;
  localparam DB = (D > 1) ? $clog2(D) : 1, IB = (NB*CLS > 1) ? $clog2(NB*CLS) : 1;

  // Stage 0: the step of the vector, the replay, and the block.
  reg [SB-1:0] sf; reg [FB-1:0] nf; reg [DB-1:0] wa; wire [BB-1:0] nb;
  wire lsf = (sf == SF-1), lnf = (nf == NF-1), lnb = (nb == NB-1), fresh = (nf == 0);
  wire en; wire fire = en & (!fresh | s_valid), pixel = fire & lsf & lnb;
  assign s_ready = en & fresh;
  generate if (NF == NB) assign nb = nf;
  else begin: block
    reg [BB-1:0] n;
    always @(posedge clk) if (rst) n <= 0; else if (fire & lsf) n <= lnb ? 0 : n+1'b1;
    assign nb = n;
  end endgenerate

  // The place of the start of the accumulator: the block, and NB for each class.
  wire [IB-1:0] ia;
  generate if (CLS > 1) begin: classes
    reg [$clog2(OX+1)-1:0] ox; reg [$clog2(OY+1)-1:0] oy; reg [IB-1:0] cb, rb; // of the class, and the row's first
    wire lox = (ox == OX-1), loy = (oy == OY-1);
    wire [IB-1:0] rn = loy ? 0 : ((oy < RF) | (oy+1 >= OY-RL)) ? rb+CC*NB : rb;
    always @(posedge clk)
      if (rst) begin ox <= 0; oy <= 0; cb <= 0; rb <= 0; end
      else if (pixel) begin
        ox <= lox ? 0 : ox+1'b1;
        if (lox) begin oy <= loy ? 0 : oy+1'b1; rb <= rn; cb <= rn; end
        else if ((ox < CF) | (ox+1 >= OX-CL)) cb <= cb+NB;
      end
    assign ia = cb+nb;
  end else assign ia = nb; endgenerate

  // Stage 1: weights and elements.
  reg v1, f1, l1, r1; reg [BB-1:0] n1; reg [IB-1:0] i1; reg [XW-1:0] x1; wire [XW-1:0] a1; reg [WW-1:0] wb;
  generate if (NF > 1) begin: replay
    reg [XW-1:0] vec[0:SF-1], q;
    always @(posedge clk) begin
      if (fire & fresh) vec[sf] <= s_data;
      if (en & !fresh) q <= vec[sf];
    end
    assign a1 = r1 ? q : x1;
  end else assign a1 = x1; endgenerate
  generate if (WBLK) begin: weights
    (* rom_style = "block", ram_style = "block", syn_romstyle = "EBR" *) reg [WW-1:0] mem[0:D-1];
    initial $readmemh({FILE, "_w.hex"}, mem);
    reg [WW-1:0] w1;
    always @(posedge clk) if (en) begin w1 <= mem[wa]; wb <= w1; end
  end else begin: weights
    (* rom_style = "logic", ram_style = "logic" *) reg [WW-1:0] mem[0:D-1];
    initial $readmemh({FILE, "_w.hex"}, mem);
    reg [DB-1:0] a;
    always @(posedge clk) if (en) begin a <= wa; wb <= mem[a]; end
  end endgenerate

  // Stage 1b: registers behind block RAM, whose output comes late in the cycle, and behind the choice
  // of the element, which tools would else repeat for each of its products.
  reg vb, fb, lb; reg [BB-1:0] bb; reg [IB-1:0] ib; reg [XW-1:0] ab;
  always @(posedge clk) begin
    if (rst) vb <= 0; else if (en) vb <= v1;
    if (en) begin fb <= f1; lb <= l1; bb <= n1; ib <= i1; ab <= a1; end
  end

  // Stage 2: sums of products, and the accumulator's start.
  reg v2, f2, l2; reg [BB-1:0] n2; reg [PE*AW-1:0] i2;
  (* rom_style = "logic", ram_style = "logic" *) reg [PE*AW-1:0] starts[0:NB*CLS-1];
  initial $readmemh({FILE, "_s.hex"}, starts);
  always @(posedge clk) begin
    if (rst) begin sf <= 0; nf <= 0; wa <= 0; v1 <= 0; v2 <= 0; end
    else if (en) begin
      if (fire) begin
        sf <= lsf ? 0 : sf+1'b1;
        if (lsf) nf <= lnf ? 0 : nf+1'b1;
        wa <= (lsf & lnb) ? 0 : wa+1'b1;
      end
      v1 <= fire; v2 <= vb;
    end
    if (en) begin
      f1 <= (sf == 0); l1 <= lsf; r1 <= !fresh; n1 <= nb; i1 <= ia; x1 <= s_data;
      f2 <= fb; l2 <= lb; n2 <= bb; i2 <= starts[ib];
    end
  end

  // Stage 3: the accumulator; then a stage for each further bit of the level.
  wire done = v2 & l2;
  reg [K:0] vs; reg [BB-1:0] ns[0:K];
  wire out = (K == 0) ? done : vs[K > 0 ? K-1 : 0];
  assign en = !(out & m_valid & !m_ready);
  integer j;
  always @(posedge clk) begin
    if (rst) vs <= 0; else if (en) vs <= {vs, done};
    if (en) begin ns[0] <= n2; for (j = 1; j <= K; j = j+1) ns[j] <= ns[j-1]; end
    if (rst) m_valid <= 0; else if (en & out) m_valid <= 1; else if (m_ready) m_valid <= 0;
  end
  genvar p, k;
  generate for (p = 0; p < PE; p = p+1) begin: row
    wire signed [CW-1:0] c; reg signed [CW-1:0] pc; reg signed [AW-1:0] acc;
    dot #(.N(SIMD), .XB(XB), .WB(WB), .CW(CW)) sum(.x(ab[EACH*p*XB +: SIMD*XB]), .w(wb[p*SIMD*WB +: SIMD*WB]), .y(c));
    wire signed [AW-1:0] base = f2 ? i2[p*AW +: AW] : acc;
    wire signed [AW-1:0] s = base+(pc<<<SH);
    always @(posedge clk) begin
      if (en) pc <= c;
      if (en & v2) acc <= s;
    end
    if (OB == 0) begin always @(posedge clk) if (en & out) m_data[p*AW +: AW] <= s; end
    else if (OB == 1) begin always @(posedge clk) if (en & out) m_data[p] <= ~s[AW-1]; end
    else begin: bits
      for (k = 1; k <= K; k = k+1) begin: st
        reg signed [AW-1:0] a; reg [k-1:0] b; wire signed [AW-1:0] d; wire [k:0] bn;
        search #(.NB(NB), .BB(BB), .K(k), .AW(AW), .P(p), .PE(PE), .FILE(FILE)) rom(.n(ns[k-1]), .b(b), .d(d));
        assign bn = {b, a >= d};
        always @(posedge clk) if (en) begin if (k == 1) begin a <= s; b <= ~s[AW-1]; end end
      end
      for (k = 2; k <= K; k = k+1) begin: link
        always @(posedge clk) if (en) begin st[k].a <= st[k-1].a; st[k].b <= st[k-1].bn; end
      end
      always @(posedge clk) if (en & out) m_data[p*OB +: OB] <= st[K].bn;
    end
  end endgenerate
endmodule

// search has the offsets of bit K of the level for row P: NB words of 2^K offsets for each of PE rows.
// Places of offsets are powers of two, so that b alone chooses.
module search #(parameter NB=1, BB=1, K=1, AW=8, P=0, PE=1, FILE="")(
  input [BB-1:0] n, input [K-1:0] b, output signed [AW-1:0] d);
  localparam [7:0] DIGIT = 48+K;
  localparam LG = $clog2(AW);
  (* rom_style = "logic", ram_style = "logic" *) reg [PE*(1<<K)*AW-1:0] mem[0:NB-1];
  initial $readmemh({FILE, "_d", DIGIT}, mem);
  wire [PE*(1<<K)*AW-1:0] w = mem[n];
  wire [(1<<(K+LG))-1:0] row;
  genvar i;
  generate for (i = 0; i < (1<<K); i = i+1) begin: offset
    assign row[(i<<LG) +: (1<<LG)] = w[((P<<K)+i)*AW +: AW];
  end endgenerate
  assign d = row[{b, {LG{1'b0}}} +: AW];
endmodule
