package verilog

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ripc/dataflow"
)

// dotShape are the parameters of a sum of products: n elements of xBits bits, weights of wBits bits
// (1: +1 and -1), and a result of width bits.
type dotShape struct{ n, xBits, wBits, width int }

// dotShapes lists those of the design's engines, sorted.
func dotShapes(d *dataflow.Design) []dotShape {
	var all []dotShape
	for _, u := range d.Units {
		if u.Module == "mvu" {
			all = append(all, dotShape{u.Int("SIMD"), u.Int("XB"), u.Int("WB"), u.Int("CW")})
		}
	}
	slices.SortFunc(all, func(a, b dotShape) int {
		return slices.Compare([]int{a.n, a.xBits, a.wBits, a.width}, []int{b.n, b.xBits, b.wBits, b.width})
	})
	return slices.Compact(all)
}

// module is the module's name.
func (s dotShape) module() string {
	return fmt.Sprintf("dot_%d_%d_%d_%d", s.n, s.xBits, s.wBits, s.width)
}

// dots is the text of module dot and of a module for each shape.
func dots(shapes []dotShape) string {
	var b strings.Builder
	b.WriteString(`// dot is a sum of products of N elements of XB bits and weights of WB bits. Weights of 1 bit count
// the bits that agree, plane p for 2^p.
module dot #(parameter N=1, XB=1, WB=1, CW=2)(input [N*XB-1:0] x, input [N*WB-1:0] w, output signed [CW-1:0] y);
  generate
`)
	for i, s := range shapes {
		also := ""
		if i > 0 {
			also = "else "
		}
		fmt.Fprintf(&b, "  %sif (N == %d && XB == %d && WB == %d && CW == %d) %s sum(x, w, y);\n", also, s.n, s.xBits,
			s.wBits, s.width, s.module())
	}
	b.WriteString("  endgenerate\nendmodule\n")
	if slices.ContainsFunc(shapes, func(s dotShape) bool { return s.wBits == 1 }) {
		b.WriteString(counter6)
	}
	for _, s := range shapes {
		fmt.Fprintf(&b, "\nmodule %s(input [%d:0] x, input [%d:0] w, output signed [%d:0] y);\n", s.module(),
			s.n*s.xBits-1, s.n*s.wBits-1, s.width-1)
		if s.wBits == 1 {
			s.count(&b)
		} else {
			s.multiply(&b)
		}
		b.WriteString("endmodule\n")
	}
	return b.String()
}

const counter6 = `
// count6 counts the ones of six bits.
module count6(input [5:0] x, output [2:0] y);
  wire s0 = x[0]^x[1]^x[2], s1 = x[3]^x[4]^x[5];
  wire c0 = (x[0]&x[1])|(x[2]&(x[0]^x[1])), c1 = (x[3]&x[4])|(x[5]&(x[3]^x[4]));
  assign y = {(c0&c1)|((c0^c1)&(s0&s1)), c0^c1^(s0&s1), s0^s1};
endmodule
`

// multiply writes a sum of products of unsigned elements and signed weights.
func (s dotShape) multiply(b *strings.Builder) {
	var terms []string
	for i := range s.n {
		terms = append(terms, fmt.Sprintf("$signed(w[%d +: %d])*$signed({1'b0, x[%d +: %d]})", i*s.wBits, s.wBits,
			i*s.xBits, s.xBits))
	}
	fmt.Fprintf(b, "  assign y = %s;\n", strings.Join(terms, "\n    + "))
}

// count writes a heap of the bits that agree. For simulations, which it would slow down, the sum
// stands beside it.
func (s dotShape) count(b *strings.Builder) {
	var sums []string
	for p := range s.xBits {
		var plane []string
		for i := s.n - 1; i >= 0; i-- {
			plane = append(plane, fmt.Sprintf("x[%d]", i*s.xBits+p))
		}
		fmt.Fprintf(b, "  wire [%d:0] e%d = ~({%s}^w);\n", s.n-1, p, strings.Join(plane, ","))
		sums = append(sums, fmt.Sprintf("($countones(e%d)<<%d)", p, p))
	}
	fmt.Fprintf(b, "`ifdef RIPC_SUMS\n  assign y = %s;\n`else\n", strings.Join(sums, "+"))
	h := newHeap(s.n, s.xBits)
	for i, c := range h.counters {
		if len(c.in) == 6 {
			fmt.Fprintf(b, "  wire [2:0] h%d; count6 c%d({%s}, h%d);\n", i, i, strings.Join(c.in, ","), i)
			continue
		}
		fmt.Fprintf(b, "  wire [1:0] h%[1]d = {(%[2]s&%[3]s)|(%[4]s&(%[2]s^%[3]s)), %[2]s^%[3]s^%[4]s};\n", i, c.in[0],
			c.in[1], c.in[2])
	}
	fmt.Fprintf(b, "  assign y = %s+%s;\n`endif\n", h.row(0), h.row(1))
}

// heap adds up bits by counters. First three bits that agree become two: their exclusive or is free
// inside these counters. Then six become three and three become two, until each weight has at most
// two bits.
type heap struct {
	counters []counter
	columns  [][]string // bits that are left, by weight
}

// counter counts its inputs; its outputs are bits of "h" with its number.
type counter struct{ in []string }

func newHeap(n, planes int) *heap {
	h := &heap{columns: make([][]string, planes)}
	for p := range planes {
		for i := range n {
			h.columns[p] = append(h.columns[p], fmt.Sprintf("e%d[%d]", p, i))
		}
	}
	h.reduce(3)
	for slices.ContainsFunc(h.columns, func(c []string) bool { return len(c) > 2 }) {
		h.reduce(6)
	}
	return h
}

// reduce is one layer of counters of at most size bits.
func (h *heap) reduce(size int) {
	const most = 3 // outputs of a counter
	next := make([][]string, len(h.columns)+most)
	for weight, column := range h.columns {
		for n := size; n >= 3; n -= 3 {
			for ; len(column) >= n; column = column[n:] {
				for k := range bits.Len(uint(n)) {
					next[weight+k] = append(next[weight+k], fmt.Sprintf("h%d[%d]", len(h.counters), k))
				}
				h.counters = append(h.counters, counter{column[:n]})
			}
		}
		next[weight] = append(next[weight], column...)
	}
	for len(next) > 1 && len(next[len(next)-1]) == 0 {
		next = next[:len(next)-1]
	}
	h.columns = next
}

// row is the number of the k-th bit of each weight.
func (h *heap) row(k int) string {
	var all []string
	for _, c := range slices.Backward(h.columns) {
		if len(c) > k {
			all = append(all, c[k])
		} else {
			all = append(all, "1'b0")
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}
