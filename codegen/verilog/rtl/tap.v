// tap writes the beats that pass a stream to a file, for simulations. With +last only the last
// stream is written.
module tap #(parameter W=8, NAME="x", LAST=0)(input clk, input rst, input valid, input ready, input [W-1:0] data);
  integer file;
  reg on;
  initial on = LAST | !$test$plusargs("last");
  initial file = $fopen({NAME, ".tap"}, "w");
  always @(posedge clk) if (on & !rst & valid & ready) $fwrite(file, "%h\n", data);
  final $fclose(file);
endmodule
