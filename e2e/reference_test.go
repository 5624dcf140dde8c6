package e2e_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/internal/refnet"
	"ripc/ir/interp"
)

var references = flag.Int("references", 0, "random networks that TestReference computes: 150, or 300 in make thorough, if it is 0")

// TestReference computes random networks layer by layer as the model states them, in plain arithmetic on integers and
// rounded floats, and compares with the interpreter of what fusedglue and lower made of them, by random algorithms. It knows no
// bit planes, thresholds or popcounts.
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
	p, err := drawnDefinition(context.Background(), path, &ripc.Options{}, r)
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
		inputs = append(inputs, interfaceBytes(x, v))
	}
	for _, n := range g.Nodes {
		vals[n.Output] = refnet.Node(g, n, vals)
	}
	outs, err := interp.RunProgram(context.Background(), p, inputs, interp.Options{Checks: interp.All()})
	if err != nil {
		return err
	}
	for i, name := range g.Outputs {
		v := g.Value(name)
		if want := interfaceBytes(vals[name], v); !bytes.Equal(outs[i], want) && !nearReference(vals[name], v, outs[i]) {
			return fmt.Errorf("output %s differs from the reference:\ngot  %v\nwant %v", name, outs[i], want)
		}
	}
	return nil
}

// levelOf is the inverse of IntegerOf.
func levelOf(v *graph.Value, integer int) int {
	for l := range 1 << v.Bits {
		if refnet.IntegerOf(v, l) == integer {
			return l
		}
	}
	panic(fmt.Sprintf("BUG: %d is no integer of %s", integer, v))
}

// interfaceBytes is x at the interface.
func interfaceBytes(x *refnet.Tensor, v *graph.Value) []byte {
	var b bytes.Buffer
	switch {
	case v.Whole:
		for _, f := range x.F {
			_ = binary.Write(&b, binary.LittleEndian, int32(f))
		}
	case !v.Encoded():
		_ = binary.Write(&b, binary.LittleEndian, x.F)
	case v.View == graph.Bytes:
		for _, f := range x.F {
			l := levelOf(v, int(f))
			if v.Signed {
				l -= 128
			}
			b.WriteByte(byte(l))
		}
	default:
		c := v.Channels()
		for n := range v.Bits {
			for row := 0; row < len(x.F); row += c {
				words := make([]uint32, (c+31)/32)
				for k := range c {
					words[k/32] |= uint32(levelOf(v, int(x.F[row+k]))>>n&1) << (k % 32)
				}
				_ = binary.Write(&b, binary.LittleEndian, words)
			}
		}
	}
	return b.Bytes()
}

// nearReference allows for zeros of the other sign, and for the polynomials of softmax and log_softmax.
func nearReference(x *refnet.Tensor, v *graph.Value, got []byte) bool {
	if v.Encoded() || v.Whole || len(got) != 4*len(x.F) {
		return false
	}
	for i, want := range x.F {
		f := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))
		if f != want && !(x.Loose && math.Abs(float64(f-want)) <= 1e-4*math.Abs(float64(want))+1e-6) &&
			(f == f || want == want) {
			return false
		}
	}
	return true
}
