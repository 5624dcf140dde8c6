// "every" by ripc: 7 layers with weights, 1800 cycles a picture, by "right".
module every_accelerator(
  input clk, input rst,
  input [5:0] s_data, input s_valid, output s_ready,
  output [9:0] m_data, output m_valid, input m_ready);

  // s0: "levels", 9x9x3; 3 of 2 bits a beat
  wire [5:0] s0_data; wire s0_valid, s0_ready;
`ifdef RIPC_TAP
  tap #(.W(6), .NAME("s0"), .LAST(0))
    tap_s0(clk, rst, s0_valid, s0_ready, s0_data);
`endif

  // s1: from s0, 9x9x3; 3 of 2 bits a beat
  wire [5:0] s1_data; wire s1_valid, s1_ready;

  // s2: window, 9x9x3 x 9 taps; 3 of 2 bits a beat
  wire [5:0] s2_data; wire s2_valid, s2_ready;

  // s3: from s2, 9x9x3 x 9 taps; 3 of 2 bits a beat
  wire [5:0] s3_data; wire s3_valid, s3_ready;

  // s4: "conv_q", 9x9x8; 4 of 2 bits a beat
  wire [7:0] s4_data; wire s4_valid, s4_ready;
`ifdef RIPC_TAP
  tap #(.W(8), .NAME("s4"), .LAST(0))
    tap_s4(clk, rst, s4_valid, s4_ready, s4_data);
`endif

  // s5: from s4, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s5_data; wire s5_valid, s5_ready;

  // s6: from s4, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s6_data; wire s6_valid, s6_ready;

  // s7: from s5, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s7_data; wire s7_valid, s7_ready;

  // s8: window, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s8_data; wire s8_valid, s8_ready;

  // s9: from s8, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s9_data; wire s9_valid, s9_ready;

  // s10: "groups_q", 9x9x8; 4 of 2 bits a beat
  wire [7:0] s10_data; wire s10_valid, s10_ready;
`ifdef RIPC_TAP
  tap #(.W(8), .NAME("s10"), .LAST(0))
    tap_s10(clk, rst, s10_valid, s10_ready, s10_data);
`endif

  // s11: from s10, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s11_data; wire s11_valid, s11_ready;

  // s12: window, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s12_data; wire s12_valid, s12_ready;

  // s13: from s12, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s13_data; wire s13_valid, s13_ready;

  // s14: "depthwise_q", 9x9x8; 4 of 2 bits a beat
  wire [7:0] s14_data; wire s14_valid, s14_ready;
`ifdef RIPC_TAP
  tap #(.W(8), .NAME("s14"), .LAST(0))
    tap_s14(clk, rst, s14_valid, s14_ready, s14_data);
`endif

  // s15: from s6, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s15_data; wire s15_valid, s15_ready;

  // s16: from s15, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s16_data; wire s16_valid, s16_ready;

  // s17: from s14, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s17_data; wire s17_valid, s17_ready;

  // s18: from s17, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s18_data; wire s18_valid, s18_ready;

  // s19: "sum" sum, 9x9x8; 1 of 3 bits a beat
  wire [2:0] s19_data; wire s19_valid, s19_ready;
`ifdef RIPC_TAP
  tap #(.W(3), .NAME("s19"), .LAST(0))
    tap_s19(clk, rst, s19_valid, s19_ready, s19_data);
`endif

  // s20: from s19, 9x9x8; 1 of 3 bits a beat
  wire [2:0] s20_data; wire s20_valid, s20_ready;

  // s21: window, 5x5x8 x 9 taps; 1 of 3 bits a beat
  wire [2:0] s21_data; wire s21_valid, s21_ready;

  // s22: from s21, 5x5x8 x 9 taps; 1 of 3 bits a beat
  wire [2:0] s22_data; wire s22_valid, s22_ready;

  // s23: "overlapping" pool, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s23_data; wire s23_valid, s23_ready;
`ifdef RIPC_TAP
  tap #(.W(3), .NAME("s23"), .LAST(0))
    tap_s23(clk, rst, s23_valid, s23_ready, s23_data);
`endif

  // s24: from s23, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s24_data; wire s24_valid, s24_ready;

  // s25: from s23, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s25_data; wire s25_valid, s25_ready;

  // s26: from s24, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s26_data; wire s26_valid, s26_ready;

  // s27: "left_q", 5x5x4; 1 of 1 bits a beat
  wire [0:0] s27_data; wire s27_valid, s27_ready;
