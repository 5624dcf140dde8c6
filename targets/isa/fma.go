package isa

import (
	"strings"

	"ripc/ir"
)

// FmaTaps is the smaller number of channels of a row of FmaRow that reads some channels of each
// pixel. The larger one is twice that.
const FmaTaps = 8

// fmaRows are of FmaRow, for a number of filters and up to most positions. A row is all taps of a
// stem's pixels, which have three channels, or some channels of each pixel. Strides are those of
// stems, and usual numbers of channels.
func fmaRows(c cpu, filters, most int) (is []Instr) {
	const channels, fewChannels, widest = 3, 256, 2048
	alternate := c.arch == "aarch64" // one load takes its registers apart
	f := family{
		"${cpu}_fma_row_${positions}x${taps}x${lanes}_s${stride}",
		"out %acc: f32[$positions, $lanes], %x: f32[$run], %w: f32[$taps, $registers, 4]",
		"t:$taps p:$positions o:$registers l:4",
		"%acc[%p, %o * 4 + %l] = fma(%x[%p * $stride + %t], %w[%t, %o, %l], %acc[%p, %o * 4 + %l])",
	}
	if alternate {
		f.params = strings.Replace(f.params, "$registers, 4", "4, $registers", 1)
		f.body = strings.Replace(f.body, "%o, %l", "%l, %o", 1)
	}
	add := func(taps, stride int) {
		for n := most; n > 0; n-- {
			i := Instr{Meaning: FmaRow, Lanes: filters, Positions: n, Taps: taps, Stride: stride, Type: ir.F32,
				Alternate: alternate}
			is = append(is, c.instr(f, i, values{"registers": filters / 4, "run": (n-1)*stride + taps}))
		}
	}
	for _, window := range []int{3, 5, 7, 11} {
		for _, step := range []int{1, 2, 4} {
			add(window*channels, step*channels)
		}
	}
	for n := FmaTaps; n <= widest/2; n *= 2 {
		for stride := n; stride < 2*n; stride += max(n/4, FmaTaps) {
			if stride%(2*FmaTaps) == 0 {
				add(2*FmaTaps, stride)
			}
			if stride < fewChannels {
				add(FmaTaps, stride)
			}
		}
	}
	return is
}
