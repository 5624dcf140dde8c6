package e2e_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/refnet"
	"ripc/ir/interp"
)

var references = flag.Int("references", 0, "random networks that TestReference computes: 150, or 300 in make thorough, if it is 0")

// TestReference computes random networks layer by layer as the model states them, in plain arithmetic on integers and
// rounded floats, and compares with the interpreter of what fusedglue and lower made of them. It knows no bit planes,
// thresholds or popcounts.
func TestReference(t *testing.T) {
	n := *references
	if n == 0 {
		n = 150
		if need.Thorough() {
			n = 300
		}
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 78))
			path := filepath.Join(t.TempDir(), "net.json")
			text := randnet.Encode(randnet.Model(r, ""))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := compareWithReference(path, r); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

func compareWithReference(path string, r *rand.Rand) error {
	g, err := ripc.Load(context.Background(), path)
	if err != nil {
		return err
	}
	p, err := definition(context.Background(), path, ripc.Options{})
	if err != nil {
		return err
	}
	vals := map[string]*refnet.Tensor{}
	var inputs [][]byte
	for _, name := range g.Inputs {
		v := g.Value(name)
		x := refnet.New(v)
		for i := range x.F {
			if v.Encoded() {
				x.F[i] = float32(refnet.IntegerOf(v, r.IntN(1<<v.Bits)))
			} else {
				x.F[i] = float32(r.IntN(4001)-2000) / 512
			}
		}
		vals[name] = x
		inputs = append(inputs, x.Bytes(v))
	}
	for _, n := range g.Nodes {
		vals[n.Output] = refnet.Node(g, n, vals)
	}
	outs, err := interp.RunProgram(context.Background(), p, inputs, interp.Options{Checks: interp.All()})
	if err != nil {
		return err
	}
	for i, name := range g.Outputs {
		if want := vals[name].Bytes(g.Value(name)); !bytes.Equal(outs[i], want) && !vals[name].Near(g.Value(name), outs[i]) {
			return fmt.Errorf("output %s differs from the reference:\ngot  %v\nwant %v", name, outs[i], want)
		}
	}
	return nil
}
