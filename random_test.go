package ripc_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	boards := []string{"host", "rpi3", "host", "x86-64-v3", "rpi3", "rpi4"}
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
		traces[f.Name] = template.Random(f, target, r)
	}
	return traces
}