`ifdef RIPC_TAP
  tap #(.W(1), .NAME("s27"), .LAST(0))
    tap_s27(clk, rst, s27_valid, s27_ready, s27_data);
`endif

  // s28: from s25, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s28_data; wire s28_valid, s28_ready;

  // s29: from s28, 5x5x8; 2 of 3 bits a beat
  wire [5:0] s29_data; wire s29_valid, s29_ready;

  // s30: window, 5x5x8 x 9 taps; 2 of 3 bits a beat
  wire [5:0] s30_data; wire s30_valid, s30_ready;

  // s31: from s30, 5x5x8 x 9 taps; 2 of 3 bits a beat
  wire [5:0] s31_data; wire s31_valid, s31_ready;

  // s32: "right_q", 5x5x12; 6 of 1 bits a beat
  wire [5:0] s32_data; wire s32_valid, s32_ready;
`ifdef RIPC_TAP
  tap #(.W(6), .NAME("s32"), .LAST(0))
    tap_s32(clk, rst, s32_valid, s32_ready, s32_data);
`endif

  // s33: from s27, 5x5x4; 1 of 1 bits a beat
  wire [0:0] s33_data; wire s33_valid, s33_ready;

  // s34: from s32, 5x5x12; 6 of 1 bits a beat
  wire [5:0] s34_data; wire s34_valid, s34_ready;

  // s35: from s34, 5x5x12; 1 of 1 bits a beat
  wire [0:0] s35_data; wire s35_valid, s35_ready;

  // s36: "both" concatenation, 5x5x16; 1 of 1 bits a beat
  wire [0:0] s36_data; wire s36_valid, s36_ready;
`ifdef RIPC_TAP
  tap #(.W(1), .NAME("s36"), .LAST(0))
    tap_s36(clk, rst, s36_valid, s36_ready, s36_data);
`endif

  // s37: from s36, 5x5x16; 1 of 1 bits a beat
  wire [0:0] s37_data; wire s37_valid, s37_ready;

  // s38: from s37, 5x5x16; 2 of 1 bits a beat
  wire [1:0] s38_data; wire s38_valid, s38_ready;

  // s39: window, 2x2x16 x 4 taps; 2 of 1 bits a beat
  wire [1:0] s39_data; wire s39_valid, s39_ready;

  // s40: from s39, 2x2x16 x 4 taps; 2 of 1 bits a beat
  wire [1:0] s40_data; wire s40_valid, s40_ready;

  // s41: "narrow_q", 2x2x6; 2 of 4 bits a beat
  wire [7:0] s41_data; wire s41_valid, s41_ready;
`ifdef RIPC_TAP
  tap #(.W(8), .NAME("s41"), .LAST(0))
    tap_s41(clk, rst, s41_valid, s41_ready, s41_data);
`endif

  // s42: from s41, 1x1x24; 2 of 4 bits a beat
  wire [7:0] s42_data; wire s42_valid, s42_ready;

  // s43: "dense" sums, 1x1x10; 1 of 10 bits a beat
  wire [9:0] s43_data; wire s43_valid, s43_ready;
