// "every" by ripc: 7 layers with weights, 1944 cycles a picture, by "conv".
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

  // s3: from s2, 9x9x3 x 9 taps; 9 of 2 bits a beat
  wire [17:0] s3_data; wire s3_valid, s3_ready;

  // s4: from s3, 9x9x3 x 9 taps; 9 of 2 bits a beat
  wire [17:0] s4_data; wire s4_valid, s4_ready;

  // s5: "conv_q", 9x9x8; 1 of 2 bits a beat
  wire [1:0] s5_data; wire s5_valid, s5_ready;
`ifdef RIPC_TAP
  tap #(.W(2), .NAME("s5"), .LAST(0))
    tap_s5(clk, rst, s5_valid, s5_ready, s5_data);
`endif

  // s6: from s5, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s6_data; wire s6_valid, s6_ready;

  // s7: from s5, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s7_data; wire s7_valid, s7_ready;

  // s8: from s6, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s8_data; wire s8_valid, s8_ready;

  // s9: from s8, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s9_data; wire s9_valid, s9_ready;

  // s10: window, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s10_data; wire s10_valid, s10_ready;

  // s11: from s10, 9x9x8 x 9 taps; 12 of 2 bits a beat
  wire [23:0] s11_data; wire s11_valid, s11_ready;

  // s12: from s11, 9x9x8 x 9 taps; 12 of 2 bits a beat
  wire [23:0] s12_data; wire s12_valid, s12_ready;

  // s13: "groups_q", 9x9x8; 1 of 2 bits a beat
  wire [1:0] s13_data; wire s13_valid, s13_ready;
`ifdef RIPC_TAP
  tap #(.W(2), .NAME("s13"), .LAST(0))
    tap_s13(clk, rst, s13_valid, s13_ready, s13_data);
`endif

  // s14: from s13, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s14_data; wire s14_valid, s14_ready;

  // s15: from s14, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s15_data; wire s15_valid, s15_ready;

  // s16: window, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s16_data; wire s16_valid, s16_ready;

  // s17: from s16, 9x9x8 x 9 taps; 4 of 2 bits a beat
  wire [7:0] s17_data; wire s17_valid, s17_ready;

  // s18: "depthwise_q", 9x9x8; 4 of 2 bits a beat
  wire [7:0] s18_data; wire s18_valid, s18_ready;
`ifdef RIPC_TAP
  tap #(.W(8), .NAME("s18"), .LAST(0))
    tap_s18(clk, rst, s18_valid, s18_ready, s18_data);
`endif

  // s19: from s7, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s19_data; wire s19_valid, s19_ready;

  // s20: from s18, 9x9x8; 4 of 2 bits a beat
  wire [7:0] s20_data; wire s20_valid, s20_ready;

  // s21: from s20, 9x9x8; 1 of 2 bits a beat
  wire [1:0] s21_data; wire s21_valid, s21_ready;

  // s22: "sum" sum, 9x9x8; 1 of 3 bits a beat
  wire [2:0] s22_data; wire s22_valid, s22_ready;
`ifdef RIPC_TAP
  tap #(.W(3), .NAME("s22"), .LAST(0))
    tap_s22(clk, rst, s22_valid, s22_ready, s22_data);
`endif

  // s23: from s22, 9x9x8; 1 of 3 bits a beat
  wire [2:0] s23_data; wire s23_valid, s23_ready;

  // s24: window, 5x5x8 x 9 taps; 1 of 3 bits a beat
  wire [2:0] s24_data; wire s24_valid, s24_ready;

  // s25: from s24, 5x5x8 x 9 taps; 1 of 3 bits a beat
  wire [2:0] s25_data; wire s25_valid, s25_ready;

  // s26: "overlapping" pool, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s26_data; wire s26_valid, s26_ready;
`ifdef RIPC_TAP
  tap #(.W(3), .NAME("s26"), .LAST(0))
    tap_s26(clk, rst, s26_valid, s26_ready, s26_data);
`endif

  // s27: from s26, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s27_data; wire s27_valid, s27_ready;

  // s28: from s26, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s28_data; wire s28_valid, s28_ready;

  // s29: from s27, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s29_data; wire s29_valid, s29_ready;

  // s30: "left_q", 5x5x4; 1 of 1 bits a beat
  wire [0:0] s30_data; wire s30_valid, s30_ready;
