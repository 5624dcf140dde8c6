package graph

// needBlock wants an image and a block of positive size.
func (g *Graph) needBlock(n *Node, x *Value, what string, block [2]int) {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	g.failIf(min(block[0], block[1]) < 1 || max(block[0], block[1]) > MaxElems, n, "",
		"%s %v: want numbers from 1 to %d", what, block, MaxElems)
}

func (g *Graph) needOrder(n *Node, a *BlockAttrs) {
	g.failIf(a.Order > BlockCRD, n, "use dcr or crd", "order %s", a.Order)
}

func inferDepthToSpace(g *Graph, n *Node, x *Value, a *BlockAttrs) *Value {
	g.needBlock(n, x, "block", a.Block)
	b, s := a.Block, x.Shape
	g.failIf(s[3]%b[0] != 0 || s[3]/b[0]%b[1] != 0, n, "", "blocks of %d by %d do not divide the %d channels of %v",
		b[0], b[1], s[3], s)
	g.checkSize(n, "output of ", []int{s[1], b[0], s[2], b[1]})
	g.needOrder(n, a)
	return x.reshaped([]int{s[0], s[1] * b[0], s[2] * b[1], s[3] / b[0] / b[1]})
}

func inferSpaceToDepth(g *Graph, n *Node, x *Value, a *BlockAttrs) *Value {
	g.needBlock(n, x, "block", a.Block)
	b, s := a.Block, x.Shape
	g.failIf(s[1]%b[0] != 0 || s[2]%b[1] != 0, n, "pad or slice the image before it",
		"blocks of %d by %d do not divide the image %v", b[0], b[1], s)
	g.needOrder(n, a)
	return x.reshaped([]int{s[0], s[1] / b[0], s[2] / b[1], s[3] * b[0] * b[1]})
}

func inferResize(g *Graph, n *Node, x *Value, a *ResizeAttrs) *Value {
	g.needBlock(n, x, "factor", a.Factor)
	f, s := a.Factor, x.Shape
	g.checkSize(n, "output of ", []int{s[1], f[0], s[2], f[1]})
	return x.reshaped([]int{s[0], s[1] * f[0], s[2] * f[1], s[3]})
}
