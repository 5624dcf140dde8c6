package e2e_test

import (
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/graph"
)

// TestReported: files that users could not import have the layers of few bits that their authors trained (TestONNXOps compares what they
// compute).
func TestReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := unzip(t, "../importer/internal/onnx/testdata/reports.zip", dir)
	floats := map[string]string{ // layers that stay float, by the file
		"clip_ternary": "/9/Gemm",  // real weights
		"clip_conv1d":  "/10/Gemm", // a mean of levels
	}
	plain := []string{"opset27", "layer_norm", "group_norm", "normalize", "einsum"} // without few bits
	for _, name := range names {
		in, err := ripc.Inspect(t.Context(), filepath.Join(dir, name+".onnx"), ripc.Options{Target: "rpi3"}, "", false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, l := range in.Layers {
			if l.Op == "matmul" && !slices.Contains(plain, name) && l.Reason.Code != graph.WhyTwoLevels.String() {
				t.Errorf("%s: %s multiplies levels, but says %+v", name, l.Name, l.Reason)
			}
			if !slices.Contains(plain, name) && l.Op != "matmul" && l.MACs > 0 && l.Kind != graph.Binary.String() && l.Name != floats[name] {
				t.Errorf("%s: %s is a float layer: %+v", name, l.Name, l.Reason)
			}
		}
		if in.Bitserial+in.Integers == 0 && !slices.Contains(plain, name) {
			t.Errorf("%s has no layer of integers", name)
		}
	}
}
