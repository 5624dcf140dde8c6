package verify

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"ripc/runtime/describe"
)

// HardInputs is the name of the Set that Hard makes.
const HardInputs = "hard inputs (NaN, infinities, -0, subnormal and huge numbers)"

// awkwardFloats are the bits of floats that an implementation may forget about. Few are contagious,
// which would hide the rest.
func awkwardFloats() []uint32 {
	return []uint32{
		0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFA00000, // NaN, quiet and signaling, of both signs
		0x7F800000, 0xFF800000, // infinities
		0x80000000, 0x80000000, 0x00000000, // zeros
		// subnormal numbers, in the next line
		0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00400000,
		0x00800000, 0x80800000, // the smallest normal ones
		0x7F7FFFFF, 0xFF7FFFFF, 0x5F000000, 0xDF000000, // huge
		0x4B000001, 0xCF000000, // around the ends of integers
	}
}

// Hard returns a copy of inputs with hard numbers. Every other float is negative. The others in the
// last quarter are subnormal, so that a window may have nothing larger. Every 16th float is an
// awkward one, or every 32nd of long inputs. The result depends on inputs and seed alone. ok is
// false for a network with integer inputs only, which has no such Set.
func Hard(tensors []describe.Tensor, inputs [][]byte, seed uint64) (set Set, ok bool) {
	r, bits := rand.New(rand.NewPCG(seed, 0)), awkwardFloats()
	set.Name = HardInputs
	for i, t := range tensors {
		data := bytes.Clone(inputs[i])
		if t.DType == "f32" && len(data) >= 4 {
			ok = true
			n := len(data) / 4
			for k := range n {
				x := binary.LittleEndian.Uint32(data[4*k:])
				switch {
				case k%2 == 0:
					x ^= 1 << 31
				case k >= n-n/4:
					x &= 0x807FFFFF
				}
				binary.LittleEndian.PutUint32(data[4*k:], x)
			}
			for range max(n/16, min(n, 32)) {
				binary.LittleEndian.PutUint32(data[4*r.IntN(n):], bits[r.IntN(len(bits))])
			}
		}
		set.Inputs = append(set.Inputs, data)
	}
	return set, ok
}
