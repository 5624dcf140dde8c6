package graph

// needBlock wants an image and a block of positive size.
func (g *Graph) needBlock(n *Node, x *Value, what string, block [2]int) error {
	if len(x.Shape) != 4 {
		return g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
	}
	if min(block[0], block[1]) < 1 || max(block[0], block[1]) > MaxElems {
		return g.Errorf(n, "", "%s %v: want numbers from 1 to %d", what, block, MaxElems)
	}
	return nil
}

func (g *Graph) needOrder(n *Node, a *BlockAttrs) error {
	if a.Order > BlockCRD {
		return g.Errorf(n, "use dcr or crd", "order %s", a.Order)
	}
	return nil
}

func inferDepthToSpace(g *Graph, n *Node, x *Value, a *BlockAttrs) (*Value, error) {
	if err := g.needBlock(n, x, "block", a.Block); err != nil {
		return nil, err
	}
	b, s := a.Block, x.Shape
	if s[3]%b[0] != 0 || s[3]/b[0]%b[1] != 0 {
		return nil, g.Errorf(n, "", "blocks of %d by %d do not divide the %d channels of %v", b[0], b[1], s[3], s)
	}
	if err := g.checkSize(n, "output of ", []int{s[1], b[0], s[2], b[1]}); err != nil {
		return nil, err
	}
	return x.reshaped([]int{s[0], s[1] * b[0], s[2] * b[1], s[3] / b[0] / b[1]}), g.needOrder(n, a)
}

func inferSpaceToDepth(g *Graph, n *Node, x *Value, a *BlockAttrs) (*Value, error) {
	if err := g.needBlock(n, x, "block", a.Block); err != nil {
		return nil, err
	}
	b, s := a.Block, x.Shape
	if s[1]%b[0] != 0 || s[2]%b[1] != 0 {
		return nil, g.Errorf(n, "pad or slice the image before it", "blocks of %d by %d do not divide the image %v",
			b[0], b[1], s)
	}
	return x.reshaped([]int{s[0], s[1] / b[0], s[2] / b[1], s[3] * b[0] * b[1]}), g.needOrder(n, a)
}

func inferResize(g *Graph, n *Node, x *Value, a *ResizeAttrs) (*Value, error) {
	if err := g.needBlock(n, x, "factor", a.Factor); err != nil {
		return nil, err
	}
	f, s := a.Factor, x.Shape
	if err := g.checkSize(n, "output of ", []int{s[1], f[0], s[2], f[1]}); err != nil {
		return nil, err
	}
	return x.reshaped([]int{s[0], s[1] * f[0], s[2] * f[1], s[3]}), nil
}
