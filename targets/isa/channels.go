package isa

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// together are the largest absolute numbers of levels or weights that allow n products to be added
// up in 16 bits. 0 stands for all bytes.
type together struct{ n, levels, weights int }

// channelProducts are products of bytes on Arm without products of four, for a number of filters,
// with input channels in lanes: a load of levels serves all filters, and a load of weights all
// positions. Products of eight channels fill a register of 16 bits, where those of eight others are
// added if limited numbers fit. Then neighbours are added to sums of 32 bits.
func channelProducts(c cpu, filters int) []Instr {
	add := map[string]string{"aarch64": "addp", "arm": "vpadd"}[c.arch]
	is := []Instr{c.neighbours(add+"_i32_x4x2", AddPairs, ir.I32, ir.I32, 0, 4, 2)}
	for _, blocks := range []int{4, 2, 1} {
		for _, l := range []together{{2, 0, 127}, {2, 127, 0}, {1, 0, 0}} {
			for stride := 1; stride <= 2; stride++ {
				for positions := 2; positions > 0; positions-- { // 1 is the last of an odd number
					is = append(is, c.channels(blocks, l, Instr{Positions: positions, Lanes: filters, Stride: stride}))
				}
			}
		}
	}
	return is
}

// channels completes i to an instruction of meaning DotChannels that takes blocks of 16 channels.
func (c cpu) channels(blocks int, n together, i Instr) Instr {
	f := family{
		"${cpu}_smull_channels_${positions}s${stride}x${words}x${lanes}",
		"out %acc: i32[$positions, $lanes, 2, 2], %x: i8[$pixels, $bytes]",
		"p:$positions l:$lanes i:2 j:2 q:$blocks s:2 k:2",
		"%acc[%p, %l, %i, %j] += cast<i32>(%x[%p * $stride, %q * 16 + %s * 8 + %i * 4 + %j * 2 + %k]) * " +
			"cast<i32>(%w[%q, %l, %s * 2 + %i, %j * 2 + %k])",
	}
	if blocks == 1 {
		f.loops = strings.Replace(f.loops, "q:$blocks ", "", 1)
		f.body = strings.NewReplacer("%q * 16 + ", "", "%q, ", "").Replace(f.body)
	}
	if i.Stride == 1 {
		f.body = strings.Replace(f.body, " * $stride", "", 1)
	}
	if n.levels > 0 {
		f.name, f.params = f.name+fmt.Sprint("_a", n.levels), f.params+fmt.Sprint(" from 0 to ", n.levels)
	}
	f.params += ", %w: i8[" + textIf(blocks > 1, "$blocks, ") + "$lanes, 4, 4]"
	if n.weights > 0 {
		f.name, f.params = f.name+fmt.Sprint("_w", n.weights), f.params+fmt.Sprintf(" from -%d to %[1]d", n.weights)
	}
	i.Meaning, i.Words, i.Type, i.Together = DotChannels, 4*blocks, ir.I32, n.n
	i.Ops = i.Positions * i.Lanes * (2*blocks + 2*blocks/n.n)
	return c.instr(f, i, values{"bytes": 16 * blocks, "blocks": blocks, "pixels": (i.Positions-1)*i.Stride + 1})
}