`ifdef RIPC_TAP
  tap #(.W(10), .NAME("s43"), .LAST(1))
    tap_s43(clk, rst, s43_valid, s43_ready, s43_data);
`endif

  assign s0_data = s_data; assign s0_valid = s_valid; assign s_ready = s0_ready;
  assign m_data = s43_data; assign m_valid = s43_valid; assign s43_ready = m_ready;

  fifo #(.W(6), .D(2))
    fifo0(.clk(clk), .rst(rst), .s_data(s0_data), .s_valid(s0_valid), .s_ready(s0_ready), .m_data(s1_data), .m_valid(s1_valid), .m_ready(s1_ready));

  // of "conv"
  window #(.W(6), .F(1), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(6'h0))
    window1(.clk(clk), .rst(rst), .s_data(s1_data), .s_valid(s1_valid), .s_ready(s1_ready), .m_data(s2_data), .m_valid(s2_valid), .m_ready(s2_ready));

  fifo #(.W(6), .D(2))
    fifo2(.clk(clk), .rst(rst), .s_data(s2_data), .s_valid(s2_valid), .s_ready(s2_ready), .m_data(s3_data), .m_valid(s3_valid), .m_ready(s3_ready));

  // of "conv"
  mvu #(.SF(9), .NB(2), .NF(2), .SIMD(3), .PE(4), .XB(2), .WB(1), .OB(2), .AW(7), .CW(5), .OW(8), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu3"))
    mvu3(.clk(clk), .rst(rst), .s_data(s3_data), .s_valid(s3_valid), .s_ready(s3_ready), .m_data(s4_data), .m_valid(s4_valid), .m_ready(s4_ready));

  fork2 #(.W(8))
    fork24(.clk(clk), .rst(rst), .s_data(s4_data), .s_valid(s4_valid), .s_ready(s4_ready), .a_data(s5_data), .a_valid(s5_valid), .a_ready(s5_ready), .b_data(s6_data), .b_valid(s6_valid), .b_ready(s6_ready));

  fifo #(.W(8), .D(2))
    fifo5(.clk(clk), .rst(rst), .s_data(s5_data), .s_valid(s5_valid), .s_ready(s5_ready), .m_data(s7_data), .m_valid(s7_valid), .m_ready(s7_ready));

  // of "groups"
  window #(.W(8), .F(2), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(8'h0))
    window6(.clk(clk), .rst(rst), .s_data(s7_data), .s_valid(s7_valid), .s_ready(s7_ready), .m_data(s8_data), .m_valid(s8_valid), .m_ready(s8_ready));

  fifo #(.W(8), .D(2))
    fifo7(.clk(clk), .rst(rst), .s_data(s8_data), .s_valid(s8_valid), .s_ready(s8_ready), .m_data(s9_data), .m_valid(s9_valid), .m_ready(s9_ready));

  // of "groups"
  mvu #(.SF(9), .NB(2), .NF(1), .SIMD(4), .PE(4), .XB(2), .WB(1), .OB(2), .AW(8), .CW(5), .OW(8), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu8"))
    mvu8(.clk(clk), .rst(rst), .s_data(s9_data), .s_valid(s9_valid), .s_ready(s9_ready), .m_data(s10_data), .m_valid(s10_valid), .m_ready(s10_ready));

  fifo #(.W(8), .D(2))
    fifo9(.clk(clk), .rst(rst), .s_data(s10_data), .s_valid(s10_valid), .s_ready(s10_ready), .m_data(s11_data), .m_valid(s11_valid), .m_ready(s11_ready));

  // of "depthwise"
  window #(.W(8), .F(2), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(8'h0))
    window10(.clk(clk), .rst(rst), .s_data(s11_data), .s_valid(s11_valid), .s_ready(s11_ready), .m_data(s12_data), .m_valid(s12_valid), .m_ready(s12_ready));

  fifo #(.W(8), .D(2))
    fifo11(.clk(clk), .rst(rst), .s_data(s12_data), .s_valid(s12_valid), .s_ready(s12_ready), .m_data(s13_data), .m_valid(s13_valid), .m_ready(s13_ready));

  // of "depthwise"
  mvu #(.SF(9), .NB(2), .NF(1), .SIMD(1), .PE(4), .XB(2), .WB(1), .OB(2), .AW(6), .CW(3), .OW(8), .EACH(1), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu12"))
    mvu12(.clk(clk), .rst(rst), .s_data(s13_data), .s_valid(s13_valid), .s_ready(s13_ready), .m_data(s14_data), .m_valid(s14_valid), .m_ready(s14_ready));

  fifo #(.W(8), .D(66))
    fifo13(.clk(clk), .rst(rst), .s_data(s6_data), .s_valid(s6_valid), .s_ready(s6_ready), .m_data(s15_data), .m_valid(s15_valid), .m_ready(s15_ready));

  dwc #(.IW(8), .OW(2))
    dwc14(.clk(clk), .rst(rst), .s_data(s15_data), .s_valid(s15_valid), .s_ready(s15_ready), .m_data(s16_data), .m_valid(s16_valid), .m_ready(s16_ready));

  fifo #(.W(8), .D(2))
    fifo15(.clk(clk), .rst(rst), .s_data(s14_data), .s_valid(s14_valid), .s_ready(s14_ready), .m_data(s17_data), .m_valid(s17_valid), .m_ready(s17_ready));

  dwc #(.IW(8), .OW(2))
    dwc16(.clk(clk), .rst(rst), .s_data(s17_data), .s_valid(s17_valid), .s_ready(s17_ready), .m_data(s18_data), .m_valid(s18_valid), .m_ready(s18_ready));

  // of "sum"
  addl #(.L(1), .A(2), .B(2), .O(3), .SA(0), .SB(0), .FA(0), .FB(0))
    addl17(.clk(clk), .rst(rst), .a_data(s16_data), .a_valid(s16_valid), .a_ready(s16_ready), .b_data(s18_data), .b_valid(s18_valid), .b_ready(s18_ready), .m_data(s19_data), .m_valid(s19_valid), .m_ready(s19_ready));

  fifo #(.W(3), .D(2))
    fifo18(.clk(clk), .rst(rst), .s_data(s19_data), .s_valid(s19_valid), .s_ready(s19_ready), .m_data(s20_data), .m_valid(s20_valid), .m_ready(s20_ready));

  // of "overlapping"
  window #(.W(3), .F(8), .FG(1), .IX(9), .IY(9), .OX(5), .OY(5), .KX(3), .KY(3), .SX(2), .SY(2), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(3'h0))
    window19(.clk(clk), .rst(rst), .s_data(s20_data), .s_valid(s20_valid), .s_ready(s20_ready), .m_data(s21_data), .m_valid(s21_valid), .m_ready(s21_ready));

  fifo #(.W(3), .D(2))
    fifo20(.clk(clk), .rst(rst), .s_data(s21_data), .s_valid(s21_valid), .s_ready(s21_ready), .m_data(s22_data), .m_valid(s22_valid), .m_ready(s22_ready));

  // of "overlapping"
  largest #(.L(1), .B(3), .K(9))
    largest21(.clk(clk), .rst(rst), .s_data(s22_data), .s_valid(s22_valid), .s_ready(s22_ready), .m_data(s23_data), .m_valid(s23_valid), .m_ready(s23_ready));

  fork2 #(.W(3))
    fork222(.clk(clk), .rst(rst), .s_data(s23_data), .s_valid(s23_valid), .s_ready(s23_ready), .a_data(s24_data), .a_valid(s24_valid), .a_ready(s24_ready), .b_data(s25_data), .b_valid(s25_valid), .b_ready(s25_ready));

  fifo #(.W(3), .D(8))
    fifo23(.clk(clk), .rst(rst), .s_data(s24_data), .s_valid(s24_valid), .s_ready(s24_ready), .m_data(s26_data), .m_valid(s26_valid), .m_ready(s26_ready));

  // of "left"
  mvu #(.SF(8), .NB(4), .NF(4), .SIMD(1), .PE(1), .XB(3), .WB(1), .OB(1), .AW(7), .CW(4), .OW(1), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(5), .OY(5), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu24"))
    mvu24(.clk(clk), .rst(rst), .s_data(s26_data), .s_valid(s26_valid), .s_ready(s26_ready), .m_data(s27_data), .m_valid(s27_valid), .m_ready(s27_ready));

  fifo #(.W(3), .D(2))
    fifo25(.clk(clk), .rst(rst), .s_data(s25_data), .s_valid(s25_valid), .s_ready(s25_ready), .m_data(s28_data), .m_valid(s28_valid), .m_ready(s28_ready));

  dwc #(.IW(3), .OW(6))
    dwc26(.clk(clk), .rst(rst), .s_data(s28_data), .s_valid(s28_valid), .s_ready(s28_ready), .m_data(s29_data), .m_valid(s29_valid), .m_ready(s29_ready));

  // of "right"
  window #(.W(6), .F(4), .FG(4), .IX(5), .IY(5), .OX(5), .OY(5), .KX(3), .KY(3), .SX(1), .SY(1), .DX(2), .DY(2), .PL(2), .PT(2), .ROWS(16), .WAIT(0), .PAD(6'h0))
    window27(.clk(clk), .rst(rst), .s_data(s29_data), .s_valid(s29_valid), .s_ready(s29_ready), .m_data(s30_data), .m_valid(s30_valid), .m_ready(s30_ready));

  fifo #(.W(6), .D(2))
    fifo28(.clk(clk), .rst(rst), .s_data(s30_data), .s_valid(s30_valid), .s_ready(s30_ready), .m_data(s31_data), .m_valid(s31_valid), .m_ready(s31_ready));

  // of "right"
  mvu #(.SF(36), .NB(2), .NF(2), .SIMD(2), .PE(6), .XB(3), .WB(1), .OB(1), .AW(10), .CW(5), .OW(6), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(5), .OY(5), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu29"))
    mvu29(.clk(clk), .rst(rst), .s_data(s31_data), .s_valid(s31_valid), .s_ready(s31_ready), .m_data(s32_data), .m_valid(s32_valid), .m_ready(s32_ready));

  fifo #(.W(1), .D(66))
    fifo30(.clk(clk), .rst(rst), .s_data(s27_data), .s_valid(s27_valid), .s_ready(s27_ready), .m_data(s33_data), .m_valid(s33_valid), .m_ready(s33_ready));

  fifo #(.W(6), .D(4))
    fifo31(.clk(clk), .rst(rst), .s_data(s32_data), .s_valid(s32_valid), .s_ready(s32_ready), .m_data(s34_data), .m_valid(s34_valid), .m_ready(s34_ready));

  dwc #(.IW(6), .OW(1))
    dwc32(.clk(clk), .rst(rst), .s_data(s34_data), .s_valid(s34_valid), .s_ready(s34_ready), .m_data(s35_data), .m_valid(s35_valid), .m_ready(s35_ready));

  // of "both"
  cat #(.W(1), .FA(4), .FB(12))
    cat33(.clk(clk), .rst(rst), .a_data(s33_data), .a_valid(s33_valid), .a_ready(s33_ready), .b_data(s35_data), .b_valid(s35_valid), .b_ready(s35_ready), .m_data(s36_data), .m_valid(s36_valid), .m_ready(s36_ready));

  fifo #(.W(1), .D(2))
    fifo34(.clk(clk), .rst(rst), .s_data(s36_data), .s_valid(s36_valid), .s_ready(s36_ready), .m_data(s37_data), .m_valid(s37_valid), .m_ready(s37_ready));

  dwc #(.IW(1), .OW(2))
    dwc35(.clk(clk), .rst(rst), .s_data(s37_data), .s_valid(s37_valid), .s_ready(s37_ready), .m_data(s38_data), .m_valid(s38_valid), .m_ready(s38_ready));

  // of "narrow"
  window #(.W(2), .F(8), .FG(8), .IX(5), .IY(5), .OX(2), .OY(2), .KX(2), .KY(2), .SX(2), .SY(2), .DX(1), .DY(1), .PL(0), .PT(0), .ROWS(8), .WAIT(0), .PAD(2'h0))
    window36(.clk(clk), .rst(rst), .s_data(s38_data), .s_valid(s38_valid), .s_ready(s38_ready), .m_data(s39_data), .m_valid(s39_valid), .m_ready(s39_ready));

  fifo #(.W(2), .D(2))
    fifo37(.clk(clk), .rst(rst), .s_data(s39_data), .s_valid(s39_valid), .s_ready(s39_ready), .m_data(s40_data), .m_valid(s40_valid), .m_ready(s40_ready));

  // of "narrow"
  mvu #(.SF(32), .NB(3), .NF(3), .SIMD(2), .PE(2), .XB(1), .WB(1), .OB(4), .AW(7), .CW(3), .OW(8), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(2), .OY(2), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu38"))
    mvu38(.clk(clk), .rst(rst), .s_data(s40_data), .s_valid(s40_valid), .s_ready(s40_ready), .m_data(s41_data), .m_valid(s41_valid), .m_ready(s41_ready));

  fifo #(.W(8), .D(12))
    fifo39(.clk(clk), .rst(rst), .s_data(s41_data), .s_valid(s41_valid), .s_ready(s41_ready), .m_data(s42_data), .m_valid(s42_valid), .m_ready(s42_ready));

  // of "dense"
  mvu #(.SF(12), .NB(10), .NF(10), .SIMD(2), .PE(1), .XB(4), .WB(1), .OB(0), .AW(10), .CW(6), .OW(10), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(1), .OY(1), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu40"))
    mvu40(.clk(clk), .rst(rst), .s_data(s42_data), .s_valid(s42_valid), .s_ready(s42_ready), .m_data(s43_data), .m_valid(s43_valid), .m_ready(s43_ready));
endmodule
