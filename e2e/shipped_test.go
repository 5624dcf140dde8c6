package e2e_test

import (
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/autotune"
	"ripc/autotune/shipped"
	"ripc/codegen"
)

// TestShippedRecords: SqueezeNet is compiled with the records that come with ripc for each board that they have it of.
// They know at least a third of its layers, since a newer model may choose other algorithms.
func TestShippedRecords(t *testing.T) {
	t.Parallel()
	set, err := shipped.Records()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range set.Records {
		if !slices.Contains(names, r.Target) {
			names = append(names, r.Target)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			without, told := 0, false
			o, err := ripc.WithRecords(ripc.Options{Target: name, Emit: []codegen.Kind{}}, ripc.ShippedRecords, func(notes []ripc.RecordNote) {
				told = true
				for _, n := range notes {
					if n.Kind == autotune.Without {
						without += len(n.Layers)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			c, err := ripc.Compile(t.Context(), filepath.Join("..", "examples", "squeezenet", "squeezenet.json"), o)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := ripc.Compile(t.Context(), filepath.Join("..", "examples", "squeezenet", "squeezenet.json"), ripc.Options{Target: name, Emit: []codegen.Kind{}})
			if err != nil {
				t.Fatal(err)
			}
			other := 0
			for f, tr := range c.Traces {
				if p, ok := plain.Traces[f]; !ok || p.String() != tr.String() {
					other++
				}
			}
			if !told || 3*without > 2*len(c.Program.Stages) || other == 0 {
				t.Errorf("of %d layers nothing that fits is known of %d; %d kernels have other schedules than without records", len(c.Program.Stages), without, other)
			}
		})
	}
}
