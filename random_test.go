package ripc_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/schedule"
	"ripc/schedule/template"
	"ripc/targets"
)

var cases = flag.Int("cases", 40, "random networks that TestRandomNetworks compiles")

// TestRandomNetworks compiles random networks of odd shapes, half of them with random schedules, and lets verify compare
// every stage and the whole network with the interpreter of the unscheduled Funcs, natively and under qemu.
func TestRandomNetworks(t *testing.T) {
	boards := []string{"host", "rpi2", "rpi4", "x86-64-v3", "rpi3-armv7", "host", "rpi3", "generic-armv7", "rpi5", "jetson-tx2", "pixel1"}
	for i := range *cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 77))
			path := filepath.Join(t.TempDir(), "net.json")
			text := randomModel(r)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			o := ripc.Options{Target: boards[i%len(boards)]}
			if i%2 == 1 {
				o.Traces = randomTraces(t, path, o, r)
			}
			threads := 1 + r.IntN(4)
			rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: o, Seed: uint64(i), Threads: threads})
			if err != nil {
				t.Fatalf("%s, %d threads: %v\n%s", o.Target, threads, err, text)
			}
			if !rep.OK {
				t.Errorf("%s, %d threads: %v\n%s", o.Target, threads, rep, text)
			}
		})
	}
}

func randomTraces(t *testing.T, path string, o ripc.Options, r *rand.Rand) map[string]schedule.Trace {
	c, err := ripc.Compile(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	target, err := targets.Lookup(o.Target)
	if err != nil {
		t.Fatal(err)
	}
	traces := map[string]schedule.Trace{}
	for _, f := range c.Program.Funcs {
		tr := template.Random(f, target, r)
		packs := slices.ContainsFunc(tr, func(s schedule.Step) bool { return s.Op == "pack" }) // byte lanes do so themselves
		if len(f.Params) > 1 && f.Params[1].Name == "wt" && r.IntN(2) == 0 && !packs {
			tr = append(tr, packFilters(t, f.Params[1].Shape)...)
		}
		traces[f.Name] = tr
	}
	return traces
}

// packFilters puts weights into blocks of 64 filters, which every vector of a random trace lies in; where filters do not
// fill the blocks it does nothing.
func packFilters(t *testing.T, shape []int) schedule.Trace {
	last := len(shape) - 1
	if shape[last]%64 != 0 {
		return nil
	}
	text := fmt.Sprintf("pack wt %d.o ", last)
	for d := range last {
		text += fmt.Sprint(d, " ")
	}
	step, err := schedule.ParseStep(text + fmt.Sprintf("%d.i factor=64", last))
	if err != nil {
		t.Fatal(err)
	}
	return schedule.Trace{step}
}
