package randnet

import (
	"fmt"
	"hash/fnv"
)

// fromBytes makes floats of levels that the caller brings, as networks on camera frames do: perhaps
// with other axes, and normalized.
func (b *modelBuilder) fromBytes() {
	if b.r.IntN(2) == 0 {
		b.transpose(b.r.IntN(2))
	}
	b.add("dequantize", nil)
	b.bits = 0
	for range b.r.IntN(4) {
		b.add(b.pickOp("mul", "sub", "div", "batch_norm", "relu"), nil)
	}
}

func (b *modelBuilder) pickOp(names ...string) string { return names[b.r.IntN(len(names))] }

// frame decides whether the caller's levels become floats at once. It uses no random numbers, so
// that all other draws stay the same.
func (b *modelBuilder) frame() bool {
	h := fnv.New64a()
	fmt.Fprint(h, b.name, b.shape, b.bits)
	return h.Sum64()%4 == 0
}
