package randnet

// blocks adds an op that makes blocks of pixels, or pixels of blocks, where the image is of a size for it.
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
	default:
		b.add("resize", map[string]any{"factor": block})
		b.shape = []int{b.shape[0], h * block[0], w * block[1], c}
	}
}
