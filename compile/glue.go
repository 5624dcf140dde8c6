package compile

import (
	"fmt"
	"strings"

	"ripc/graph"
)

// glue tells what each fused layer does with its sums.
func glue(g *graph.Graph) map[string]string {
	all := map[string]string{}
	for _, n := range g.Nodes {
		if a, ok := n.Attrs.(*graph.FusedConv); ok {
			s := a.Epilogue.String()
			if a.Pool != nil {
				s += fmt.Sprintf(", after max_pool %dx%d", a.Pool.Kernel[0], a.Pool.Kernel[1])
			}
			all[n.Name] = strings.TrimPrefix(strings.TrimPrefix(s, " -> "), ", ")
		}
	}
	return all
}
