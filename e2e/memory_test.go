package e2e_test

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/floattwin"
	"ripc/graph"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/report"
	"ripc/targets"
)

// needed is the most of the arena that a stage of p needs at once, where what is written over something takes no more: no placement of
// these takes less.
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
		counted := map[int64]bool{} // offsets
		for _, b := range p.Buffers {
			if f, ok := first[b.Name]; b.Kind == ir.ArenaBuf && ok && f <= i && i <= last[b.Name] && !counted[b.Offset] {
				counted[b.Offset] = true
				n += abi.RoundUp(int64(b.Bytes()))
			}
		}
		most = max(most, n)
	}
	return most
}

// planned is g, or its float twin, as it is compiled, with its arena; nothing is generated.
func planned(ctx context.Context, g *graph.Graph, twin bool) (*compile.Compiled, error) {
	var err error
	if twin {
		if g, err = floattwin.Of(g); err != nil {
			return nil, err
		}
	}
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	return compile.Network(ctx, func(context.Context) (*graph.Graph, error) { return g, nil }, compile.Options{Target: "rpi3"})
}

// TestArenaPlacement: buffers of networks lie as close together as what is needed at once allows, within a few percent.
func TestArenaPlacement(t *testing.T) {
	const slack = 1.03
	takes := need.Part(t, 12)
	for i, file := range models(t) {
		if !takes(i) {
			continue
		}
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
				if n := needed(p.Scheduled); float64(p.Scheduled.Arena) > slack*float64(n) {
					t.Errorf("float twin %v: an arena of %d bytes; %d are needed at once", twin, p.Scheduled.Arena, n)
				}
				if p.Scheduled.Arena > p.Program.Arena {
					t.Errorf("float twin %v: an arena of %d bytes, and %d without writing in place", twin, p.Scheduled.Arena, p.Program.Arena)
				}
			}
		})
	}
}

// TestActivations: activations of 1 bit take so many times less memory than those of the float twin, at the peak of each. The stems are of
// floats, as in the paper, and write levels. Channels of the small twins do not fill words.
func TestActivations(t *testing.T) {
	t.Parallel()
	networks := map[string]float64{"squeezenet": 16, "squeezenet_a1_bipolar": 16, "alexnet_a1_32": 8, "vggnet_a1_32": 8, "resnet18_a1_32": 4}
	if need.Thorough() { // hundreds of MB of weights
		maps.Copy(networks, map[string]float64{"alexnet_a1": 32, "vggnet_a1": 32, "resnet18_a1": 4, "resnet50_a1": 4})
	}
	for name, want := range networks {
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
				arena[i] = p.Scheduled.Arena
			}
			times := float64(arena[1]) / float64(arena[0])
			t.Logf("%d bytes, %.1f times as much in floats", arena[0], times)
			if times < want {
				t.Errorf("activations take %d bytes, and %d in floats: %.2f times as much, want %.0f", arena[0], arena[1], times, want)
			}
		})
	}
}

// TestWrittenInPlace: stages of networks with shortcuts write over what they read, on every target, and compute what the definition does, by
// any number of threads, on memory that holds both.
func TestWrittenInPlace(t *testing.T) {
	for name, least := range map[string]int{"birealnet": 5, "quicknet": 2, "realtobinary": 6, "reactnet_a": 2} {
		n, err := zoo.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path, err := n.Small().Write(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for i, target := range []string{targets.HostName, "rpi3", "rpi3-armv7"} {
			t.Run(name+"/"+target, func(t *testing.T) {
				t.Parallel()
				o := ripc.Options{Target: target}
				c, err := ripc.Compile(t.Context(), path, o)
				need.OK(t, err)
				stages, cannot := 0, 0
				for _, s := range c.Scheduled.Stages {
					f := c.Scheduled.FuncByName(s.Func)
					tile := c.Choices[s.Func].Values["tile_w"]
					for k, q := range f.Params {
						j := slices.IndexFunc(f.Params, func(r ir.Param) bool { return r.Name == q.Over })
						if j < 0 {
							shortcut := slices.ContainsFunc(f.Params, func(r ir.Param) bool {
								return q.Out && !r.Out && ir.SamePlaces(q.Buffer, r.Buffer) && r.Name != f.Params[0].Name
							})
							rows := c.Choices[s.Func].Strategy == "fma_rows" && ir.SamePlaces(q.Buffer, f.Params[0].Buffer) // read in one piece
							if shortcut && tile > 0 && q.Shape[len(q.Shape)-2]%tile != 0 || rows {                          // the last tile computes some elements once more
								cannot++
							}
							continue
						}
						out, in := c.Scheduled.BufferByName(s.Args[k]), c.Scheduled.BufferByName(s.Args[j])
						if out.Kind == ir.ArenaBuf && in.Kind == ir.ArenaBuf && out.Offset == in.Offset {
							stages++
						}
					}
				}
				if stages == 0 || stages+cannot < least {
					t.Errorf("%d stages write over what they read, want %d; %d cannot, since tiles overlap or rows are read in one piece", stages, least, cannot)
				}
				in, err := ripc.Inspect(t.Context(), path, o, "", false)
				need.OK(t, err)
				said := 0
				for _, u := range in.Memory.Arena {
					if u.Over != "" {
						said++
					}
				}
				var svg bytes.Buffer
				need.OK(t, report.WriteArena(&svg, in))
				if drawn := strings.Count(svg.String(), "in place of"); said != stages || drawn != stages {
					t.Errorf("%d stages write over what they read; inspect says %d, and draws %d", stages, said, drawn)
				}
				rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: o, Threads: 1 + i})
				need.OK(t, err)
				if !rep.OK {
					t.Error(faults(rep))
				}
			})
		}
		t.Run(name+"/c", func(t *testing.T) {
			t.Parallel()
			verifyC(t, path, ripc.Options{}, 2)
		})
	}
}
