// {{.Top}}_serial is {{.Top}}_bytes behind a serial line of 8 bits without parity: {{.Baud}} bits a second, of a clock of
// {{.Hz}} Hz. The host sends the bytes of one picture, then reads those of its result. The picture waits in a FIFO, so a
// slow engine loses nothing.
module {{.Top}}_serial #(parameter DIV={{.Div}})(input clk, input rx, output tx);
  reg [3:0] up = 0; wire rst = !up[3]; // registers begin at 0 when the part is configured
  always @(posedge clk) if (rst) up <= up+1'b1;
  wire [7:0] rx_data, in_data, out_data; wire rx_valid, rx_ready, in_valid, in_ready, out_valid, out_ready;
  serial_in #(.DIV(DIV)) receiver(clk, rst, rx, rx_data, rx_valid);
  fifo #(.W(8), .D({{.Picture}})) picture(.clk(clk), .rst(rst), .s_data(rx_data), .s_valid(rx_valid), .s_ready(rx_ready),
    .m_data(in_data), .m_valid(in_valid), .m_ready(in_ready));
  {{.Top}}_bytes core(.clk(clk), .rst(rst), .s_data(in_data), .s_valid(in_valid), .s_ready(in_ready),
    .m_data(out_data), .m_valid(out_valid), .m_ready(out_ready));
  serial_out #(.DIV(DIV)) sender(clk, rst, out_data, out_valid, out_ready, tx);
endmodule

// serial_in reads a byte: it waits for a start bit, and samples each bit in its middle.
module serial_in #(parameter DIV=217)(input clk, input rst, input rx, output reg [7:0] data, output reg valid);
  reg [2:0] line; reg [$clog2(DIV+DIV/2)-1:0] wait_; reg [3:0] n; // bits that are left, with the stop bit
  always @(posedge clk) begin
    line <= {line[1:0], rx};
    valid <= 0;
    if (rst) begin n <= 0; line <= 3'b111; end
    else if (n == 0) begin
      if (!line[2]) begin n <= 9; wait_ <= DIV+DIV/2-1; end
    end else if (wait_ != 0) wait_ <= wait_-1'b1;
    else begin
      n <= n-1'b1; wait_ <= DIV-1;
      if (n > 1) data <= {line[2], data[7:1]};
      else valid <= line[2];
    end
  end
endmodule

// serial_out writes a byte: a start bit, the bits from the lowest on, a stop bit.
module serial_out #(parameter DIV=217)(input clk, input rst, input [7:0] data, input valid, output ready, output tx);
  reg [9:0] bits; reg [$clog2(DIV)-1:0] wait_; reg [3:0] n;
  assign tx = bits[0]; assign ready = (n == 0);
  always @(posedge clk)
    if (rst) begin bits <= 10'h3ff; n <= 0; end
    else if (ready) begin
      if (valid) begin bits <= {1'b1, data, 1'b0}; n <= 10; wait_ <= DIV-1; end
    end else if (wait_ != 0) wait_ <= wait_-1'b1;
    else begin bits <= {1'b1, bits[9:1]}; n <= n-1'b1; wait_ <= DIV-1; end
endmodule
