package randnet

import "slices"

// blocks adds an op that makes blocks of pixels, or pixels of blocks, where the image is of a size
// for it.
func (b *modelBuilder) blocks() {
	h, w, c := b.shape[1], b.shape[2], b.shape[3]
	block := [2]int{1 + b.r.IntN(3), 1 + b.r.IntN(3)}
	attrs := map[string]any{"block": block, "order": []string{"dcr", "crd"}[b.r.IntN(2)]}
	switch {
	case c%(block[0]*block[1]) == 0 && b.r.IntN(2) == 0:
		b.add("depth_to_space", attrs)
		b.shape = []int{b.shape[0], h * block[0], w * block[1], c / block[0] / block[1]}
	case h%block[0] == 0 && w%block[1] == 0 && b.r.IntN(2) == 0:
		b.add("space_to_depth", attrs)
		b.shape = []int{b.shape[0], h / block[0], w / block[1], c * block[0] * block[1]}
	case b.r.IntN(2) == 0:
		b.atPositions()
	default:
		b.add("resize", map[string]any{"factor": block})
		b.shape = []int{b.shape[0], h * block[0], w * block[1], c}
	}
}

// atPositions adds an op that takes rows and columns of the image at random, or, of floats,
// positions between them.
func (b *modelBuilder) atPositions() {
	op := "gather"
	if b.bits == 0 && b.r.IntN(2) == 0 {
		op = "interpolate"
	}
	attrs, shape := map[string]any{}, slices.Clone(b.shape)
	which := 1 + b.r.IntN(3)
	for d, name := range []string{"rows", "columns"} {
		if which>>d&1 == 0 {
			continue
		}
		n := b.shape[1+d]
		count := 1 + b.r.IntN(2*n+1)
		whole, between := make([]int, count), make([]float32, count)
		for i := range count {
			whole[i] = b.r.IntN(n)
			if between[i] = float32(whole[i]); b.r.IntN(4) > 0 {
				between[i] = min(between[i]+b.r.Float32(), float32(n-1))
			}
		}
		if attrs[name] = any(whole); op == "interpolate" {
			attrs[name] = between
		}
		shape[1+d] = count
	}
	b.add(op, attrs)
	b.shape = shape
}
