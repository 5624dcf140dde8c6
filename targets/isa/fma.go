package isa

import "ripc/ir"

// FmaTaps is the smaller number of channels of a row of FmaRow that reads some channels of each
// pixel. The larger one is twice that.
const FmaTaps = 8

// fmaRows are of FmaRow, for four positions by four registers of filters: their sums are half of
// the registers. A row is all taps of a stem's pixels, which have three channels, or some channels
// of each pixel. Strides are those of stems, and usual numbers of channels.
func fmaRows() []Instr {
	const positions, filters, channels, fewChannels, widest = 4, 16, 3, 256, 2048
	f := family{
		"${cpu}_fma_row_${positions}x${taps}x${lanes}_s${stride}",
		"out %acc: f32[$positions, $lanes], %x: f32[$run], %w: f32[$taps, 4, $registers]",
		"t:$taps p:$positions o:$registers l:4",
		"%acc[%p, %o * 4 + %l] = fma(%x[%p * $stride + %t], %w[%t, %l, %o], %acc[%p, %o * 4 + %l])",
	}
	var is []Instr
	add := func(taps, stride int) {
		i := Instr{Meaning: FmaRow, Lanes: filters, Positions: positions, Taps: taps, Stride: stride, Type: ir.F32}
		is = append(is, a64().instr(f, i, values{"registers": filters / 4, "run": (positions-1)*stride + taps}))
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
