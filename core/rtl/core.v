// core runs a program of instructions from memory. A word of memory has L bits. Three units have a
// queue each: load fills the memories of inputs, weights and tables; compute works on vectors of R
// accumulators; store writes pieces of R bits back. Tokens between any two units say that data is
// there or that a place is free.
//
// An instruction has 8 fields of 64 bits: a head and 7 loops, loop 0 the innermost. Load and store
// see 5 loops.
//   head: op[3:0] reset[4] inner[7:5] pop[9:8] push[11:10], then
//         load and store:  near[31:16] far[63:32]           (memory of the core; memory outside)
//         compute:         to[31:16] a[47:32] b[63:48]
//   loop: count less one[15:0], then what the addresses grow by when this loop goes on and those
//         inside of it begin anew: near[31:16] far[63:32], or to[31:16] a[47:32] b[63:48]
module core #(parameter R=16, L=64, AW=24, BYTES=1, INP=9, WGT=9, TAB=8, ACC=9, QUEUE=16)(
  input clk, input rst, input start, input [31:0] program_at, output done,
  output reg fetch_valid, output reg [31:0] fetch_at, input fetch_ready, input [L-1:0] fetch_data,
  output load_valid, output [31:0] load_at, input load_ready, input [L-1:0] load_data,
  output reg store_valid, output reg [31:0] store_at, output reg [L-1:0] store_data,
  output reg [L/R-1:0] store_mask);
  localparam BEATS = 512/L;

  // Fetch: one instruction at a time, to the queue of its unit.
  localparam IDLE = 0, ASK = 1, PUSH = 2;
  reg [1:0] state; reg [9:0] asked, got; reg [511:0] code;
  wire [1:0] unit = code[3] ? 1 : code[2] ? 2 : 0;
  wire [2:0] full, empty, go, finish;
  wire [511:0] head [0:2];
  wire is_end = code[3:0] == 0;
  wire [2:0] push = (state == PUSH && !is_end && !full[unit]) ? 3'd1 << unit : 3'd0;
  always @(posedge clk) if (rst) begin state <= IDLE; fetch_valid <= 0; end else begin
    if (state == IDLE && start) begin state <= ASK; fetch_at <= program_at; fetch_valid <= 1; asked <= 1; got <= 0; end
    if (state == ASK) begin
      if (fetch_valid) fetch_at <= fetch_at + 1;
      if (asked == BEATS) fetch_valid <= 0; else asked <= asked + 1;
      if (fetch_ready) begin
        code <= {fetch_data, code} >> L;
        got <= got + 1;
        if (got == BEATS-1) state <= PUSH;
      end
    end
    if (state == PUSH && is_end) state <= IDLE;
    if (|push) begin state <= ASK; fetch_valid <= 1; asked <= 1; got <= 0; end
  end
  reg [2:0] busy;
  assign done = state == IDLE && &empty && !(|busy);

  // Tokens: tokens[2*u] for unit u from the unit before it in the ring, tokens[2*u+1] from the one
  // behind it.
  reg [7:0] tokens [0:5];
  reg [1:0] pushes [0:2];
  genvar u;
  generate for (u = 0; u < 3; u = u + 1) begin : units
    queue #(.D(QUEUE)) q(clk, rst, push[u], code, go[u], head[u], full[u], empty[u]);
    wire [1:0] pop = head[u][9:8];
    assign go[u] = !busy[u] && !empty[u] && !(pop[0] && tokens[2*u] == 0) && !(pop[1] && tokens[2*u+1] == 0);
    wire gave_before = finish[(u+2)%3] && pushes[(u+2)%3][1], gave_behind = finish[(u+1)%3] && pushes[(u+1)%3][0];
    always @(posedge clk) if (rst) begin tokens[2*u] <= 0; tokens[2*u+1] <= 0; busy[u] <= 0; end else begin
      tokens[2*u] <= tokens[2*u] + gave_before - (go[u] && pop[0]);
      tokens[2*u+1] <= tokens[2*u+1] + gave_behind - (go[u] && pop[1]);
      if (go[u]) begin busy[u] <= 1; pushes[u] <= head[u][11:10]; end
      if (finish[u]) busy[u] <= 0;
    end
  end endgenerate

  // Load: one nest asks, another places the answers.
  reg load_run; reg [1:0] target;
  wire load_final, placed_final; wire [15:0] place;
  nest #(.D(5)) ask(.clk(clk), .start(go[0]), .step(load_run), .code(head[0]), .far(load_at),
    .ends(load_final));
  nest #(.D(5)) answer(.clk(clk), .start(go[0]), .step(load_ready), .code(head[0]), .near(place),
    .ends(placed_final));
  assign load_valid = load_run, finish[0] = load_ready && placed_final;
  always @(posedge clk) begin
    if (go[0]) target <= head[0][1:0];
    load_run <= !rst && (go[0] || load_run && !load_final);
  end

  // The memories.
  wire [15:0] to, a, b; wire first, last, compute_final; wire [15:0] plane;
  reg run;
  nest #(.D(7), .CUT(1)) steps(.clk(clk), .start(go[1]), .step(run), .code(head[1]), .near(to), .far({b, a}),
    .ends(compute_final), .first(first), .last(last), .index(plane));
  reg [3:0] op; reg reset;
  localparam PLANES = 8, PRODUCTS = 9, TAKE = 10, TAKE_BYTES = 11, LEVEL = 12, LARGEST = 13;
  localparam SLOTS = L/R, SB = SLOTS == 1 ? 1 : $clog2(SLOTS);
  wire takes = op == TAKE || op == TAKE_BYTES;
  wire [15:0] input_at = takes ? a >> $clog2(SLOTS) : a;
  wire [L-1:0] x; wire [R*L-1:0] w; wire [R*AW-1:0] table_q, acc_q, out_q;
  memory #(.W(L), .A(INP)) inputs(clk, load_ready && target == 1, place[INP-1:0], load_data, input_at[INP-1:0], x);
  localparam TB = R*32/L, TL = L/32; // beats of a vector of a table, and its lanes in a beat
  localparam RB = $clog2(R), TBB = TB == 1 ? 1 : $clog2(TB);
  genvar i, j;
  generate
    for (i = 0; i < R; i = i + 1) begin : rows
      memory #(.W(L), .A(WGT)) weights(clk, load_ready && target == 2 && place[RB-1:0] == i, place[RB +: WGT], load_data,
        b[WGT-1:0], w[i*L +: L]);
    end
    for (i = 0; i < TB; i = i + 1) begin : beats
      wire [TL*AW-1:0] lanes;
      for (j = 0; j < TL; j = j + 1) assign lanes[j*AW +: AW] = load_data[j*32 +: AW];
      memory #(.W(TL*AW), .A(TAB)) tables(clk, load_ready && target == 3 && (TB == 1 || place[TBB-1:0] == i),
        place[$clog2(TB) +: TAB], lanes, b[TAB-1:0], table_q[i*TL*AW +: TL*AW]);
    end
  endgenerate

  // Compute: A addresses, B memories, C terms, D sums, E results.
  reg drain, drained;
  assign finish[1] = drained;
  reg [15:0] to_b, to_c, to_d, plane_b; reg [SB-1:0] slot_b;
  reg first_b, first_c, last_b, last_c, last_d, run_b, run_c, run_d;
  wire sees_sums = op == LEVEL || op == LARGEST;
  wire [15:0] sums_at = sees_sums ? a : to;
  reg [R*AW-1:0] sums;
  wire write = run_d && last_d;
  memory #(.W(R*AW), .A(ACC)) accumulators(clk, write, to_d[ACC-1:0], sums, sums_at[ACC-1:0], acc_q);
  always @(posedge clk) begin
    if (go[1]) begin op <= head[1][3:0]; reset <= head[1][4]; end
    run <= !rst && (go[1] || run && !compute_final);
    drain <= run && compute_final; drained <= drain;
    {run_b, run_c, run_d} <= {run, run_b, run_c};
    {first_b, first_c} <= {first, first_b};
    {last_b, last_c, last_d} <= {last, last_b, last_c};
    to_b <= to; to_c <= to_b; to_d <= to_c; plane_b <= plane; slot_b <= a % SLOTS;
  end
  wire [R-1:0] piece = x >> (slot_b*R);
  generate for (i = 0; i < R; i = i + 1) begin : lane
    wire [$clog2(L+1)-1:0] n;
    count #(.N(L)) agree(~(x ^ w[i*L +: L]), n);
    wire signed [AW-1:0] product;
    if (BYTES) products #(.N(L/8), .W(AW)) p(x, w[i*L +: L], product);
    else assign product = 0;
    wire signed [AW-1:0] old = acc_q[i*AW +: AW], limit = table_q[i*AW +: AW];
    wire [AW-1:0] bits = op == TAKE ? piece[i] : n;
    wire [7:0] byte_q = piece[(i % (R/8))*8 +: 8];
    reg signed [AW-1:0] term, old_c, sum;
    wire mine = plane_b == i/(R/8);
    always @(posedge clk) begin
      case (op)
        PLANES, TAKE: term <= bits << plane_b[2:0];
        PRODUCTS: term <= product;
        TAKE_BYTES: term <= mine ? byte_q : 0;
        LEVEL: term <= old >= limit;
        default: term <= 0;
      endcase
      old_c <= old;
      if (op == LARGEST) begin if (first_c || old_c > sum) sum <= old_c; end
      else sum <= (!first_c ? sum : reset ? 0 : old_c) + term;
    end
    always @* sums[i*AW +: AW] = sum;
  end endgenerate

  // Store: bit plane of each accumulator, or 8 bits of R/8 of them.
  reg store_run, store_drain, store_drained, store_b, bytes; wire store_final;
  wire [15:0] from; wire [31:0] piece_at; wire [15:0] part; reg [15:0] part_b; reg [31:0] piece_b;
  nest #(.D(5)) pieces(.clk(clk), .start(go[2]), .step(store_run), .code(head[2]), .near(from), .far(piece_at),
    .ends(store_final), .index(part));
  memory #(.W(R*AW), .A(ACC)) results(clk, write, to_d[ACC-1:0], sums, from[ACC-1:0], out_q);
  wire [R-1:0] out;
  wire [4:0] shown = part_b < AW ? part_b : AW-1;
  genvar k;
  generate for (k = 0; k < R; k = k + 1) begin : lane_out // a multiplexer of a lane's bits, and one of 8 lanes
    wire [AW-1:0] own = out_q[k*AW +: AW];
    wire [7:0] of;
    for (j = 0; j < 8; j = j + 1) assign of[j] = out_q[(j*(R/8) + k/8)*AW + k%8];
    assign out[k] = bytes ? of[part_b[2:0]] : own[shown];
  end endgenerate
  assign finish[2] = store_drained;
  always @(posedge clk) begin
    if (go[2]) bytes <= head[2][0];
    store_run <= !rst && (go[2] || store_run && !store_final);
    store_drain <= store_run && store_final; store_drained <= store_drain;
    store_b <= store_run; part_b <= part; piece_b <= piece_at;
    store_valid <= !rst && store_b; store_at <= piece_b >> $clog2(SLOTS);
    store_data <= {SLOTS{out}}; store_mask <= 1 << piece_b[SB-1:0] % SLOTS;
  end
