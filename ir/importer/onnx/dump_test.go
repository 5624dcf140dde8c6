package onnx

import ("testing";"os";"fmt")

func TestDump(t *testing.T) {
	for _, f := range []string{"/work/shared/golden/digits/digits_w1a2.raw.onnx","/work/shared/golden/qonnx/residual_add_same_scale.onnx","/work/shared/golden/qonnx/flatten_gemm_w1_a1.onnx","/work/shared/golden/qonnx/brevitas_fire_w1_a2_gap.raw.onnx","/work/shared/golden/qonnx/quant_s4_zp2.onnx"} {
		if _, err := os.Stat(f); err != nil { t.Fatal(err) }
		g, err := Read(f)
		if err != nil { t.Error(err); continue }
		fmt.Println(g)
	}
}