`ifdef RIPC_TAP
  tap #(.W(1), .NAME("s30"), .LAST(0))
    tap_s30(clk, rst, s30_valid, s30_ready, s30_data);
`endif

  // s31: from s28, 5x5x8; 1 of 3 bits a beat
  wire [2:0] s31_data; wire s31_valid, s31_ready;

  // s32: from s31, 5x5x8; 4 of 3 bits a beat
  wire [11:0] s32_data; wire s32_valid, s32_ready;

  // s33: window, 5x5x8 x 9 taps; 4 of 3 bits a beat
  wire [11:0] s33_data; wire s33_valid, s33_ready;

  // s34: from s33, 5x5x8 x 9 taps; 4 of 3 bits a beat
  wire [11:0] s34_data; wire s34_valid, s34_ready;

  // s35: "right_q", 5x5x12; 3 of 1 bits a beat
  wire [2:0] s35_data; wire s35_valid, s35_ready;
`ifdef RIPC_TAP
  tap #(.W(3), .NAME("s35"), .LAST(0))
    tap_s35(clk, rst, s35_valid, s35_ready, s35_data);
`endif

  // s36: from s30, 5x5x4; 1 of 1 bits a beat
  wire [0:0] s36_data; wire s36_valid, s36_ready;

  // s37: from s35, 5x5x12; 3 of 1 bits a beat
  wire [2:0] s37_data; wire s37_valid, s37_ready;

  // s38: from s37, 5x5x12; 1 of 1 bits a beat
  wire [0:0] s38_data; wire s38_valid, s38_ready;

  // s39: "both" concatenation, 5x5x16; 1 of 1 bits a beat
  wire [0:0] s39_data; wire s39_valid, s39_ready;
`ifdef RIPC_TAP
  tap #(.W(1), .NAME("s39"), .LAST(0))
    tap_s39(clk, rst, s39_valid, s39_ready, s39_data);
`endif

  // s40: from s39, 5x5x16; 1 of 1 bits a beat
  wire [0:0] s40_data; wire s40_valid, s40_ready;

  // s41: from s40, 5x5x16; 2 of 1 bits a beat
  wire [1:0] s41_data; wire s41_valid, s41_ready;

  // s42: window, 2x2x16 x 4 taps; 2 of 1 bits a beat
  wire [1:0] s42_data; wire s42_valid, s42_ready;

  // s43: from s42, 2x2x16 x 4 taps; 2 of 1 bits a beat
  wire [1:0] s43_data; wire s43_valid, s43_ready;

  // s44: "narrow_q", 2x2x6; 1 of 4 bits a beat
  wire [3:0] s44_data; wire s44_valid, s44_ready;
`ifdef RIPC_TAP
  tap #(.W(4), .NAME("s44"), .LAST(0))
    tap_s44(clk, rst, s44_valid, s44_ready, s44_data);
`endif

  // s45: from s44, 1x1x24; 1 of 4 bits a beat
  wire [3:0] s45_data; wire s45_valid, s45_ready;

  // s46: "dense" sums, 1x1x10; 1 of 10 bits a beat
  wire [9:0] s46_data; wire s46_valid, s46_ready;