endmodule

// nest steps through D loops. It keeps an address of 16 bits and one of 32, or two of 16 there (CUT).
module nest #(parameter D=7, CUT=0)(input clk, input start, input step, input [511:0] code,
  output reg [15:0] near, output reg [31:0] far, output ends, output first, output last, output [15:0] index);
  reg [511:0] kept;
  reg [D*16-1:0] counts;
  reg [D:0] ended, begun; // of the loops below each
  reg [47:0] grow;
  integer i;
  always @* begin
    ended[0] = 1; begun[0] = 1; grow = 0;
    for (i = 0; i < D; i = i + 1) begin
      ended[i+1] = ended[i] && counts[i*16 +: 16] == kept[(i+1)*64 +: 16];
      begun[i+1] = begun[i] && counts[i*16 +: 16] == 0;
      if (ended[i] && !ended[i+1]) grow = kept[(i+1)*64 + 16 +: 48];
    end
  end
  always @(posedge clk) begin
    if (start) begin kept <= code; counts <= 0; near <= code[31:16]; far <= code[63:32]; end
    else if (step) begin
      for (i = 0; i < D; i = i + 1)
        if (ended[i]) counts[i*16 +: 16] <= ended[i+1] ? 0 : counts[i*16 +: 16] + 1;
      near <= near + grow[15:0];
      far <= CUT ? {far[31:16] + grow[47:32], far[15:0] + grow[31:16]} : far + grow[47:16];
    end
  end
  assign ends = ended[D], index = counts[15:0], first = begun[kept[7:5]], last = ended[kept[7:5]];
