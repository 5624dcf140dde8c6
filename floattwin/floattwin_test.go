package floattwin_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ripc/floattwin"
	"ripc/graph"
	"ripc/importer"
	"ripc/importer/ripcjson"
	"ripc/internal/randnet"
)

// products lists the geometry of the layers that multiply.
func products(g *graph.Graph) [][]int {
	var all [][]int
	for _, n := range g.Nodes {
		if graph.Products(n.Op) {
			all = append(all, slices.Concat(n.Weights["w"].Shape, g.Value(n.Inputs[0]).Shape, g.Value(n.Output).Shape))
		}
	}
	return all
}

// TestGeometry: the twin of each example has the layers, the shapes and the interface of the network, all of them floats.
func TestGeometry(t *testing.T) {
	for _, file := range []string{"digits/digits.json", "squeezenet/squeezenet.json", "squeezenet/squeezenet_a3.json"} {
		g, err := ripcjson.Read(t.Context(), filepath.Join("../examples", file), importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		twin, err := floattwin.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := graph.Check(twin); err != nil {
			t.Fatal(err)
		}
		if a, b := products(g), products(twin); !slices.EqualFunc(a, b, slices.Equal[[]int]) {
			t.Errorf("%s: layers\n%v\nbecame\n%v", file, a, b)
		}
		for name, v := range twin.Values {
			if v.Encoded() || v.Whole {
				t.Errorf("%s: %s is %s", file, name, v.LevelType)
			}
		}
		for i, o := range g.Outputs {
			if !slices.Equal(g.Value(o).Shape, twin.Value(twin.Outputs[i]).Shape) {
				t.Errorf("%s: output %d has another shape", file, i)
			}
		}
	}
}

// TestWeights: no tensor of a twin has few values, its network keeps its own, and twins of one network are the same.
func TestWeights(t *testing.T) {
	for _, model := range []string{"digits/digits.json", "squeezenet/squeezenet_a3.json"} {
		read := func() *graph.Graph {
			g, err := ripcjson.Read(t.Context(), filepath.Join("../examples", model), importer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := read()
		first, err := floattwin.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		second, err := floattwin.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range first.Nodes {
			for key, w := range n.Weights {
				different := map[float32]bool{}
				for _, v := range w.Data.All() {
					different[v] = true
				}
				if len(different) < w.Data.Len()*9/10 && len(different) < 1<<16 {
					t.Errorf("%s: %s: %s has %d numbers, %d different ones", model, n.Name, key, w.Data.Len(), len(different))
				}
				if !slices.Equal(w.Data.Floats(), second.Nodes[i].Weights[key].Data.Floats()) {
					t.Errorf("%s: %s: %s is another one in another twin", model, n.Name, key)
				}
			}
		}
		if !reflect.DeepEqual(g, read()) {
			t.Errorf("%s changed", model)
		}
	}
}

// TestSqueezeNet: the twin of the binary SqueezeNet multiplies as the float SqueezeNet that was written by hand does.
func TestSqueezeNet(t *testing.T) {
	read := func(name string) *graph.Graph {
		g, err := ripcjson.Read(t.Context(), "../examples/squeezenet/"+name, importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	twin, err := floattwin.Of(read("squeezenet.json"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := products(twin), products(read("squeezenet_float.json")); !slices.EqualFunc(a, b, slices.Equal[[]int]) {
		t.Errorf("twin\n%v\nby hand\n%v", a, b)
	}
}

// TestRandomNetworks: networks of all layers that ripc's own format can say have twins.
func TestRandomNetworks(t *testing.T) {
	for seed := range 100 {
		file := filepath.Join(t.TempDir(), "n.json")
		if err := os.WriteFile(file, randnet.Join([]map[string]any{randnet.Model(rand.New(rand.NewPCG(uint64(seed), 79)), "")}, seed), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := ripcjson.Read(t.Context(), file, importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		twin, err := floattwin.Of(g)
		if err != nil {
			t.Errorf("%d: %v\n%s", seed, err, g)
			continue
		}
		if err := graph.Check(twin); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		if len(products(g)) != len(products(twin)) {
			t.Errorf("%d: other layers", seed)
		}
	}
}
