// bench is core beside a memory that answers LATENCY cycles after a question, one a cycle, and takes
// a write at once. The files memory.hex and memory.out are the contents before and after.
module bench #(parameter R=16, L=64, AW=24, BYTES=1, INP=9, WGT=9, TAB=8, ACC=9, QUEUE=16, LATENCY=16, WORDS=1024,
  PROGRAM=0, RESULTS=1)(input clk, input rst, input start, output done);
  reg [L-1:0] words [0:WORDS-1];
  wire fetch_valid, load_valid, store_valid;
  wire [31:0] fetch_at, load_at, store_at;
  wire [L-1:0] store_data; wire [L/R-1:0] store_mask;
  reg [L-1:0] fetched [0:LATENCY-1], loaded [0:LATENCY-1];
  reg [LATENCY-1:0] fetch_ready, load_ready;
  integer i;
  initial $readmemh("memory.hex", words);
  always @(posedge clk) begin
    fetch_ready <= rst ? 0 : {fetch_ready, fetch_valid};
    load_ready <= rst ? 0 : {load_ready, load_valid};
    fetched[0] <= words[fetch_at]; loaded[0] <= words[load_at];
    for (i = 1; i < LATENCY; i = i + 1) begin fetched[i] <= fetched[i-1]; loaded[i] <= loaded[i-1]; end
    if (store_valid) for (i = 0; i < L/R; i = i + 1) if (store_mask[i]) words[store_at][i*R +: R] <= store_data[i*R +: R];
  end
  core #(.R(R), .L(L), .AW(AW), .BYTES(BYTES), .INP(INP), .WGT(WGT), .TAB(TAB), .ACC(ACC), .QUEUE(QUEUE)) core(
    .clk(clk), .rst(rst), .start(start), .program_at(PROGRAM), .done(done),
    .fetch_valid(fetch_valid), .fetch_at(fetch_at), .fetch_ready(fetch_ready[LATENCY-1]), .fetch_data(fetched[LATENCY-1]),
    .load_valid(load_valid), .load_at(load_at), .load_ready(load_ready[LATENCY-1]), .load_data(loaded[LATENCY-1]),
    .store_valid(store_valid), .store_at(store_at), .store_data(store_data), .store_mask(store_mask));
  final $writememh("memory.out", words, 0, RESULTS-1);
endmodule