endmodule

// memory has a port that writes and one that reads, with the answer in the next cycle.
module memory #(parameter W=8, A=4)(input clk, input write, input [A-1:0] at, input [W-1:0] data, input [A-1:0] from,
  output reg [W-1:0] q);
  reg [W-1:0] words [0:(1<<A)-1];
  always @(posedge clk) begin
    if (write) words[at] <= data;
    q <= words[from];
  end
endmodule

// queue shows its first element.
module queue #(parameter D=4)(input clk, input rst, input push, input [511:0] data, input pop, output [511:0] first,
  output full, output empty);
  localparam B = $clog2(D);
  reg [511:0] words [0:D-1];
  reg [B-1:0] head, tail; reg [B:0] n;
  assign first = words[head], full = n == D, empty = n == 0;
  always @(posedge clk) if (rst) begin head <= 0; tail <= 0; n <= 0; end else begin
    if (push) begin words[tail] <= data; tail <= tail + 1; end
    if (pop) head <= head + 1;
    n <= n + push - pop;
  end
endmodule

// count counts the ones of x.
module count #(parameter N=8)(input [N-1:0] x, output [$clog2(N+1)-1:0] y);
`ifdef VERILATOR
  assign y = $countones(x);
`else
  localparam T = (N+2)/3;
  generate
    if (N <= 3) begin
      wire [2:0] z = x;
      assign y = {(z[0]&z[1])|(z[2]&(z[0]^z[1])), z[0]^z[1]^z[2]};
    end else begin // three bits become two
      wire [3*T-1:0] z = x;
      wire [T-1:0] one, two;
      genvar i;
      for (i = 0; i < T; i = i + 1) begin : adders
        assign one[i] = z[3*i]^z[3*i+1]^z[3*i+2];
        assign two[i] = (z[3*i]&z[3*i+1])|(z[3*i+2]&(z[3*i]^z[3*i+1]));
      end
      wire [$clog2(T+1)-1:0] ones, twos;
      count #(.N(T)) c1(one, ones);
      count #(.N(T)) c2(two, twos);
      assign y = ones + {twos, 1'b0};
    end
  endgenerate
`endif
endmodule

// products is a sum of products of N unsigned bytes and N signed ones.
module products #(parameter N=8, W=24)(input [8*N-1:0] x, input [8*N-1:0] w, output reg signed [W-1:0] y);
  integer i;
  always @* begin
    y = 0;
    for (i = 0; i < N; i = i + 1) y = y + $signed({1'b0, x[8*i +: 8]}) * $signed(w[8*i +: 8]);
  end
endmodule
