package zoo_test

import (
	"testing"

	"ripc"
	"ripc/examples/networks/zoo"
	"ripc/internal/golden"
)

// TestPage: docs/networks.md has the table of the networks.
func TestPage(t *testing.T) {
	text, err := zoo.Page()
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckSection(t, "../../../docs/networks.md", "<!-- networks: begin -->", "<!-- networks: end -->", text)
}

// TestFacts: the facts of small twins are what ripc says of them.
func TestFacts(t *testing.T) {
	for _, name := range []string{"squeezenet_32", "resnet18_a1_w2_32", "meliusnet22_32", "unet_32"} {
		n, err := zoo.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path, err := n.Write(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		f, err := n.Facts()
		if err != nil {
			t.Fatal(err)
		}
		in, err := ripc.Inspect(t.Context(), path, ripc.Options{}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if f.BinaryMACs != in.BinaryMACs || f.BinaryMACs+f.FloatMACs != in.MACs {
			t.Errorf("%s: %d binary of %d MACs, ripc says %d of %d", name, f.BinaryMACs, f.BinaryMACs+f.FloatMACs, in.BinaryMACs, in.MACs)
		}
	}
}
