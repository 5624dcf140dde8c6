package e2e_test

import (
	"context"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/floattwin"
	"ripc/graph"
	"ripc/internal/abi"
	"ripc/ir"
)

// needed is the most that the arena's buffers take that a stage of p needs at once: no placement takes less.
func needed(p *ir.Program) (most int64) {
	first, last := map[string]int{}, map[string]int{}
	for i, s := range p.Stages {
		for _, a := range s.Args {
			if _, ok := first[a]; !ok {
				first[a] = i
			}
			last[a] = i
		}
	}
	for i := range p.Stages {
		var n int64
		for _, b := range p.Buffers {
			if f, ok := first[b.Name]; b.Kind == ir.ArenaBuf && ok && f <= i && i <= last[b.Name] {
				n += abi.RoundUp(int64(b.Bytes()))
			}
		}
		most = max(most, n)
	}
	return most
}

// planned is the Program of g, or of its float twin, with its arena.
func planned(ctx context.Context, g *graph.Graph, twin bool) (*ir.Program, error) {
	var err error
	if twin {
		if g, err = floattwin.Of(g); err != nil {
			return nil, err
		}
	}
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	return compile.Definition(ctx, g, compile.Options{Target: "rpi3"})
}

// TestArenaPlacement: buffers of networks lie as close together as what is needed at once allows, within a few percent.
func TestArenaPlacement(t *testing.T) {
	const slack = 1.03
	for _, file := range models(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			g, err := ripc.Load(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			for _, twin := range []bool{false, true} {
				p, err := planned(t.Context(), g, twin)
				if err != nil && twin {
					return // it has no twin
				}
				if err != nil {
					t.Fatal(err)
				}
				if n := needed(p); float64(p.Arena) > slack*float64(n) {
					t.Errorf("float twin %v: an arena of %d bytes; %d are needed at once", twin, p.Arena, n)
				}
			}
		})
	}
}

// TestActivations: activations of 1 bit take so many times less memory than those of the float twin, at the peak of each. The stems are of
// floats, as in the paper, and write levels. Channels of the small twins do not fill words.
func TestActivations(t *testing.T) {
	for name, want := range map[string]float64{
		"squeezenet": 16, "alexnet_a1": 32, "vggnet_a1": 32, "resnet18_a1": 4, "resnet50_a1": 4,
		"squeezenet_a1_bipolar": 16, "alexnet_a1_32": 8, "vggnet_a1_32": 8, "resnet18_a1_32": 4,
	} {
		t.Run(name, func(t *testing.T) {
			n, err := zoo.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			var arena [2]int64
			for i, twin := range []bool{false, true} {
				g, err := n.Graph()
				if err != nil {
					t.Fatal(err)
				}
				p, err := planned(t.Context(), g, twin)
				if err != nil {
					t.Fatal(err)
				}
				arena[i] = p.Arena
			}
			times := float64(arena[1]) / float64(arena[0])
			t.Logf("%d bytes, %.1f times as much in floats", arena[0], times)
			if times < want {
				t.Errorf("activations take %d bytes, and %d in floats: %.2f times as much, want %.0f", arena[0], arena[1], times, want)
			}
		})
	}
}
