package isa

import (
	"slices"

	"ripc/ir"
)

// FmaTaps is the number of channels of a row of FmaRow that reads few channels of each pixel.
const FmaTaps = 8

// fmaRows are of FmaRow, for four positions by four registers of filters: their sums are half of
// the registers. A row is all taps of a stem's pixels, which have three channels, or FmaTaps
// channels of each pixel. Strides are those of stems, and numbers of channels with a common factor.
func fmaRows() []Instr {
	const positions, filters, channels, widest = 4, 16, 3, 2048
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
	var strides []int
	for n := FmaTaps; n <= widest; n *= 2 { // eighths of each power of two
		for k := 8; k < 16; k++ {
			if s := n * k / 8; s%FmaTaps == 0 && s <= widest {
				strides = append(strides, s)
			}
		}
	}
	slices.Sort(strides)
	for _, s := range slices.Compact(strides) {
		add(FmaTaps, s)
		add(2*FmaTaps, s)
	}
	return is
}
