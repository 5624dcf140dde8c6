package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/fusedglue"
	"ripc/importer/ripcjson"
	"ripc/lower"
	"ripc/lower/layout"
)

// TestLargestProducts: sums of as many bytes as 32 bits hold are products of bytes; more, which integer layers may have whose weights are less than they
// could be, are refused.
func TestLargestProducts(t *testing.T) {
	for _, c := range []struct {
		channels int
		by       string // forced
		want     string // in the error
	}{
		{33000, "", ""},
		{65536, "", ""},
		{8000, "popcount", ""},
		{9300, "popcount", `cannot be computed by popcount: its counts may reach`},
		{65796, "", `node "y" (bconv2d): sums of 65796 products of 8-bit activations by 8-bit weights could pass 32 bits`},
	} {
		text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "net", "weights": {"init": "random", "seed": 1}, "outputs": ["y"],
			"inputs": [{"name": "x", "dtype": "u8", "shape": [1, %d], "encoding": "affine", "bits": 8, "zero_point": 3}],
			"nodes": [{"name": "y", "op": "int_dense", "inputs": ["x"], "attrs": {"units": 2}}]}`, c.channels)
		g, err := ripcjson.Parse("net.json", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = fusedglue.Fuse(t.Context(), g, nil, nil); err != nil {
			t.Fatal(err)
		}
		o := lower.Options{}
		if c.by != "" {
			a, err := layout.ParseAlgorithm(c.by)
			if err != nil {
				t.Fatal(err)
			}
			o.Algorithms = map[string]layout.Algorithm{"y": a}
		}
		switch _, err = lower.Program(t.Context(), g, o); {
		case c.want == "" && err != nil:
			t.Errorf("%d channels: %v", c.channels, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d channels: %v, want %q", c.channels, err, c.want)
		}
	}
}