`ifdef RIPC_TAP
  tap #(.W(10), .NAME("s46"), .LAST(1))
    tap_s46(clk, rst, s46_valid, s46_ready, s46_data);
`endif

  assign s0_data = s_data; assign s0_valid = s_valid; assign s_ready = s0_ready;
  assign m_data = s46_data; assign m_valid = s46_valid; assign s46_ready = m_ready;

  fifo #(.W(6), .D(2))
    fifo0(.clk(clk), .rst(rst), .s_data(s0_data), .s_valid(s0_valid), .s_ready(s0_ready), .m_data(s1_data), .m_valid(s1_valid), .m_ready(s1_ready));

  // of "conv"
  window #(.W(6), .F(1), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(6'h0))
    window1(.clk(clk), .rst(rst), .s_data(s1_data), .s_valid(s1_valid), .s_ready(s1_ready), .m_data(s2_data), .m_valid(s2_valid), .m_ready(s2_ready));

  dwc #(.IW(6), .OW(18))
    dwc2(.clk(clk), .rst(rst), .s_data(s2_data), .s_valid(s2_valid), .s_ready(s2_ready), .m_data(s3_data), .m_valid(s3_valid), .m_ready(s3_ready));

  fifo #(.W(18), .D(2))
    fifo3(.clk(clk), .rst(rst), .s_data(s3_data), .s_valid(s3_valid), .s_ready(s3_ready), .m_data(s4_data), .m_valid(s4_valid), .m_ready(s4_ready));

  // of "conv"
  mvu #(.SF(3), .NB(8), .NF(8), .SIMD(9), .PE(1), .XB(2), .WB(1), .OB(2), .AW(7), .CW(6), .OW(2), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu4"))
    mvu4(.clk(clk), .rst(rst), .s_data(s4_data), .s_valid(s4_valid), .s_ready(s4_ready), .m_data(s5_data), .m_valid(s5_valid), .m_ready(s5_ready));

  fork2 #(.W(2))
    fork25(.clk(clk), .rst(rst), .s_data(s5_data), .s_valid(s5_valid), .s_ready(s5_ready), .a_data(s6_data), .a_valid(s6_valid), .a_ready(s6_ready), .b_data(s7_data), .b_valid(s7_valid), .b_ready(s7_ready));

  fifo #(.W(2), .D(2))
    fifo6(.clk(clk), .rst(rst), .s_data(s6_data), .s_valid(s6_valid), .s_ready(s6_ready), .m_data(s8_data), .m_valid(s8_valid), .m_ready(s8_ready));

  dwc #(.IW(2), .OW(8))
    dwc7(.clk(clk), .rst(rst), .s_data(s8_data), .s_valid(s8_valid), .s_ready(s8_ready), .m_data(s9_data), .m_valid(s9_valid), .m_ready(s9_ready));

  // of "groups"
  window #(.W(8), .F(2), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(8'h0))
    window8(.clk(clk), .rst(rst), .s_data(s9_data), .s_valid(s9_valid), .s_ready(s9_ready), .m_data(s10_data), .m_valid(s10_valid), .m_ready(s10_ready));

  dwc #(.IW(8), .OW(24))
    dwc9(.clk(clk), .rst(rst), .s_data(s10_data), .s_valid(s10_valid), .s_ready(s10_ready), .m_data(s11_data), .m_valid(s11_valid), .m_ready(s11_ready));

  fifo #(.W(24), .D(2))
    fifo10(.clk(clk), .rst(rst), .s_data(s11_data), .s_valid(s11_valid), .s_ready(s11_ready), .m_data(s12_data), .m_valid(s12_valid), .m_ready(s12_ready));

  // of "groups"
  mvu #(.SF(3), .NB(8), .NF(4), .SIMD(12), .PE(1), .XB(2), .WB(1), .OB(2), .AW(8), .CW(7), .OW(2), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu11"))
    mvu11(.clk(clk), .rst(rst), .s_data(s12_data), .s_valid(s12_valid), .s_ready(s12_ready), .m_data(s13_data), .m_valid(s13_valid), .m_ready(s13_ready));

  fifo #(.W(2), .D(2))
    fifo12(.clk(clk), .rst(rst), .s_data(s13_data), .s_valid(s13_valid), .s_ready(s13_ready), .m_data(s14_data), .m_valid(s14_valid), .m_ready(s14_ready));

  dwc #(.IW(2), .OW(8))
    dwc13(.clk(clk), .rst(rst), .s_data(s14_data), .s_valid(s14_valid), .s_ready(s14_ready), .m_data(s15_data), .m_valid(s15_valid), .m_ready(s15_ready));

  // of "depthwise"
  window #(.W(8), .F(2), .FG(1), .IX(9), .IY(9), .OX(9), .OY(9), .KX(3), .KY(3), .SX(1), .SY(1), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(8'h0))
    window14(.clk(clk), .rst(rst), .s_data(s15_data), .s_valid(s15_valid), .s_ready(s15_ready), .m_data(s16_data), .m_valid(s16_valid), .m_ready(s16_ready));

  fifo #(.W(8), .D(2))
    fifo15(.clk(clk), .rst(rst), .s_data(s16_data), .s_valid(s16_valid), .s_ready(s16_ready), .m_data(s17_data), .m_valid(s17_valid), .m_ready(s17_ready));

  // of "depthwise"
  mvu #(.SF(9), .NB(2), .NF(1), .SIMD(1), .PE(4), .XB(2), .WB(1), .OB(2), .AW(6), .CW(3), .OW(8), .EACH(1), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(9), .OY(9), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu16"))
    mvu16(.clk(clk), .rst(rst), .s_data(s17_data), .s_valid(s17_valid), .s_ready(s17_ready), .m_data(s18_data), .m_valid(s18_valid), .m_ready(s18_ready));

  fifo #(.W(2), .D(258))
    fifo17(.clk(clk), .rst(rst), .s_data(s7_data), .s_valid(s7_valid), .s_ready(s7_ready), .m_data(s19_data), .m_valid(s19_valid), .m_ready(s19_ready));

  fifo #(.W(8), .D(2))
    fifo18(.clk(clk), .rst(rst), .s_data(s18_data), .s_valid(s18_valid), .s_ready(s18_ready), .m_data(s20_data), .m_valid(s20_valid), .m_ready(s20_ready));

  dwc #(.IW(8), .OW(2))
    dwc19(.clk(clk), .rst(rst), .s_data(s20_data), .s_valid(s20_valid), .s_ready(s20_ready), .m_data(s21_data), .m_valid(s21_valid), .m_ready(s21_ready));

  // of "sum"
  addl #(.L(1), .A(2), .B(2), .O(3), .SA(0), .SB(0), .FA(0), .FB(0))
    addl20(.clk(clk), .rst(rst), .a_data(s19_data), .a_valid(s19_valid), .a_ready(s19_ready), .b_data(s21_data), .b_valid(s21_valid), .b_ready(s21_ready), .m_data(s22_data), .m_valid(s22_valid), .m_ready(s22_ready));

  fifo #(.W(3), .D(2))
    fifo21(.clk(clk), .rst(rst), .s_data(s22_data), .s_valid(s22_valid), .s_ready(s22_ready), .m_data(s23_data), .m_valid(s23_valid), .m_ready(s23_ready));

  // of "overlapping"
  window #(.W(3), .F(8), .FG(1), .IX(9), .IY(9), .OX(5), .OY(5), .KX(3), .KY(3), .SX(2), .SY(2), .DX(1), .DY(1), .PL(1), .PT(1), .ROWS(8), .WAIT(0), .PAD(3'h0))
    window22(.clk(clk), .rst(rst), .s_data(s23_data), .s_valid(s23_valid), .s_ready(s23_ready), .m_data(s24_data), .m_valid(s24_valid), .m_ready(s24_ready));

  fifo #(.W(3), .D(2))
    fifo23(.clk(clk), .rst(rst), .s_data(s24_data), .s_valid(s24_valid), .s_ready(s24_ready), .m_data(s25_data), .m_valid(s25_valid), .m_ready(s25_ready));

  // of "overlapping"
  largest #(.L(1), .B(3), .K(9))
    largest24(.clk(clk), .rst(rst), .s_data(s25_data), .s_valid(s25_valid), .s_ready(s25_ready), .m_data(s26_data), .m_valid(s26_valid), .m_ready(s26_ready));

  fork2 #(.W(3))
    fork225(.clk(clk), .rst(rst), .s_data(s26_data), .s_valid(s26_valid), .s_ready(s26_ready), .a_data(s27_data), .a_valid(s27_valid), .a_ready(s27_ready), .b_data(s28_data), .b_valid(s28_valid), .b_ready(s28_ready));

  fifo #(.W(3), .D(8))
    fifo26(.clk(clk), .rst(rst), .s_data(s27_data), .s_valid(s27_valid), .s_ready(s27_ready), .m_data(s29_data), .m_valid(s29_valid), .m_ready(s29_ready));

  // of "left"
  mvu #(.SF(8), .NB(4), .NF(4), .SIMD(1), .PE(1), .XB(3), .WB(1), .OB(1), .AW(7), .CW(4), .OW(1), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(5), .OY(5), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu27"))
    mvu27(.clk(clk), .rst(rst), .s_data(s29_data), .s_valid(s29_valid), .s_ready(s29_ready), .m_data(s30_data), .m_valid(s30_valid), .m_ready(s30_ready));

  fifo #(.W(3), .D(2))
    fifo28(.clk(clk), .rst(rst), .s_data(s28_data), .s_valid(s28_valid), .s_ready(s28_ready), .m_data(s31_data), .m_valid(s31_valid), .m_ready(s31_ready));

  dwc #(.IW(3), .OW(12))
    dwc29(.clk(clk), .rst(rst), .s_data(s31_data), .s_valid(s31_valid), .s_ready(s31_ready), .m_data(s32_data), .m_valid(s32_valid), .m_ready(s32_ready));

  // of "right"
  window #(.W(12), .F(2), .FG(2), .IX(5), .IY(5), .OX(5), .OY(5), .KX(3), .KY(3), .SX(1), .SY(1), .DX(2), .DY(2), .PL(2), .PT(2), .ROWS(16), .WAIT(0), .PAD(12'h0))
    window30(.clk(clk), .rst(rst), .s_data(s32_data), .s_valid(s32_valid), .s_ready(s32_ready), .m_data(s33_data), .m_valid(s33_valid), .m_ready(s33_ready));

  fifo #(.W(12), .D(2))
    fifo31(.clk(clk), .rst(rst), .s_data(s33_data), .s_valid(s33_valid), .s_ready(s33_ready), .m_data(s34_data), .m_valid(s34_valid), .m_ready(s34_ready));

  // of "right"
  mvu #(.SF(18), .NB(4), .NF(4), .SIMD(4), .PE(3), .XB(3), .WB(1), .OB(1), .AW(10), .CW(6), .OW(3), .EACH(0), .WBLK(1), .SH(0), .CR(1), .CC(1), .OX(5), .OY(5), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu32"))
    mvu32(.clk(clk), .rst(rst), .s_data(s34_data), .s_valid(s34_valid), .s_ready(s34_ready), .m_data(s35_data), .m_valid(s35_valid), .m_ready(s35_ready));

  fifo #(.W(1), .D(66))
    fifo33(.clk(clk), .rst(rst), .s_data(s30_data), .s_valid(s30_valid), .s_ready(s30_ready), .m_data(s36_data), .m_valid(s36_valid), .m_ready(s36_ready));

  fifo #(.W(3), .D(6))
    fifo34(.clk(clk), .rst(rst), .s_data(s35_data), .s_valid(s35_valid), .s_ready(s35_ready), .m_data(s37_data), .m_valid(s37_valid), .m_ready(s37_ready));

  dwc #(.IW(3), .OW(1))
    dwc35(.clk(clk), .rst(rst), .s_data(s37_data), .s_valid(s37_valid), .s_ready(s37_ready), .m_data(s38_data), .m_valid(s38_valid), .m_ready(s38_ready));

  // of "both"
  cat #(.W(1), .FA(4), .FB(12))
    cat36(.clk(clk), .rst(rst), .a_data(s36_data), .a_valid(s36_valid), .a_ready(s36_ready), .b_data(s38_data), .b_valid(s38_valid), .b_ready(s38_ready), .m_data(s39_data), .m_valid(s39_valid), .m_ready(s39_ready));

  fifo #(.W(1), .D(2))
    fifo37(.clk(clk), .rst(rst), .s_data(s39_data), .s_valid(s39_valid), .s_ready(s39_ready), .m_data(s40_data), .m_valid(s40_valid), .m_ready(s40_ready));

  dwc #(.IW(1), .OW(2))
    dwc38(.clk(clk), .rst(rst), .s_data(s40_data), .s_valid(s40_valid), .s_ready(s40_ready), .m_data(s41_data), .m_valid(s41_valid), .m_ready(s41_ready));

  // of "narrow"
  window #(.W(2), .F(8), .FG(8), .IX(5), .IY(5), .OX(2), .OY(2), .KX(2), .KY(2), .SX(2), .SY(2), .DX(1), .DY(1), .PL(0), .PT(0), .ROWS(8), .WAIT(0), .PAD(2'h0))
    window39(.clk(clk), .rst(rst), .s_data(s41_data), .s_valid(s41_valid), .s_ready(s41_ready), .m_data(s42_data), .m_valid(s42_valid), .m_ready(s42_ready));

  fifo #(.W(2), .D(2))
    fifo40(.clk(clk), .rst(rst), .s_data(s42_data), .s_valid(s42_valid), .s_ready(s42_ready), .m_data(s43_data), .m_valid(s43_valid), .m_ready(s43_ready));

  // of "narrow"
  mvu #(.SF(32), .NB(6), .NF(6), .SIMD(2), .PE(1), .XB(1), .WB(1), .OB(4), .AW(7), .CW(3), .OW(4), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(2), .OY(2), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu41"))
    mvu41(.clk(clk), .rst(rst), .s_data(s43_data), .s_valid(s43_valid), .s_ready(s43_ready), .m_data(s44_data), .m_valid(s44_valid), .m_ready(s44_ready));

  fifo #(.W(4), .D(24))
    fifo42(.clk(clk), .rst(rst), .s_data(s44_data), .s_valid(s44_valid), .s_ready(s44_ready), .m_data(s45_data), .m_valid(s45_valid), .m_ready(s45_ready));

  // of "dense"
  mvu #(.SF(24), .NB(10), .NF(10), .SIMD(1), .PE(1), .XB(4), .WB(1), .OB(0), .AW(10), .CW(5), .OW(10), .EACH(0), .WBLK(0), .SH(0), .CR(1), .CC(1), .OX(1), .OY(1), .RF(0), .RL(0), .CF(0), .CL(0), .FILE("mvu43"))
    mvu43(.clk(clk), .rst(rst), .s_data(s45_data), .s_valid(s45_valid), .s_ready(s45_ready), .m_data(s46_data), .m_valid(s46_valid), .m_ready(s46_ready));
endmodule
